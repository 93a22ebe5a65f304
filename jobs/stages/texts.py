"""Vectors of texts that a method reads: phrases, or prompts of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..encoders import Encoder
from ..store import Store
from .unit import EncodingUnit, Tables
from .vectors import to_column, to_matrix

TABLE = "vectors"


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts(EncodingUnit):
    """The texts' vectors, one a row, in their order, by the encoder with that key."""

    stage: ClassVar[str] = "texts"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 2.0
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = ("jobs.encoders", "jobs.stages.vectors")

    texts: tuple[str, ...]
    encoder: Mapping[str, Any]

    def encode(self, store: Store, encoder: Encoder | None) -> Tables:
        assert encoder is not None
        vectors = encoder.encode(list(self.texts))
        return {TABLE: pa.table({"text": pa.array(self.texts, pa.string()), "vector": to_column(vectors)})}


def read_text_vectors(store: Store, key: str) -> np.ndarray:
    """The vectors (n, d) float32 of a unit's texts."""
    return to_matrix(store.read_table(Texts.file(key, TABLE), columns=["vector"])["vector"])
