"""A tiny open_clip model with saved weights: the code path of a large one, in milliseconds."""

from __future__ import annotations

import json
from pathlib import Path

CONFIGURATION = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    # The tokeniser's words need rows of their own, however narrow.
    "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 2},
}


def write_tiny_clip(folder: Path, seed: int = 0, name: str = "tiny") -> tuple[Path, Path]:
    """A JSON configuration and safetensors of random weights, in a folder; their paths."""
    import torch
    from safetensors.torch import save_file

    model, weights = folder / f"{name}.json", folder / f"{name}.safetensors"
    model.write_text(json.dumps(CONFIGURATION))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = tiny_module(model)
    save_file({key: value.contiguous() for key, value in module.state_dict().items()}, weights)
    return model, weights


def tiny_module(model: Path):
    """The module of a JSON configuration, with random weights."""
    from jobs.encoders.clip_model import load_model

    return load_model(model=str(model), pretrained=None, precision="float32", device="cpu").module
