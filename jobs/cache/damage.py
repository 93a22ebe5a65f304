"""Damage in a cache: files that are not what was written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from ..store import Store
from .names import is_foreign_index, is_index
from .packs import FOLDER as UNITS
from .packs import read_pack
from .segment import open_segment
from .space import folders_of, living


def faults(store: Store) -> Iterator[str]:
    """A sentence for each thing that is not what was written; all of the cache is read."""
    listing = store.entries("")
    for folder in folders_of(list(listing)):
        names = [name for name in listing if name.startswith(f"{folder}/") and is_index(name)]
        if folder == UNITS:
            yield from _pack_faults(store, names)
            continue
        opened = {name: open_segment(store, name) for name in names}
        yield from (
            f"{name}: the index is damaged"
            for name, segment in opened.items()
            if segment is None and not is_foreign_index(store, name)
        )
        for segment in living({name: segment for name, segment in opened.items() if segment is not None}):
            damaged = segment.damaged_blocks()
            if damaged:
                what = f"{damaged} of {-(-segment.facts.count // segment.facts.block_rows)} blocks of rows"
                yield f"{segment.facts.rows_file}: {what} are damaged or missing; they are not used"


def _pack_faults(store: Store, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        units = read_pack(store, name)
        if units is None:
            if not is_foreign_index(store, name):
                yield f"{name}: the index is damaged"
            continue
        for unit in units:
            tables = list(unit.places)
            try:
                contents = store.read_ranges(unit.data_file, [unit.places[table] for table in tables])
            except OSError:
                contents = [b""] * len(tables)
            digests = [hashlib.sha256(content).hexdigest() for content in contents]
            if digests != [unit.receipt.files[table].sha256 for table in tables]:
                yield f"{unit.data_file}: unit {unit.receipt.key} is damaged or missing; it is not used"
