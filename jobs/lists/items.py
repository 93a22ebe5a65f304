"""The items of a result list as a data set, with the labels that columns of the list hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from ..datasets.block import Dataset
from ..datasets.source import Source
from ..datasets.values import BadValue, texts_of
from ..errors import UsageError
from .block import ResultList
from .entries import Entries, place_of

ID = "item_id"


class ListedItems(Dataset):
    """The distinct items of a result list; made of the block `results`, where that has attributes."""

    items = "items of a result list"
    terms = "yours"

    kind: Literal["results"] = "results"
    results: ResultList = Field(description="the list")

    @classmethod
    def of(cls, results: ResultList, name: str = "items") -> ListedItems:
        """The data set of a list."""
        text = getattr(results, "text", None)
        return cls(name=name, path=results.path, results=results, attributes=results.attributes, text=text)

    def read_by_workers(self) -> str | None:
        return None

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """One row an item.

        Raises:  UsageError for a column that is missing, and for an item with two different values.
        """
        entries = self.results.read(folder)
        table = self.results.columns_of(folder, columns)
        encoded = entries.items.dictionary_encode()
        code, count = encoded.indices.to_numpy(), len(encoded.dictionary)
        found: dict[str, Any] = {ID: encoded.dictionary}
        for name in columns:
            if name != ID:
                found[name] = _one_each(entries, table[name], code, count, name)
        return Source(table=pa.table(found), id=ID, stretches=entries.parts if count == len(code) else ())


def _one_each(entries: Entries, column: pa.ChunkedArray, code: np.ndarray, count: int, name: str) -> pa.Array:
    """The value of each item (count,), from the first row that has one.

    Raises:  UsageError for an item with two values.
    """
    try:
        values = texts_of(column).dictionary_encode()
    except (TypeError, BadValue, pa.ArrowException):
        raise UsageError(
            f"column {name!r} of {entries.path} holds {column.type}: text or numbers are expected"
        ) from None
    texts = values.dictionary
    value = values.indices.fill_null(-1).to_numpy()
    rows = np.flatnonzero(value >= 0)
    first = np.full(count, -1)
    first[code[rows[::-1]]] = value[rows[::-1]]
    other = rows[value[rows] != first[code[rows]]]
    if other.size:
        row = int(other[0])
        item, before = entries.items[row].as_py(), texts[int(first[code[row]])].as_py()
        raise UsageError(
            f"column {name!r} calls the item {item!r:.80} {texts[int(value[row])].as_py()!r:.80} in "
            f"{place_of(row, entries.parts, entries.path)}, and {before!r:.80} before"
        )
    return texts.take(pa.array(first, mask=first < 0))
