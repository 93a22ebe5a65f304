"""Small tables in HTML: what notebooks show of a problem, a measurement, a selection or a curve.

>>> facts("Problem", {"k": 20})
'<table><caption>Problem</caption><tbody><tr><th>k</th><td>20</td></tr></tbody></table>'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

# Rows that a notebook shows; to_frame has them all.
MOST_ROWS = 20


def facts(caption: str, found: Mapping[str, Any]) -> str:
    """A table of two columns."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(shown(value))}</td></tr>" for name, value in found.items())
    return f"<table><caption>{escape(caption)}</caption><tbody>{rows}</tbody></table>"


def table(caption: str, columns: Mapping[str, Sequence[Any]]) -> str:
    """A table with a column each, and how many rows are left out."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = list(zip(*columns.values()))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(shown(value))}</td>" for value in row) + "</tr>" for row in rows[:MOST_ROWS]
    )
    left = len(rows) - MOST_ROWS
    more = f"<p>{left:,} more in to_frame()</p>" if left > 0 else ""
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def shown(value: Any) -> str:
    """A value in a cell: numbers to four digits, nothing for None."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
