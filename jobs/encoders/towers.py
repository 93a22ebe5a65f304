"""A model of two towers, held in memory, and its towers as functions: a batch in, raw vectors on the device out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from ..errors import UsageError
from ..images.fit import Fit

# Pixels (b, h, w, 3) uint8 or tokens (b, n) int64, on the host, to vectors (b, d) on the device.
Tower = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, kw_only=True, slots=True)
class TwoTowers:
    """Images and texts to one space.

    see and read are the towers on the device: pictures (b, 3, h, w) scaled and normalised, and tokens (b, n), to
    vectors (b, d). module holds their weights. fit, mean and deviation say what pictures look like to it, numbers is
    their type.
    """

    module: torch.nn.Module
    see: Tower
    read: Tower
    tokenise: Callable[[list[str]], torch.Tensor]
    fit: Fit
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    numbers: torch.dtype
    device: torch.device
    width: int


def image_tower(model: TwoTowers, is_compiled: bool) -> Tower:
    """Pixels to vectors; scaling and normalisation by the model's mean and deviation run on its device."""
    look = _compiled(model.see) if is_compiled else model.see
    deviation = torch.tensor(model.deviation, device=model.device)
    shift = torch.tensor(model.mean, device=model.device) / deviation
    scale = 1 / (255 * deviation)

    def tower(pixels: torch.Tensor) -> torch.Tensor:
        values = _on_device(pixels, model.device).float() * scale - shift
        # (b, h, w, 3) seen as (b, 3, h, w) is what torch calls channels last: nothing is moved.
        return look(values.permute(0, 3, 1, 2).to(model.numbers))

    return tower


def text_tower(model: TwoTowers, read: Tower | None = None) -> Tower:
    """Tokens to vectors; read is what the model makes of tokens on its device, by default its text tower."""
    read = read or model.read
    return lambda tokens: read(_on_device(tokens, model.device))


def _on_device(batch: torch.Tensor, device: torch.device) -> torch.Tensor:
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
