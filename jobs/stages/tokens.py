"""Learned tokens of a method, as the driver has read them: by the store, so that no worker needs their file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa

from ..store import Store
from .unit import Tables, Unit
from .vectors import to_column, to_matrix

TABLE = "tokens"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens(Unit):
    """Tokens (count, width) = shape with that content."""

    stage: ClassVar[str] = "tokens"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.1
    numeric_code: ClassVar[tuple[str, ...]] = ("jobs.encoders.prompt_files", "jobs.stages.vectors")

    sha256: str
    shape: tuple[int, ...]

    @classmethod
    def of(cls, tokens: np.ndarray, owner: str) -> Self:
        """The unit of these tokens; owner: whose they are, for its title."""
        content = hashlib.sha256(np.ascontiguousarray(tokens).tobytes()).hexdigest()
        return cls(title=f"{len(tokens)} tokens of {owner}", sha256=content, shape=tokens.shape)


def tokens_tables(tokens: np.ndarray) -> Tables:
    """What the unit of these tokens writes."""
    return {TABLE: pa.table({"vector": to_column(tokens)})}


def read_tokens(store: Store, key: str) -> np.ndarray:
    """The tokens (count, width) of a unit."""
    return to_matrix(store.read_table(Tokens.file(key, TABLE))["vector"])
