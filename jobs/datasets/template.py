"""The text of an item: a template over columns, `{name}, {occupation}`.

Between braces is a column's name, whatever it holds: `{person.name}` and `{0}` are columns of those names.
Doubled braces are braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..errors import UsageError
from .block import Dataset

PIECE = re.compile(r"(?P<brace>\{\{|\}\})|\{(?P<column>[^{}]+)\}|(?P<words>[^{}]+)")


def template_columns(block: Dataset) -> list[str]:
    """Columns that the text's template names, each once.

    Raises:  UsageError for text that is no template over columns.
    """
    columns = [column for _, column in _pieces(block) if column]
    if not columns:
        raise UsageError(f"text names no column, as {{name}}: {block.text!r}")
    return list(dict.fromkeys(columns))


def filled(block: Dataset, columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The texts of rows, given each named column's values (n,)."""
    pieces = list(_pieces(block))
    rows = zip(*columns.values())
    place = {name: position for position, name in enumerate(columns)}
    return ["".join(row[place[column]] if column else words for words, column in pieces) for row in rows]


def _pieces(block: Dataset) -> Iterator[tuple[str, str]]:
    """Words, or the name of a column, from left to right."""
    position, text = 0, block.text or ""
    while position < len(text):
        found = PIECE.match(text, position)
        if found is None:
            raise UsageError(
                f"text is not a template (a brace at character {position + 1} has no partner; "
                f"columns are named as {{name}}): {block.text!r}"
            )
        yield found["words"] or (found["brace"] or "")[:1], found["column"] or ""
        position = found.end()
