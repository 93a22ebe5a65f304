"""What a probe's calibrated probabilities say of a whole data set, whose shares of levels are others than those of the
people that it learnt from: the shares, the factors that make an item's probabilities, and the labels' confusion.

All items tell the shares, not those that are near one query; and the labels of people behind a reference stand for the
same true shares whatever is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib import Confusion
from mprlib.arrays import FloatArray, IntArray
from mprlib.prior_shift import HALF_INTERVAL, PriorShift, shift_of

from ..datasets.part import ATTRIBUTE
from ..store import Store
from ..store.chunks import in_one
from .catalogue import read_items
from .labels import CALIBRATED, Labels, calibrated_probabilities, with_predicted
from .labels import TABLE as LABELS
from .likely import by_label, expected_confusion
from .pool import people_weights, read_pool
from .probe import read_probe
from .reference import ReferenceSource
from .unit import Cost, Tables, Unit, outside_key, reads
from .vectors import to_matrix

SHARES, LIKELY = "shares", "reweighted"
# Seconds of one core, and bytes of memory beside a worker's own, for an item: some tens of rounds over all.
SECONDS_PER_ITEM = 5e-6
BYTES_PER_ITEM = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class PriorShifts(Unit):
    """The shares of a probe's levels among the items of a catalogue that have a vector, and expected items by true
    level and label, each with its weight.

    labels: units that label all shards, with calibrated probabilities. items: of the catalogue, for the estimate.
    """

    stage: ClassVar[str] = "shift"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.1
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        "mprlib.arrays",
        "mprlib.prior_shift",
        "jobs.stages.vectors",
    )

    catalogue: str = reads()
    probe: str = reads()
    labels: tuple[str, ...] = reads()
    items: int = outside_key(0)

    def run(self, store: Store) -> Tables:
        probe = read_probe(store, self.probe)
        labelled = pa.concat_tables(store.read_table(Labels.file(key, LABELS)) for key in self.labels)
        given = to_matrix(labelled[CALIBRATED])
        found = shift_of(given, probe.shares, probe.bias)
        people = read_items(store, self.catalogue, ["item_id", "weight"])
        places = pc.index_in(labelled["item_id"], value_set=in_one(people["item_id"]))
        weights = people["weight"].take(places).to_numpy()
        codes = pc.index_in(labelled["level"], value_set=pa.array(probe.levels)).to_numpy()
        return {
            SHARES: _shares(probe.levels, found),
            LIKELY: _counted(probe.levels, found.of(given), codes, weights),
        }

    def cost(self) -> Cost:
        return Cost(seconds=self.items * SECONDS_PER_ITEM, memory_bytes=self.items * BYTES_PER_ITEM)


def _shares(levels: Sequence[str], found: PriorShift) -> pa.Table:
    columns = {"level": pa.array(levels, pa.string())}
    columns |= {name: pa.array(getattr(found, name), pa.float64()) for name in ("before", "after", "errors")}
    return pa.table({**columns, "why": pa.array([found.why] * len(levels), pa.string())})


def _counted(levels: Sequence[str], likely: FloatArray, codes: IntArray, weights: FloatArray) -> pa.Table:
    size = len(levels)

    def sums(of_items: FloatArray) -> pa.Array:
        values = pa.array(by_label(of_items, codes, size).ravel(), pa.float64())
        return pa.FixedSizeListArray.from_arrays(values, size)

    return pa.table({"level": list(levels), "weight": sums(likely * weights[:, None]), "rows": sums(likely)})


def read_shift(store: Store, key: str) -> tuple[tuple[str, ...], PriorShift]:
    """The levels, and their shares, that a unit found."""
    table = store.read_table(PriorShifts.file(key, SHARES))
    columns = {name: table[name].to_numpy() for name in ("before", "after", "errors")}
    return tuple(table["level"].to_pylist()), PriorShift(**columns, why=table["why"][0].as_py())


def likely_levels(
    store: Store, key: str, ids: pa.ChunkedArray | pa.Array, labels: Sequence[str], levels: Sequence[str]
) -> FloatArray:
    """Probabilities (n, L) of these levels for items that have a vector, by a unit that knows their data set's shares;
    0 for levels that its probe lacks."""
    own, shift = read_shift(store, key)
    found = np.zeros((len(ids), len(levels)))
    found[:, [levels.index(level) for level in own]] = shift.of(calibrated_probabilities(ids, labels, store))
    return found


def confusions_of_people(
    store: Store, source: ReferenceSource, shifts: Mapping[str, str], levels: Mapping[str, Sequence[str]]
) -> dict[str, Confusion]:
    """How often labels of a reference's people who are a pool of their own are wrong, by their own probabilities."""
    if source.pool is None or not shifts:
        return {}
    people = with_predicted(read_pool(store, source.pool), source.predicted, store)
    weights, found = people_weights(people), {}
    for name, key in shifts.items():
        known = levels[name]
        likely = likely_levels(store, key, people["item_id"], source.predicted[name], known)
        codes = pc.index_in(people[ATTRIBUTE + name], value_set=pa.array(known)).to_numpy()
        counts, rows = (by_label(one, codes, len(known)) for one in (likely * weights[:, None], likely))
        found[name] = expected_confusion(counts, rows, known)
    return found


def shifted_confusion(store: Store, key: str, levels: Sequence[str]) -> Confusion:
    """How often all items of each true level have each label, of these levels; of others than the probe's all labels
    are right."""
    table = store.read_table(PriorShifts.file(key, LIKELY))
    own = table["level"].to_pylist()
    places = [levels.index(level) for level in own]
    both = np.zeros((2, len(levels), len(levels)))
    for side, name in zip(both, ("weight", "rows")):
        side[np.ix_(places, places)] = to_matrix(table[name])
    return expected_confusion(both[0], both[1], levels)


def shift_facts(unit: PriorShifts, store: Store) -> dict[str, Any]:
    """What a manifest says: shares of the labelled people, of the data set with half their 95% intervals, and why
    probabilities are as the probe gives them, where they are."""
    levels, found = read_shift(store, unit.key)
    halves = HALF_INTERVAL * found.errors
    return {
        "shares_labelled": dict(zip(levels, map(float, found.before))),
        "shares": dict(zip(levels, map(float, found.after))),
        "margins": {level: float(one) if np.isfinite(one) else None for level, one in zip(levels, halves)},
        "left_as_given": found.why or None,
    }
