"""Encoders: texts (later images) to unit vectors, one file a kind."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from jobs.encoders.sentence import SentenceEncoder


class Encoder(Protocol):
    """A loaded model."""

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (n, d) float32 of the texts."""
        ...


KINDS = {"sentence": SentenceEncoder}


def load(settings: dict[str, Any]) -> Encoder:
    """The encoder of a configuration block, its weights in memory."""
    return KINDS[settings["kind"]](**{key: value for key, value in settings.items() if key != "kind"})
