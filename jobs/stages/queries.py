"""Vectors of the prompts that ask for the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
class Queries(EncodingUnit):
    """The prompts' vectors, one a row, in this order, by the encoder with that key; or given ones, by their hash."""

    stage: ClassVar[str] = "queries"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 1.0
    numeric_code: ClassVar[tuple[str, ...]] = ("jobs.encoders", "jobs.stages.vectors")

    prompts: tuple[str, ...]
    encoder: Mapping[str, Any] | None = None
    vectors: str | None = None

    def encode(self, store: Store, encoder: Encoder | None) -> Tables:
        assert encoder is not None
        return query_tables(self.prompts, encoder.encode(list(self.prompts)))


def query_tables(prompts: Sequence[str], vectors: np.ndarray) -> Tables:
    """What a unit writes for prompts and their vectors (n, d)."""
    return {TABLE: pa.table({"prompt": pa.array(prompts, pa.string()), "vector": to_column(vectors)})}


def read_query_vectors(store: Store, key: str) -> np.ndarray:
    """All vectors (n, d) float32 of a unit, in the order of its prompts."""
    return to_matrix(store.read_table(Queries.file(key, TABLE), columns=["vector"])["vector"])


def vector_of(table: pa.Table, prompt: str) -> np.ndarray:
    """One prompt's vector (d,) of such a table."""
    vectors = to_matrix(table["vector"])
    found: np.ndarray = vectors[table["prompt"].to_pylist().index(prompt)]
    return found


def read_query_vector(store: Store, key: str, prompt: str) -> np.ndarray:
    """One prompt's vector (d,)."""
    return vector_of(store.read_table(Queries.file(key, TABLE)), prompt)
