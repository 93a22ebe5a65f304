"""What the columns of a table hold, as far as a first look tells."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..datasets import table_files
from ..datasets.source import Piece
from ..datasets.values import BadValue, numbers_of, texts_of
from ..errors import UsageError

# Attributes of more levels are as a rule names or free text.
MOST_LEVELS = 50
# Of more different numbers, bins make groups.
MOST_NUMBERS = 12
# Quarters of the rows, as far as numbers repeat.
QUANTILES = (0.25, 0.5, 0.75)
WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Column:
    """One column: texts is dictionary-encoded, None for one that holds lists, which are taken for vectors."""

    name: str
    texts: pa.DictionaryArray | None
    numbers: np.ndarray | None

    @property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return frozenset(word.lower() for word in WORD.findall(self.name))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return 0 if self.texts is None else len(self.texts)

    @property
    def levels(self) -> int:
        """Different values, missing ones aside."""
        return 0 if self.texts is None else len(self.texts.dictionary)

    @property
    def is_distinct(self) -> bool:
        """Whether every row has a value of its own."""
        return self.texts is not None and self.texts.null_count == 0 and self.levels == self.rows

    @property
    def is_grouping(self) -> bool:
        """Whether its values make groups as they are."""
        many = MOST_NUMBERS if self.numbers is not None else MOST_LEVELS
        return 2 <= self.levels <= many and not self.is_distinct

    @property
    def bins(self) -> list[float]:
        """Ascending cuts of its numbers with some rows in every bin; none where it has no numbers to cut."""
        if self.numbers is None or self.levels <= MOST_NUMBERS:
            return []
        known = self.numbers[np.isfinite(self.numbers)]
        cuts = [_rounded(value) for value in np.quantile(known, QUANTILES).tolist()]
        return [cut for cut in dict.fromkeys(cuts) if known.min() < cut <= known.max()]

    def is_called(self, words: Collection[str]) -> bool:
        """Whether one of the words is in its name."""
        return bool(self.words & set(words))

    def follows(self, other: Column) -> bool:
        """Whether the other column's value decides this one's."""
        if self.texts is None or other.texts is None:
            return False
        own, others = (texts.indices.fill_null(-1).to_numpy().astype(np.int64) for texts in (self.texts, other.texts))
        pairs = np.unique(others * (self.levels + 1) + own).size
        return bool(pairs == np.unique(others).size)


def columns_of(file: Path) -> list[Column]:
    """The columns of a table.

    Raises:  UsageError for what is no table.
    """
    names = table_files.names(file)
    if not names:
        raise UsageError(f"{file} has no columns")
    separator = next((one for one in table_files.OTHER_SEPARATORS if one in names[0]), None)
    if len(names) == 1 and separator is not None:
        raise UsageError(f"{file} has {separator!r} between its fields: commas are expected")
    table, _ = table_files.read([Piece(path=file)], dict.fromkeys(names, "file"))
    return [_column(name, table[name]) for name in names]


def first(columns: Sequence[Column], words: Collection[str]) -> Column | None:
    """The first column that is called so."""
    return next((one for one in columns if one.is_called(words)), None)


def _column(name: str, values: pa.ChunkedArray) -> Column:
    try:
        texts = texts_of(values)
    except (TypeError, BadValue, pa.ArrowException):
        return Column(name=name, texts=None, numbers=None)
    texts = pc.if_else(pc.equal(texts, ""), None, texts)
    return Column(name=name, texts=texts.dictionary_encode(), numbers=_numbers(texts))


def _numbers(texts: pa.Array) -> np.ndarray | None:
    try:
        numbers = numbers_of(texts)
    except (BadValue, TypeError):
        return None
    return numbers if np.isfinite(numbers).any() else None


def _rounded(value: float) -> float:
    """Three digits of the value, which people read: 37 stays, 77,516 is 77,500."""
    rounded = float(f"{value:.3g}")
    return int(rounded) if rounded.is_integer() else rounded
