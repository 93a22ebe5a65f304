"""Which columns are proposed as attributes: what people are, by the column's name, else what makes groups."""

from __future__ import annotations

from collections.abc import Sequence

from ..words import numbered
from .columns import MOST_LEVELS, Column
from .yaml_text import quoted, with_comment

# What audits are about, as columns are called.
OF_PEOPLE = (
    "gender", "sex", "race", "ethnicity", "age", "birth", "religion", "nationality", "continent", "country", "region",
    "disability", "language", "skin",
)  # fmt: skip
# More make groups that hold nobody.
MOST_PROPOSED = 4


def attribute_lines(columns: Sequence[Column], indent: str) -> list[str]:
    """The lines of an `attributes` block: some columns, and the others in comments."""
    chosen = chosen_attributes(columns)
    lines = [with_comment(f"{indent}attributes:", "the labels that the audit is about")]
    lines += [_line(column, f"{indent}  ") for column in chosen]
    for column in columns:
        if column not in chosen and (column.is_grouping or column.bins):
            lines.append(f"{indent}  # {_line(column, '').strip()}")
        elif column not in chosen and column.levels > MOST_LEVELS and column.is_called(OF_PEOPLE):
            what = f"{column.levels:,} levels, more than {MOST_LEVELS}: map makes groups of them"
            lines.append(f"{indent}  # {with_comment(f'{quoted(column.name)}: {{}}', what)}")
    return lines


def chosen_attributes(columns: Sequence[Column]) -> list[Column]:
    """The columns that are proposed."""
    possible = [column for column in columns if column.is_grouping or column.bins]
    of_people = [column for column in possible if column.is_called(OF_PEOPLE)]
    return (of_people or possible)[:MOST_PROPOSED]


def _line(column: Column, indent: str) -> str:
    if column.is_grouping:
        return with_comment(
            f"{indent}{quoted(column.name)}: {{}}", f"{numbered(column.levels, 'level')}{_missing(column)}"
        )
    cuts = ", ".join(f"{cut:.15g}" for cut in column.bins)
    what = f"numbers, in bins that hold about a quarter each{_missing(column)}"
    return with_comment(f"{indent}{quoted(column.name)}: {{bins: [{cuts}]}}", what)


def _missing(column: Column) -> str:
    missing = 0 if column.texts is None else column.texts.null_count
    return f", {missing:,} without a value (a level `unknown`)" if missing else ""
