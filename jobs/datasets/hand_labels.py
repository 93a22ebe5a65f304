"""Labels that were given by hand to some items: a CSV as the page of `mpr-audit label-sample` saves it, or one like it.

Columns: `item_id`, and of each attribute one of its name, whose fields are levels, empty where there is no label, or
`cannot tell`. `inclusion_probability` says with which probability each item was drawn; without it, all alike.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib import Confusion
from mprlib.hand_labels import effective_counts

from ..errors import UsageError
from ..words import closest, did_you_mean
from .columns import shown
from .encodings import UTF8, other_mark

ITEM, PROBABILITY = "item_id", "inclusion_probability"
CANNOT_TELL = "cannot tell"
# Hand labels are thousands; what is larger is another file.
LARGEST_BYTES = 100_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class HandLabels:
    """Items that have a label, in the file's order: their ids, levels, lines of the file, and probabilities with which
    they were drawn."""

    path: str
    ids: tuple[str, ...]
    levels: tuple[str, ...]
    lines: tuple[int, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Labelled:
    """Items with a true level of an attribute, and the predicted one, None where the data have no value."""

    ids: tuple[str, ...]
    true: tuple[str, ...]
    predicted: tuple[str | None, ...]
    probabilities: tuple[float, ...]


def read_hand_labels(path: str, folder: Path, attribute: str) -> HandLabels:
    """The hand labels of an attribute. folder: where relative paths start from.

    Raises:  UsageError, one sentence with file and line.
    """
    found: dict[str, tuple[str, int, float]] = {}
    lines: dict[str, int] = {}
    rows = _rows(path, _text(path, folder / path))
    _, header = next(rows, (1, []))
    item, label = (_place(path, header, name) for name in (ITEM, attribute))
    drawn = header.index(PROBABILITY) if PROBABILITY in header else None
    for line, fields in rows:
        if len(fields) != len(header):
            raise UsageError(f"{path}:{line}: {len(fields)} fields, where the header has {len(header)}")
        name, level = fields[item], fields[label]
        if not name:
            raise UsageError(f"{path}:{line}: column {ITEM!r} has no id")
        if name in lines:
            raise UsageError(f"{path}:{line}: item {name!r:.80} is in line {lines[name]} already")
        lines[name] = line
        share = 1.0 if drawn is None else _probability(path, line, fields[drawn])
        if level not in ("", CANNOT_TELL):
            found[name] = (level, line, share)
    if not found:
        raise UsageError(f"{path}: column {attribute!r} holds no label")
    levels, places, shares = zip(*found.values())
    return HandLabels(path=path, ids=tuple(found), levels=levels, lines=places, probabilities=shares)


def levels_of(items: pa.Table, column: str, ids: Collection[str]) -> tuple[tuple[str, str | None], ...]:
    """Those of the ids that items have, with the level of each in a column; None where it has none."""
    rows = items.filter(pc.is_in(items["item_id"], value_set=pa.array(list(ids), pa.string())))
    return tuple(zip(rows["item_id"].to_pylist(), rows[column].cast(pa.string()).to_pylist()))


def labelled(given: HandLabels, predicted: Mapping[str, str | None], levels: Sequence[str]) -> Labelled:
    """Hand labels beside what was predicted of the items, by id. levels: those that an item may have.

    Raises:  UsageError for an id that is no item's, and for an unknown level, with file and line.
    """
    for item, level, line in zip(given.ids, given.levels, given.lines):
        if item not in predicted:
            raise UsageError(f"{given.path}:{line}: the data have no item {item!r:.80}")
        if level not in levels:
            hint = did_you_mean(level, levels) if closest(level, levels) else f"its levels are {shown(levels)}"
            raise UsageError(f"{given.path}:{line}: {level!r:.80} is no level of the attribute; {hint}")
    return Labelled(
        ids=given.ids,
        true=given.levels,
        predicted=tuple(predicted[item] for item in given.ids),
        probabilities=given.probabilities,
    )


def confusion_of(found: Labelled, levels: Sequence[str], counts: Mapping[str, int], missing: str) -> Confusion:
    """How often labels are wrong, as the hand labels say, with their sampling error.

    levels: those of the attribute, in its order; counts: items of the data set by predicted level; missing: what an
    item without a value is called. The labels of a true level that no hand label has are taken to be right.
    """
    number = {level: place for place, level in enumerate(levels)}
    true = np.array([number[level] for level in found.true])
    predicted = np.array([number[missing if level is None else level] for level in found.predicted])
    totals = np.array([counts.get(level, 0) for level in levels], dtype=float)
    counted = effective_counts(true, predicted, np.array(found.probabilities), totals)
    sizes = counted.sum(axis=1)
    is_seen = sizes > 0
    shares = np.eye(len(levels))
    shares[is_seen] = counted[is_seen] / sizes[is_seen, None]
    return Confusion(shares=shares, sizes=np.where(is_seen, sizes, np.inf), levels=tuple(levels))


def unlabelled_levels(found: Labelled, levels: Sequence[str], missing: str) -> list[str]:
    """Levels that no hand label has, that of items without a value aside."""
    return [level for level in levels if level not in found.true and level != missing]


def _text(path: str, file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    if len(content) > LARGEST_BYTES:
        raise UsageError(
            f"{path}: it has more than {LARGEST_BYTES / 1e6:g} MB, and hand labels of some items are asked"
        )
    fault = other_mark(content)
    if fault is not None:
        raise UsageError(f"{path}: {fault}")
    try:
        text = content.decode(UTF8)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: bytes that are no UTF-8 text: save it as UTF-8") from None
    if "\0" in text:
        raise UsageError(f"{path}:{text.count(chr(10), 0, text.index(chr(0))) + 1}: a NUL character")
    return text


def _rows(path: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold anything, each with the line that it begins in."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{path}:{line}: no CSV: {error}") from None


def _place(path: str, header: Sequence[str], name: str) -> int:
    """The place of a column.

    Raises:  UsageError for one that is missing, or there twice.
    """
    if header.count(name) != 1:
        what = f"two columns {name!r}" if name in header else f"no column {name!r}"
        raise UsageError(f"{path}:1: {what}; it has {shown(header) if header else 'nothing'}")
    return list(header).index(name)


def _probability(path: str, line: int, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = np.nan
    if not 0 < share <= 1:
        raise UsageError(f"{path}:{line}: {PROBABILITY} is {text!r:.80}: a number above 0 and at most 1 is expected")
    return share
