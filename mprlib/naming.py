"""Names a person can read for label rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.cells import cells_of, distinct_rows
from mprlib.problem import FloatArray, IntArray, Problem


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class AttributeLevels:
    """One attribute's level in every cell.

    Shapes:  codes (G,), positions in names; names (levels,), distinct.
    """

    codes: IntArray
    names: tuple[str, ...]


def cell_levels(problem: Problem) -> dict[str, AttributeLevels]:
    """For each attribute, its level in every cell of the problem; named once.

    A one-hot attribute is named by its hot column ("race=Black"); where columns are not told
    apart, by "race=other". A single column is named by its value ("age=37"), or, when its name is
    a level itself ("sex=female"), by the name or its negation.
    """

    def build() -> dict[str, AttributeLevels]:
        labels = cells_of(problem).labels
        return {
            attribute: _levels(attribute, labels[:, columns], [problem.label_names[column] for column in columns])
            for attribute, columns in problem.attributes.items()
        }

    return problem.cached("cell levels", build)


def cell_names(problem: Problem, cells: IntArray) -> list[str]:
    """One name for each of some cells: its levels of all attributes, joined by " & "."""
    levels = cell_levels(problem).values()
    return [" & ".join(level.names[level.codes[cell]] for level in levels) for cell in cells]


def _levels(attribute: str, columns: FloatArray, column_names: list[str]) -> AttributeLevels:
    distinct, row_level = distinct_rows(columns)
    named = _one_hot(attribute, distinct, column_names) if len(column_names) > 1 else _single(column_names[0], distinct)
    # Rows that a name does not tell apart ("race=other") are one level.
    position: dict[str, int] = {}
    codes = np.array([position.setdefault(name, len(position)) for name in named], dtype=np.intp)
    return AttributeLevels(codes=codes[row_level], names=tuple(position))


def _one_hot(attribute: str, columns: FloatArray, names: list[str]) -> list[str]:
    hot = np.argmax(columns, axis=1)
    is_told_apart = np.sum(columns == columns.max(axis=1, keepdims=True), axis=1) == 1
    return [names[column] if told else f"{attribute}=other" for column, told in zip(hot, is_told_apart)]


def _single(name: str, column: FloatArray) -> list[str]:
    values = column[:, 0]
    if "=" in name and values.size <= 2:
        return [name if value == values.max() and value > 0 else f"not {name}" for value in values]
    return [f"{name}={value:g}" for value in values]
