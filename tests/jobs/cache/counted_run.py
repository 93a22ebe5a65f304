"""`mpr-audit run` in a process of its own, with a model that notes when it embeds what.

    python -m tests.jobs.cache.counted_run NOTES RUNS CONFIG OUTPUT OPTIONS...

NOTES is a folder of all runs: each waits before it first embeds until RUNS of them have come so far, and writes a JSON
line a shard: when it began to look into the cache, when it was done, and what was not there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from jobs.cache.vectors import RememberingEncoder
from jobs.cli import main
from jobs.encoders import sentence

from .test_text_runs import CountedModel

# A shard takes longer than noticing that another process has begun.
SHARD_SECONDS = 0.2
# Starting a second process on a busy machine.
PATIENCE_SECONDS = 120.0


class SlowModel(CountedModel):
    """Takes its time."""

    def encode(self, texts: list[str]) -> np.ndarray:
        time.sleep(SHARD_SECONDS)
        return super().encode(texts)


def meet(folder: Path, runs: int) -> None:
    """Wait for the others."""
    (folder / f"{os.getpid()}.here").touch()
    until = time.monotonic() + PATIENCE_SECONDS
    while len(list(folder.glob("*.here"))) < runs and time.monotonic() < until:
        time.sleep(0.01)


def noted(folder: Path, runs: int) -> int:
    """Run the command that the arguments say."""
    model, encode = SlowModel(), RememberingEncoder.encode
    notes = folder / f"{os.getpid()}.notes"

    def encode_and_note(self: RememberingEncoder, texts: list[str]) -> np.ndarray:
        meet(folder, runs)
        began, before = time.time(), len(model.texts)
        vectors = encode(self, texts)
        with notes.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"began": began, "ended": time.time(), "texts": model.texts[before:]}) + "\n")
        return vectors

    RememberingEncoder.encode = encode_and_note  # type: ignore[method-assign]  # this process is a test's own
    sentence.SentenceEncoder.loaded = classmethod(lambda cls, **_: model)  # type: ignore[method-assign, assignment]
    return main(["run", *sys.argv[3:]])


if __name__ == "__main__":
    sys.exit(noted(Path(sys.argv[1]), int(sys.argv[2])))
