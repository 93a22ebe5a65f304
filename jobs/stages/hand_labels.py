"""True levels of items that were labelled by hand, as units that solve read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.arrays import IntArray

from ..store import Store
from ..store.chunks import in_one
from .unit import Tables, Unit

TABLE = "hand_labels"


@dataclass(frozen=True, kw_only=True, slots=True)
class HandLabels(Unit):
    """True levels of some items of a data set, by attribute and item id: attribute, item_id, level."""

    stage: ClassVar[str] = "hand_labels"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.05
    numeric_code: ClassVar[tuple[str, ...]] = ("mprlib.arrays", "mprlib.frames.matching")

    levels: Mapping[str, Mapping[str, str]]

    def run(self, store: Store) -> Tables:
        rows = [
            {"attribute": attribute, "item_id": item, "level": level}
            for attribute, of_items in self.levels.items()
            for item, level in of_items.items()
        ]
        return {TABLE: pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in rows[0]]))}


def known_levels(
    store: Store, key: str, ids: pa.ChunkedArray | pa.Array, levels: Mapping[str, Sequence[str]]
) -> dict[str, IntArray]:
    """The position of the true level of each item (n,), -1 where it is not known, by attribute that some label is of.

    levels: of each attribute, in the order of the labels' columns.
    """
    table = store.read_table(HandLabels.file(key, TABLE))
    found = {}
    for name in pc.unique(table["attribute"]).to_pylist():
        own = table.filter(pc.equal(table["attribute"], name))
        of_items = pc.index_in(own["level"], value_set=pa.array(levels[name], pa.string())).to_numpy()
        rows = pc.index_in(ids, value_set=in_one(own["item_id"])).fill_null(-1).to_numpy()
        # The last place is that of items which nobody has labelled.
        found[name] = np.append(of_items, -1).astype(np.intp)[rows]
    return found
