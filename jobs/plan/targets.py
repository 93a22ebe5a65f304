"""Target shares of each query, from a table with a row a query, attribute and level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mprlib.arrays import BoolArray, FloatArray

from ..datasets import table_files
from ..datasets.source import Stretch
from ..datasets.table_folder import table_files as files_at
from ..errors import UsageError
from ..lists.entries import numbers, place_of, texts
from ..queries import Query
from ..words import examples, numbered

COLUMNS = ("query", "attribute", "level", "share")
# The number of people whom a query's shares were counted among.
SIZE = "size"

Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One query's shares, {attribute: {level: share}} as a configuration states them, and their size where it is
    given."""

    shares: Shares
    size: float | None


Targets = Mapping[str, Target]


def read_targets(path: str, folder: Path) -> Targets:
    """The targets of a file, by query.

    Raises:  UsageError naming file, row and column.
    """
    files, _ = files_at(folder / path, table_files.SUFFIXES)
    names = table_files.names(files[0].path)
    wanted = dict.fromkeys((*COLUMNS, *([SIZE] if SIZE in names else [])), "path")
    table, parts = table_files.read(files, wanted)
    queries, attributes, levels = (texts(table, name, "path", parts, path).to_pylist() for name in COLUMNS[:3])
    shares = numbers(table, "share", "path", parts, path)
    sizes = numbers(table, SIZE, "path", parts, path) if SIZE in names else None
    _expect(shares, (shares >= 0) & (shares <= 1), "column 'share' has {} in {}: 0 to 1 is expected", parts, path)
    if sizes is not None:
        _expect(sizes, sizes > 0, "column 'size' has {} in {}: a number above 0 is expected", parts, path)
    found: dict[str, dict[str, dict[str, float]]] = {}
    of_query: dict[str, float] = {}
    for row, (query, attribute, level, share) in enumerate(zip(queries, attributes, levels, shares.tolist())):
        stated = found.setdefault(query, {}).setdefault(attribute, {})
        if level in stated:
            where = place_of(row, parts, path)
            raise UsageError(f"the {attribute} {level!r} of query {query!r:.80} has a second share in {where}")
        stated[level] = share
        if sizes is not None and of_query.setdefault(query, float(sizes[row])) != sizes[row]:
            where = place_of(row, parts, path)
            raise UsageError(f"column 'size' has another value for query {query!r:.80} in {where}")
    return {query: Target(shares=shares_of, size=of_query.get(query)) for query, shares_of in found.items()}


def _expect(values: FloatArray, is_right: BoolArray, said: str, parts: Sequence[Stretch], path: str) -> None:
    """Raises:  UsageError for the first value that is not right, and its row."""
    wrong = np.flatnonzero(~is_right)
    if wrong.size:
        row = int(wrong[0])
        raise UsageError(said.format(f"{values[row]:.15g}", place_of(row, parts, path)))


def target_remarks(name: str, targets: Targets, queries: Sequence[Query]) -> Iterator[str]:
    """Sentences on queries without a target, and on targets of no query.

    Raises:  UsageError where no query has one.
    """
    asked = [query.text for query in queries]
    without = [query for query in asked if query not in targets]
    if len(without) == len(asked):
        known = next(iter(targets))
        raise UsageError(
            f"no query has a target: those of the audit are like {asked[0]!r:.80}, the file's {known!r:.80}"
        )
    if without:
        yield (
            f"reference {name}: {numbered(len(without), 'query', 'queries')} of {len(asked):,} without a target, not "
            f"compared with it: {examples(without)}"
        )
    others = [query for query in targets if query not in set(asked)]
    if others:
        yield f"reference {name}: targets of {numbered(len(others), 'query', 'queries')} not asked: {examples(others)}"
