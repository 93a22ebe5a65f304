"""Tables of candidates to one: a tree of merges leads from the parts of a search to all candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from ..search.canonical import within_margin
from ..store import Store
from ..store.chunks import in_one
from .candidates import (
    COPIES,
    ENCODINGS,
    HELD_BYTES,
    MERGED_PER_SECOND,
    ROWS_PER_GROUP,
    STORED_BYTES,
    TABLE,
    Candidates,
    candidate_table,
)
from .unit import Cost, Tables, Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge(Unit):
    """Candidates of every query over a few tables of candidates; one query is looked at at a time.

    A row that is among the best `top` of all is so in its own table too, by exact scores; so what is
    within the largest margin of the merged cut holds all of them.
    """

    stage: ClassVar[str] = "merge"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.1
    is_intermediate: ClassVar[bool] = True
    rows_per_group: ClassVar[int] = ROWS_PER_GROUP
    encodings: ClassVar[Mapping[str, str]] = ENCODINGS
    numeric_code: ClassVar[tuple[str, ...]] = (
        "jobs.search.canonical",
        "jobs.search.survivors",
        "jobs.stages.candidates",
    )

    found: Candidates
    prompts: tuple[str, ...]
    top: int

    def run(self, store: Store) -> Tables:
        files = self.found.open(store)
        rows, scores, allowed = [], [], []
        for place in range(len(self.prompts)):
            parts = pa.concat_tables(file.read_row_group(place) for file in files)
            row, score = (in_one(parts[name]).flatten().to_numpy() for name in ("rows", "scores"))
            margin = max(parts["margin"].to_pylist())
            is_kept = within_margin(score, self.top, margin)
            rows.append(row[is_kept])
            scores.append(score[is_kept])
            allowed.append(margin)
        return {TABLE: candidate_table(self.prompts, rows, scores, np.array(allowed))}

    def cost(self) -> Cost:
        written = len(self.prompts) * self.top
        return Cost(
            seconds=len(self.found.keys) * written / MERGED_PER_SECOND,
            memory_bytes=COPIES * written * HELD_BYTES,
            disk_bytes=written * STORED_BYTES,
        )
