"""Why a file is no table, as its format's reader found it; the caller adds which file it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


class TableFault(Exception):
    """What is wrong with a file, as a sentence without the file's name, and the line where there is one."""

    def __init__(self, reason: object, line: int | None = None) -> None:
        plain = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in " ".join(str(reason).split()))
        super().__init__(plain[:LONGEST_REASON])
        self.line = line


class MissingColumn(TableFault):
    """A column that was asked for and is not there; names are those that are."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        super().__init__(f"it lacks the column {name!r}")
        self.name = name
        self.names = tuple(names)


# Characters of a reason: messages of readers may repeat what a file holds.
LONGEST_REASON = 300


def expect_columns(columns: Iterable[str], names: Sequence[str]) -> None:
    """Each of the columns is among the names, once.

    Raises:  MissingColumn; TableFault for one that occurs twice, since nobody can say which is meant.
    """
    counts = Counter(names)
    for name in columns:
        if name not in counts:
            raise MissingColumn(name, names)
        if counts[name] > 1:
            raise TableFault(f"the column {name!r} occurs {counts[name]} times")
