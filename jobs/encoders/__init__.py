"""Encoders: texts and pictures to unit vectors, one file per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np

from ..images.limits import ImageLimits
from ..settings.block import OneOf
from .block import EncoderSettings, EncoderSource, ModelSettings
from .encoded import EncodedImages
from .models import MODELS
from .precomputed import PrecomputedEncoder


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


KINDS: dict[str, type[EncoderSettings]] = {**MODELS, "precomputed": PrecomputedEncoder}
# An encoder of any kind, and one whose text tower reads learned tokens, as a configuration describes it.
AnyEncoder = Annotated[EncoderSettings, OneOf(KINDS)]
TAKES_TOKENS = {kind: block for kind, block in MODELS.items() if block.takes_tokens}
PromptedEncoder = Annotated[ModelSettings, OneOf(TAKES_TOKENS)]


def item_source(encoder: EncoderSettings, folder: Path) -> EncoderSource | None:
    """What embeds the items; None where they have their vectors.

    Raises:  UsageError, one sentence that names the setting.
    """
    found = encoder.item_encoder
    return None if found is None else found.source(folder, _setting(encoder, found))


def text_source(encoder: EncoderSettings, folder: Path) -> EncoderSource | None:
    """What embeds queries and other texts; None where nothing can.

    Raises:  UsageError, one sentence that names the setting.
    """
    found = encoder.text_encoder
    return None if found is None else found.source(folder, _setting(encoder, found))


def wants_gpu(kind: str | None) -> bool:
    """Whether encoders of a kind run on a GPU where there is one; None: vectors are given."""
    return kind in MODELS and MODELS[kind].wants_gpu


def load(settings: Mapping[str, Any]) -> Encoder:
    """The encoder that the `loading` of a source describes, its weights in memory.

    Raises:  what the kind's `loaded` says.
    """
    return MODELS[settings["kind"]].loaded(**{key: value for key, value in settings.items() if key != "kind"})


def _setting(encoder: EncoderSettings, found: EncoderSettings) -> str:
    return "encoder" if found is encoder else "encoder.text"
