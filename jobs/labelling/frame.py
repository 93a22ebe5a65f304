"""The items that a sample may be drawn of: their predicted levels and the selections that hold them, as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.arrays import FloatArray, IntArray

from ..datasets.part import ATTRIBUTE
from ..stages.catalogue import read_parts
from ..stages.labels import with_predicted
from ..stages.solve import Solve
from ..store import Store
from .shown import Shown

# What an item of the sample is described by, beside its levels.
DESCRIBED = ("item_id", "text", "image")


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Frame:
    """The items of a data set, in the order of its catalogue.

    levels: those that an item may have, by attribute; codes: the predicted one of each item (items,), by attribute, -1
    for one without; times: of how many selections (items,); own: the mean over selections of 1 / k^2 for those that
    hold the item; shares (selections, levels) of predicted levels in each selection, by attribute, as far as its items
    have one.
    """

    levels: Mapping[str, tuple[str, ...]]
    codes: Mapping[str, IntArray]
    times: IntArray
    own: FloatArray
    shares: Mapping[str, FloatArray]

    @property
    def size(self) -> int:
        """Number of items."""
        return self.times.size

    def predicted_shares(self, attribute: str) -> FloatArray:
        """Shares (levels,) of predicted levels among the items that have one."""
        counts = _counts(self.codes[attribute], len(self.levels[attribute]))
        shares: FloatArray = counts / max(counts.sum(), 1.0)
        return shares


def frame_of(store: Store, unit: Solve, shown: Sequence[Shown]) -> Frame:
    """The items of a data set, a part at a time. unit: one that has chosen items of it."""
    levels = {name: tuple(level for level in unit.levels[name] if level != unit.missing) for name in unit.levels}
    members = pa.array(dict.fromkeys(item for one in shown for item in one.ids), pa.string())
    codes: dict[str, list[IntArray]] = {name: [] for name in levels}
    places: list[IntArray] = []
    for part in _parts(store, unit, ["item_id"], list(levels)):
        places.append(pc.index_in(part["item_id"], value_set=members).fill_null(-1).to_numpy())
        for name, known in levels.items():
            codes[name].append(_codes(part[ATTRIBUTE + name], known))
    place, of_items = np.concatenate(places), {name: np.concatenate(found) for name, found in codes.items()}
    times, own = _weights(shown, members, place)
    row = np.full(len(members), -1)
    row[place[place >= 0]] = np.flatnonzero(place >= 0)
    number = {item: int(at) for item, at in zip(members.to_pylist(), row)}
    shares = {name: _shares(shown, number, of_items[name], len(known)) for name, known in levels.items()}
    return Frame(levels=levels, codes=of_items, times=times, own=own, shares=shares)


def described(store: Store, unit: Solve, rows: IntArray, attributes: Sequence[str]) -> pa.Table:
    """The columns DESCRIBED and the levels of some rows (n,), ascending, of the frame."""
    start = 0
    tables: list[pa.Table] = []
    for part in _parts(store, unit, DESCRIBED, attributes):
        low, high = np.searchsorted(rows, [start, start + part.num_rows])
        if high > low or not tables:
            tables.append(part.take(pa.array(rows[low:high] - start)))
        start += part.num_rows
    return pa.concat_tables(tables, promote_options="default")


def _parts(store: Store, unit: Solve, columns: Sequence[str], attributes: Sequence[str]) -> Iterator[pa.Table]:
    """Columns of the data set's items, each attribute as texts; without items whose level could not be predicted."""
    held = [ATTRIBUTE + name for name in attributes if name not in unit.predicted]
    for part in read_parts(store, unit.catalogue, [*columns, *held]):
        items = with_predicted(part, unit.predicted, store)
        for name in attributes:
            at = items.column_names.index(ATTRIBUTE + name)
            items = items.set_column(at, ATTRIBUTE + name, items.column(at).cast(pa.string()))
        yield items


def _codes(column: pa.ChunkedArray, levels: Sequence[str]) -> IntArray:
    found = pc.index_in(column, value_set=pa.array(levels, pa.string()))
    codes: IntArray = found.fill_null(-1).to_numpy().astype(np.int32)
    return codes


def _weights(shown: Sequence[Shown], members: pa.Array, place: IntArray) -> tuple[IntArray, FloatArray]:
    """Of each item (items,): how many selections hold it, and the mean of 1 / k^2 over them all."""
    number = {item: at for at, item in enumerate(members.to_pylist())}
    times, own = np.zeros(len(members) + 1, dtype=np.int64), np.zeros(len(members) + 1)
    for one in shown:
        held = [number[item] for item in one.ids]
        times[held] += 1
        own[held] += 1.0 / len(held) ** 2 / len(shown)
    # The last place is that of items which no selection holds.
    return times[place], own[place]


def _shares(shown: Sequence[Shown], number: Mapping[str, int], codes: IntArray, levels: int) -> FloatArray:
    rows = [np.array([number[item] for item in one.ids], dtype=np.int64) for one in shown]
    found = np.array([_counts(codes[row[row >= 0]], levels) for row in rows])
    shares: FloatArray = found / np.maximum(found.sum(axis=1, keepdims=True), 1.0)
    return shares


def _counts(codes: IntArray, levels: int) -> FloatArray:
    return np.bincount(codes[codes >= 0], minlength=levels).astype(float)
