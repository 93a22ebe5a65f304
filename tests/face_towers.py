"""A tiny open_clip model that knows real faces a little: small enough to train in seconds, real enough to be biased.

Its image tower is random but for its last projection, which is trained, with the whole text tower, to put each face
beside "a photo of a Black woman", "a photo of a White man", ... All 600 faces are used: a large encoder has seen its
faces too. Whoever judges by held-out faces must hold them out of what he trains himself.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from tests.data_files import HERE

FACES = HERE / "faces"
SIZE = 32
CONTEXT = 24
CONFIGURATION = {
    "embed_dim": 64,
    "vision_cfg": {"image_size": SIZE, "layers": 2, "width": 192, "head_width": 32, "patch_size": 8},
    "text_cfg": {"context_length": CONTEXT, "vocab_size": 49408, "width": 64, "heads": 4, "layers": 2},
}
STEPS = 150


def face_labels() -> list[dict[str, str]]:
    """file, age, gender and race of every face."""
    with (FACES / "labels.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_face_towers(folder: Path) -> tuple[Path, Path]:
    """A JSON configuration and safetensors of the model, in a folder; the same each time on one kind of machine."""
    import torch
    from PIL import Image

    from jobs.encoders.torchvision_operators import make_importable

    make_importable()
    import open_clip
    from open_clip.constants import OPENAI_DATASET_MEAN, OPENAI_DATASET_STD
    from open_clip.model import CLIP
    from safetensors.torch import save_file

    rows = face_labels()
    pictures = (Image.open(FACES / row["file"]).convert("RGB").resize((SIZE, SIZE), Image.BICUBIC) for row in rows)
    pixels = torch.tensor(np.stack([np.asarray(picture) for picture in pictures]), dtype=torch.float32) / 255
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = CLIP(**CONFIGURATION)
    tokeniser = open_clip.tokenizer.SimpleTokenizer(context_length=CONTEXT)
    captions = [f"a photo of a {row['race']} {'woman' if row['gender'] == 'Female' else 'man'}" for row in rows]
    scaled = (pixels - torch.tensor(OPENAI_DATASET_MEAN)) / torch.tensor(OPENAI_DATASET_STD)
    _fit(module, tokeniser, scaled.permute(0, 3, 1, 2), captions)
    model, weights = folder / "faces.json", folder / "faces.safetensors"
    model.write_text(json.dumps(CONFIGURATION), encoding="utf-8")
    save_file({name: value.contiguous() for name, value in module.state_dict().items()}, weights)
    return model, weights


def _fit(module, tokeniser, pixels, captions: list[str]) -> None:
    """Train the last projection of the image tower, and the text tower, in place."""
    import torch
    from torch.nn import functional

    found = []
    handle = module.visual.ln_post.register_forward_hook(lambda _module, _arguments, output: found.append(output))
    with torch.no_grad():
        module.encode_image(pixels)
    handle.remove()
    features = found[0][:, 0] if found[0].ndim == 3 else found[0]
    mean, deviation = features.mean(0), features.std(0)
    features = (features - mean) / deviation
    with torch.no_grad():
        module.visual.ln_post.weight.div_(deviation)
        module.visual.ln_post.bias.sub_(mean).div_(deviation)
    module.requires_grad_(False)
    names = ("visual.proj", "logit_scale", "transformer", "ln_final", "text_projection", "positional_embedding")
    trained = [parameter for name, parameter in module.named_parameters() if name.startswith(names)]
    for parameter in trained:
        parameter.requires_grad_(True)
    distinct, of = np.unique(captions, return_inverse=True)
    ids, of = tokeniser(distinct.tolist()), torch.tensor(of)
    optimiser = torch.optim.AdamW(trained, 3e-3)
    for _ in range(STEPS):
        images = functional.normalize(features @ module.visual.proj, dim=-1)
        texts = functional.normalize(module.encode_text(ids), dim=-1)
        loss = functional.cross_entropy(module.logit_scale.exp() * images @ texts.T, of)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
