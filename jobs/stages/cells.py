"""People of a catalogue as a table of cells: each distinct row of levels once, with how many have it and their weights.

Whoever compares with these people reads as many rows as there are cells, not as there are people.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.arrays import FloatArray, IntArray
from mprlib.cell_table import POWERS, CellTable
from mprlib.encoding import Encoding, joint_groups
from mprlib.exact_sums import ExactSums

from ..datasets.catalogue import ATTRIBUTE
from ..store import Store
from ..store.chunks import in_one
from .catalogue import attribute_names, read_range
from .labels import with_predicted
from .numeric_code import COUNTING_CODE
from .unit import Cost, Tables, Unit, reads
from .vectors import to_column, to_matrix

TABLE = "cells"
# Key of the schema's metadata: what is of the table as a whole.
WHOLE = b"whole"
# Seconds of one core, and bytes of memory beside a worker's own, for a person.
SECONDS_PER_PERSON = 0.3e-6
BYTES_PER_PERSON = 180


@dataclass(frozen=True, kw_only=True, slots=True)
class Cells(Unit):
    """Cells of the rows [start, stop) of a catalogue. predicted: keys of labels units by attribute."""

    stage: ClassVar[str] = "cells"
    version: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.05
    is_shared: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (*COUNTING_CODE, "jobs.stages.labels", "jobs.stages.vectors")

    catalogue: str = reads()
    start: int
    stop: int
    predicted: Mapping[str, tuple[str, ...]] = reads(default_factory=dict)

    def run(self, store: Store) -> Tables:
        named = [*attribute_names(store, self.catalogue), "weight", *(["item_id"] if self.predicted else [])]
        people = with_predicted(read_range(store, self.catalogue, self.start, self.stop, named), self.predicted, store)
        return {TABLE: cell_table(people)}

    def cost(self) -> Cost:
        people = self.stop - self.start
        return Cost(seconds=people * SECONDS_PER_PERSON, memory_bytes=people * BYTES_PER_PERSON)


def cell_table(people: pa.Table) -> pa.Table:
    """The cells of people with a column for the levels of each attribute, and their weights."""
    names = [name for name in people.column_names if name.startswith(ATTRIBUTE)]
    levels, codes = zip(*(coded(people[name]) for name in names))
    first, groups = joint_groups(codes, [len(own) for own in levels])
    rows = np.column_stack([of_rows[first] for of_rows in codes]).astype(np.float64)
    table = CellTable.of_groups(rows, groups, people["weight"].to_numpy())
    columns = {
        name: own.take(pa.array(table.labels[:, place].astype(np.int64)))
        for place, (name, own) in enumerate(zip(names, levels))
    }
    return stored(table, columns)


def read_cells(store: Store, keys: Sequence[str], encoding: Encoding) -> CellTable:
    """The cells of all people that some units counted, in the columns of an encoding."""
    tables = [store.read_table(Cells.file(key, TABLE)) for key in keys]
    return CellTable.merged([restored(one, encoded_levels(one, encoding)) for one in tables])


def encoded_levels(items: pa.Table, encoding: Encoding) -> FloatArray:
    """One-hot rows (n, l) of items with a column for the levels of each attribute.

    Raises:  ValueError for a level that the encoding does not know.
    """
    return encoding.one_hot(level_codes(items, encoding))


def level_codes(items: pa.Table, encoding: Encoding) -> list[IntArray]:
    """For each attribute the positions (n,) of the levels of items with a column for each.

    Raises:  ValueError as `encoded_levels`.
    """
    return list(_positions(items, encoding))


def coded(column: pa.ChunkedArray) -> tuple[pa.Array, IntArray]:
    """The levels of a column, and the position of each row's among them."""
    found = in_one(column)
    if not pa.types.is_dictionary(found.type):
        found = found.dictionary_encode()
    return found.dictionary, found.indices.to_numpy().astype(np.int64)


def stored(table: CellTable, labels: Mapping[str, pa.Array]) -> pa.Table:
    """A table of cells as it is written, to the last bit, with columns that hold the labels."""
    sums = {f"sums_{power}": to_column(_some_digits(one.digits), "int64") for power, one in zip(POWERS, table.powers)}
    whole = {
        "starts": [one.start for one in table.powers],
        # Exact, as decimal texts need not be.
        "weights": [table.lightest.hex(), table.heaviest.hex()],
        "rows": table.rows,
    }
    columns = {**labels, "count": pa.array(table.counts, pa.int64()), **sums}
    return pa.table(columns).replace_schema_metadata({WHOLE: json.dumps(whole)})


def restored(written: pa.Table, labels: FloatArray) -> CellTable:
    """What `stored` was given, with the labels (G, l) that its columns stand for."""
    whole = json.loads(written.schema.metadata[WHOLE])
    powers = [
        ExactSums(digits=to_matrix(written[f"sums_{power}"]), start=start)
        for power, start in zip(POWERS, whole["starts"])
    ]
    lightest, heaviest = map(float.fromhex, whole["weights"])
    return CellTable(
        labels=labels,
        counts=written["count"].to_numpy(),
        powers=tuple(powers),
        lightest=lightest,
        heaviest=heaviest,
        rows=whole["rows"],
    )


def _positions(items: pa.Table, encoding: Encoding) -> Iterator[IntArray]:
    for attribute, levels in encoding.levels.items():
        own, codes = coded(items[ATTRIBUTE + attribute])
        places = pc.index_in(own, value_set=pa.array(levels, own.type))
        if places.null_count:
            unknown = own.filter(pc.is_null(places))[0].as_py()
            raise ValueError(
                f"attribute {attribute!r} has the value {unknown!r}, which was unknown when this was planned"
            )
        yield places.to_numpy().astype(np.intp)[codes]


def _some_digits(digits: IntArray) -> IntArray:
    """Digits with one column at least, as a list in a table has one value at least."""
    return digits if digits.shape[1] else np.zeros((len(digits), 1), dtype=np.int64)
