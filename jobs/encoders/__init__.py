"""Encoders: texts and pictures to unit vectors, one file a kind."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from jobs.encoders.encoded import EncodedImages
from jobs.images.limits import ImageLimits


class Encoder(Protocol):
    """A loaded model."""

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (n, d) float32 of the texts."""
        ...

    def close(self) -> None:
        """End what the encoder started beside it, such as processes; it is not used after that."""
        ...


class ImageEncoder(Encoder, Protocol):
    """A loaded model that sees pictures too."""

    def encode_images(self, root: str, locators: Sequence[str | None], limits: ImageLimits) -> EncodedImages:
        """Unit vectors of the pictures that can be read, and why the others cannot."""
        ...


# Kind -> module and class: each is imported where it is used, since all of them bring torch.
KINDS = {"sentence": ("sentence", "SentenceEncoder"), "open_clip": ("open_clip", "OpenClipEncoder")}


def load(settings: dict[str, Any]) -> Encoder:
    """The encoder of a configuration block (paths absolute), its weights in memory.

    Raises:  what the kind's class says.
    """
    module, name = KINDS[settings["kind"]]
    kind = getattr(importlib.import_module(f"jobs.encoders.{module}"), name)
    return kind(**{key: value for key, value in settings.items() if key != "kind"})
