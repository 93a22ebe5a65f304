"""The two towers of a model as functions: a batch in, raw vectors on the device out."""

from __future__ import annotations

from collections.abc import Callable

import torch

from jobs.encoders.clip_model import ClipModel
from jobs.errors import UsageError

# Pixels (b, h, w, 3) uint8 or tokens (b, n) int64, on the host, to vectors (b, d) on the device.
Tower = Callable[[torch.Tensor], torch.Tensor]


def image_tower(model: ClipModel, is_compiled: bool) -> Tower:
    """Pixels to vectors; scaling and normalisation by the model's mean and deviation run on its device."""
    look = _compiled(model.module.encode_image) if is_compiled else model.module.encode_image
    deviation = torch.tensor(model.deviation, device=model.device)
    shift = torch.tensor(model.mean, device=model.device) / deviation
    scale = 1 / (255 * deviation)

    def tower(pixels: torch.Tensor) -> torch.Tensor:
        values = _there(pixels, model.device).float() * scale - shift
        # (b, h, w, 3) seen as (b, 3, h, w) is what torch calls channels last: nothing is moved.
        return look(values.permute(0, 3, 1, 2).to(model.numbers))

    return tower


def text_tower(model: ClipModel, read: Tower | None = None) -> Tower:
    """Tokens to vectors; read is what the model makes of tokens on its device, by default its text tower."""
    read = read or model.module.encode_text
    return lambda tokens: read(_there(tokens, model.device))


def _there(batch: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The batch on the device; to a GPU it travels while the one before is worked on."""
    return batch.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else batch


def _compiled(function: Tower) -> Tower:
    compiled = torch.compile(function)

    def tower(values: torch.Tensor) -> torch.Tensor:
        try:
            return compiled(values)
        except torch._dynamo.exc.TorchDynamoException as error:
            first = str(error).strip().splitlines()[0]
            raise UsageError(f"encoder.compile: set it to false, torch cannot compile here: {first:.200}") from error

    return tower
