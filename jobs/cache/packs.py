"""Finished units of many runs, by their keys: the files of one run's units in one file, and an index of them.

Keys are of all that decides a unit's tables, so that a unit of another folder is a copy away. As with segments, the
index comes last, is named by its own bytes, and holds the checksum of each file.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..store import Receipt, Store, receipt_file, unit_file
from .names import INDEX, NAME_DIGITS, ROWS, is_as_written, is_beside, is_index, now
from .space import used_name

FOLDER = "units"
# Names of stages, keys and tables are parts of paths.
PLAIN_NAME = re.compile(r"[a-z0-9_]+(\.arrow)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class PackedUnit:
    """A unit in a pack: its receipt, where in the pack each of its files is, and by what others may look for it."""

    pack: str
    data_file: str
    receipt: Receipt
    places: Mapping[str, tuple[int, int]]
    likeness: str

    @property
    def bytes(self) -> int:
        """Of its files."""
        return sum(stop - start for start, stop in self.places.values())


def write_pack(cache: Store, run: Store, units: Iterable[tuple[Receipt, str]]) -> str | None:
    """Put units of a run's folder in a pack, each by its receipt and likeness; the pack's name, None for no units.

    A unit whose files are not what its receipt says is left out.
    """
    data_file = f"{FOLDER}/{now()}-{uuid.uuid4().hex}{ROWS}"
    entries: list[dict[str, Any]] = []
    with cache.writing(data_file) as stream:
        for receipt, likeness in units:
            contents = _contents(run, receipt)
            if contents is None:
                continue
            places = {}
            for name, data in contents.items():
                places[name] = (stream.bytes, stream.bytes + len(data))
                stream.write(data)
            entries.append({"receipt": asdict(receipt), "places": places, "likeness": likeness})
    if not entries:
        cache.delete(data_file)
        return None
    text = json.dumps({"data_file": data_file, "units": entries}, sort_keys=True, ensure_ascii=False).encode()
    name = f"{FOLDER}/{now()}-{hashlib.sha256(text).hexdigest()[:NAME_DIGITS]}{INDEX}"
    cache.write(name, text)
    return name


def _contents(run: Store, receipt: Receipt) -> dict[str, bytes] | None:
    """A unit's files by their tables' names; None where they are not what the receipt says."""
    found = {}
    for name, file in receipt.files.items():
        try:
            data = run.read(unit_file(receipt.stage, receipt.key, name))
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() != file.sha256:
            return None
        found[name] = data
    return found


def read_pack(cache: Store, name: str) -> list[PackedUnit] | None:
    """The units of a pack by the name of its index; None for one that is gone, or is not what was written."""
    try:
        text = cache.read(name)
        if not is_as_written(name, text):
            return None
        raw = json.loads(text)
        if not is_beside(name, raw["data_file"]):
            return None
        found = [
            PackedUnit(
                pack=name,
                data_file=raw["data_file"],
                receipt=Receipt.from_json(json.dumps(one["receipt"])),
                places={table: (start, stop) for table, (start, stop) in one["places"].items()},
                likeness=one["likeness"],
            )
            for one in raw["units"]
        ]
        return found if all(map(_is_plain, found)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_plain(unit: PackedUnit) -> bool:
    """Whether a unit's files go to its own place in a run's folder: a pack may be anybody's who writes to the cache."""
    names = (unit.receipt.stage, unit.receipt.key, *unit.places)
    return set(unit.places) == set(unit.receipt.files) and all(PLAIN_NAME.fullmatch(name) for name in names)


def packed_units(cache: Store) -> dict[str, PackedUnit]:
    """Every unit in the cache by its key; of several copies the latest."""
    names = sorted(name for name in cache.entries(FOLDER) if is_index(name))
    return {unit.receipt.key: unit for name in names for unit in read_pack(cache, name) or ()}


def restore(cache: Store, run: Store, unit: PackedUnit) -> bool:
    """Put a unit's files and its receipt in a run's folder; False where they are not what was packed."""
    receipt, names = unit.receipt, list(unit.places)
    try:
        contents = dict(zip(names, cache.read_ranges(unit.data_file, [unit.places[name] for name in names])))
    except OSError:
        return False
    if any(hashlib.sha256(contents[name]).hexdigest() != receipt.files[name].sha256 for name in names):
        return False
    stamps = {name: run.write(unit_file(receipt.stage, receipt.key, name), data) for name, data in contents.items()}
    files = {name: replace(file, stamp=stamps[name]) for name, file in receipt.files.items()}
    own = replace(receipt, files=files)
    run.write(receipt_file(receipt.stage, receipt.key), own.to_json().encode())
    return True


def note_use(cache: Store, pack: str) -> None:
    """Remember for a day that a pack was of use."""
    cache.write(used_name(pack), b"")
