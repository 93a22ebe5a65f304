"""A pool's items, and what a process keeps of all items of a data set for the pools of one query after the other.

A pool's file has the ids and levels of its items, so that a small part of a large data set is read for a query. Where
pools hold most of a data set, ids and levels of all items are read once, and of each pool only rows, scores and
weights. Levels that a probe predicts are in no pool's file: those of up to two million items are read once in either
case.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mprlib.arrays import FloatArray, IntArray
from mprlib.encoding import Encoding

from ..datasets.catalogue import ATTRIBUTE
from ..store import Store
from ..store.chunks import in_one
from .asked import Asked
from .catalogue import read_items
from .cells import level_codes
from .kept_distances import LARGEST_PART
from .labels import with_kept_labels, with_predicted
from .pool import people_weights, read_pool
from .rescore import ids_of

if TYPE_CHECKING:
    from .solve import Solve


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolItems:
    """A pool's items, best first.

    Shapes:  rows (n,) of the catalogue; scores (n,); ids (n,), texts; codes, the position (n,) of each item's level of
             each attribute; weights (n,) of the items as people of a reference; relevance (n,), true terms; places
             (n,) where they were shown, None of a search.
    """

    rows: IntArray
    scores: FloatArray
    ids: np.ndarray
    codes: Sequence[IntArray]
    weights: FloatArray
    relevance: pa.Array
    places: FloatArray | None = None


def pool_items(unit: Solve, store: Store) -> PoolItems:
    """Those of a unit's pool that have a level of each attribute that is predicted."""
    if 0 < unit.size.people <= LARGEST_PART * unit.size.items:
        key = json.dumps([unit.catalogue, list(unit.levels.items()), list(unit.predicted.items())])
        pool = read_pool(store, unit.pool, columns=["row", "score", "weight"])
        return _kept(Asked(store, key, unit)).of_pool(pool)
    pool = read_pool(store, unit.pool, dictionaries=_stored(unit))
    pool = with_kept_labels(pool, unit.catalogue, unit.size.people, unit.predicted, store)
    return PoolItems(
        rows=pool["row"].to_numpy(),
        scores=pool["score"].to_numpy(),
        ids=ids_of(pool["item_id"]),
        codes=_codes(unit, pool),
        weights=people_weights(pool),
        relevance=in_one(pool["relevance"]),
        places=pool["place"].to_numpy() if "place" in pool.column_names else None,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Items:
    """Items of a catalogue that have all levels; place (N,): where each row is among them, -1 for others."""

    place: IntArray
    ids: np.ndarray
    codes: Sequence[IntArray]
    relevance: pa.DictionaryArray

    def of_pool(self, pool: pa.Table) -> PoolItems:
        """Those of a pool, by its columns `row`, `score` and, if it has one, `weight`."""
        rows, scores, weights = pool["row"].to_numpy(), pool["score"].to_numpy(), people_weights(pool)
        place = self.place[rows]
        if place.min(initial=0) < 0:
            is_known = place >= 0
            rows, scores, weights, place = rows[is_known], scores[is_known], weights[is_known], place[is_known]
        return PoolItems(
            rows=rows,
            scores=scores,
            ids=self.ids[place],
            codes=[of_attribute[place] for of_attribute in self.codes],
            weights=weights,
            relevance=self.relevance.take(pa.array(place)),
        )


@lru_cache(maxsize=1)
def _kept(asked: Asked[Solve]) -> _Items:
    unit, store = asked.what, asked.store
    items = read_items(store, unit.catalogue, ["item_id", "relevance", *_stored(unit)])
    known = with_predicted(items.append_column("row", pa.array(np.arange(items.num_rows))), unit.predicted, store)
    place = np.full(items.num_rows, -1)
    place[known["row"].to_numpy()] = np.arange(known.num_rows)
    return _Items(
        place=place,
        ids=ids_of(known["item_id"]),
        codes=_codes(unit, known),
        relevance=in_one(known["relevance"]).dictionary_encode(),
    )


def _stored(unit: Solve) -> list[str]:
    """Columns of levels that are read, not predicted."""
    return [ATTRIBUTE + name for name in unit.levels if name not in unit.predicted]


def _codes(unit: Solve, items: pa.Table) -> list[IntArray]:
    return level_codes(items, Encoding(levels={name: tuple(levels) for name, levels in unit.levels.items()}))
