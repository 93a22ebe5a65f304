"""Distances between a data set's items, which a process keeps for the pools of one query after the other.

A column of them, from one item to all others, does not depend on the query, and pools of one data set share most of
their items. So methods that look at distances alone find most columns there (`mprlib.baselines.distances`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from mprlib.baselines.distances import DistanceColumns, PoolDistances

from ..store import Store
from .asked import Asked
from .embed import open_shard
from .vectors import Shard, rows_with_vectors

# Of a data set this much larger than the pool, columns would hold more of other items than of the pool's.
LARGEST_PART = 1.5
# Columns that are kept, in bytes; where there is no room for so many, few would be found again.
MOST_BYTES, FEWEST_COLUMNS = 256_000_000, 1_000
# Bytes of a distance: vectors are float32.
DISTANCE_BYTES = 4


def are_kept(pool: int, people: int) -> bool:
    """Whether it pays off for pools of so many items, of so many people that have a vector."""
    return people <= LARGEST_PART * pool and kept_bytes(people) >= FEWEST_COLUMNS * people * DISTANCE_BYTES


def kept_bytes(people: int) -> int:
    """What is kept at most."""
    return min(MOST_BYTES, people * people * DISTANCE_BYTES)


def kept_distances(store: Store, shards: Sequence[str], rows: np.ndarray) -> PoolDistances | None:
    """Distances between rows of the catalogue that shards hold, each of which has a vector; None where none are kept.

    shards: keys of all embed units of the catalogue, in order.
    """
    people = _people(Asked(store, " ".join(shards), tuple(shards)))
    if not are_kept(rows.size, people.number):
        return None
    return people.columns.of_pool(np.searchsorted(people.rows, rows))


class _People:
    """All items of a data set that have a vector."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards
        self.number = sum(len(shard.places) for shard in shards)

    @cached_property
    def rows(self) -> np.ndarray:
        """Their rows of the catalogue, ascending."""
        return rows_with_vectors(self._shards)

    @cached_property
    def columns(self) -> DistanceColumns:
        """Of their vectors, which stay where they are mapped if one shard holds them all in float32."""
        vectors = [shard.vectors.astype(np.float32, copy=False) for shard in self._shards]
        return DistanceColumns(vectors[0] if len(vectors) == 1 else np.concatenate(vectors), MOST_BYTES)


@lru_cache(maxsize=1)
def _people(asked: Asked[tuple[str, ...]]) -> _People:
    return _People([open_shard(asked.store, key) for key in asked.what])
