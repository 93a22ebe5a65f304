"""Vectors of the prompts behind a method's learned tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, cast

import numpy as np

from ..encoders import Encoder
from ..store import Store
from .queries import TABLE, query_tables, vector_of
from .tokens import read_tokens
from .unit import EncodingUnit, Tables, reads


class PromptedEncoder(Encoder, Protocol):
    """A loaded model whose text tower reads learned tokens."""

    def encode_behind(self, texts: list[str], tokens: np.ndarray) -> np.ndarray:
        """Unit vectors (n, d) float32 of the texts behind the tokens (count, width)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Debiased(EncodingUnit):
    """The prompts' vectors, one a row, in this order, by the encoder with that key behind a unit's tokens.

    A unit fails for tokens that the encoder's text tower cannot read.
    """

    stage: ClassVar[str] = "debiased"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 2.0
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = ("jobs.encoders", "jobs.stages.queries", "jobs.stages.vectors")

    prompts: tuple[str, ...]
    tokens: str = reads()
    encoder: Mapping[str, Any]

    def encode(self, store: Store, encoder: Encoder | None) -> Tables:
        tokens = read_tokens(store, self.tokens)
        vectors = cast(PromptedEncoder, encoder).encode_behind(list(self.prompts), tokens)
        return query_tables(self.prompts, vectors)


def read_debiased_vector(store: Store, key: str, prompt: str) -> np.ndarray:
    """One prompt's vector (d,) behind the tokens."""
    return vector_of(store.read_table(Debiased.file(key, TABLE)), prompt)
