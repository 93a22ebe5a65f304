"""Training tokens that hide gender on 600 faces and a tiny model: what judges read before and after, at which cost.

python -m tests.benchmarks.prompt_training [SPLITS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from jobs.config.prompts import PROMPTS, TokenTraining
from jobs.encoders import load
from jobs.encoders.prompt_judging import Judgement, judge
from jobs.encoders.prompt_training import train
from jobs.images.limits import ImageLimits
from tests.face_towers import FACES, face_labels, write_face_towers

# What is trained with, and prompts of other words, which are not.
TRAINED = list(PROMPTS[:12])
OTHERS = [f"a photo of a {job}" for job in ("nurse", "doctor", "engineer", "teacher", "chef", "lawyer")]
SETTINGS = {
    "4 tokens, margin 0.45": TokenTraining(tokens=4, steps=150, margin=0.45),
    "4 tokens, margin 0.3": TokenTraining(tokens=4, steps=150, margin=0.3),
    "2 tokens, margin 0.45": TokenTraining(tokens=2, steps=150, margin=0.45),
}


def main(splits: int) -> None:
    """Print a line a setting and split, and a line for the prompts that were not trained with."""
    labels = face_labels()
    codes = np.array([row["gender"] == "Female" for row in labels]).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        model, weights = write_face_towers(Path(folder))
        encoder = load({"kind": "open_clip", "model": str(model), "pretrained": str(weights), "fast_jpeg": False})
    images = encoder.encode_images(str(FACES), [row["file"] for row in labels], ImageLimits()).vectors
    print(f"{'':<24}{'seconds':>8}{'linear':>16}{'network':>16}{'mean gap':>16}{'change':>8}")
    for seed in range(splits):
        split = train_test_split(np.arange(codes.size), test_size=200, random_state=seed, stratify=codes)
        rows = split[0]
        for name, settings in SETTINGS.items():
            started = time.perf_counter()
            module, tokenise = encoder.model.module, encoder.model.tokenise
            tokens = train(module, tokenise, images[rows], codes[rows], TRAINED, settings)
            seconds = time.perf_counter() - started
            for prompts, label in ((TRAINED, name), (OTHERS, "  other prompts")):
                before, after = images @ encoder.encode(prompts).T, images @ encoder.encode_behind(prompts, tokens).T
                print(_line(label, seconds, judge(before, after, codes, *split, seed)))
    encoder.close()


def _line(name: str, seconds: float, found: Judgement) -> str:
    pairs = (
        (found.accuracy_before, found.accuracy_after),
        (found.network_accuracy_before, found.network_accuracy_after),
        (found.gap_before, found.gap_after),
    )
    columns = "".join(f"{before:>8.3f} {after:>7.3f}" for before, after in pairs)
    return f"{name:<24}{seconds:>8.1f}{columns}{found.similarity_change:>8.3f}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
