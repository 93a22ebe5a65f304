"""Names a person can read for label rows, and which rows are levels at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray, distinct_rows
from mprlib.cells import cells_of
from mprlib.errors import InputError
from mprlib.kept import Kept
from mprlib.level_names import joint_name
from mprlib.problem import Problem

# Levels of the cells that were looked at last.
NAMED = Kept()
# A column with more values than this, most of them seen once, holds measurements and no levels.
MOST_SINGLE_VALUES = 20


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class AttributeLevels:
    """One attribute's level in every cell.

    Shapes:  codes (G,), positions in names; names (levels,), distinct.
    """

    codes: IntArray
    names: tuple[str, ...]


def cell_levels(problem: Problem) -> dict[str, AttributeLevels]:
    """For each attribute, its level in every cell of the problem.

    An attribute's levels are the distinct rows of its columns. A one-hot attribute's are named by the
    hot column ("race=Black"), rows with several hot columns by all of them, rows with none "race=other".
    A single column is named by its value ("age=37"), or, when its name is a level itself
    ("sex=female"), by the name or its negation.

    Raises:  InputError where an attribute's values are no levels: they are fractions, or nearly all differ.
    """

    def build() -> dict[str, AttributeLevels]:
        levels = _named_rows(problem)
        for attribute, columns in problem.attributes.items():
            _expect_levels(problem, attribute, columns, levels[attribute].codes)
        return levels

    return problem.cached("cell levels", build)


def cell_names(problem: Problem, cells: IntArray) -> list[str]:
    """One name for each of some cells: its values of all attributes, levels or not, joined by " & "."""
    levels = _named_rows(problem).values()
    known: dict[int, str] = problem.cached("names of cells", dict)
    for cell in cells.tolist():
        if cell not in known:
            known[cell] = joint_name(level.names[level.codes[cell]] for level in levels)
    return [known[cell] for cell in cells.tolist()]


def _named_rows(problem: Problem) -> dict[str, AttributeLevels]:
    labels = cells_of(problem).labels

    def build() -> dict[str, AttributeLevels]:
        return {
            attribute: _levels(attribute, labels[:, columns], [problem.label_names[column] for column in columns])
            for attribute, columns in problem.attributes.items()
        }

    def kept() -> dict[str, AttributeLevels]:
        # They follow from the cells' labels alone, which are the same for many problems.
        attributes = tuple((name, tuple(own)) for name, own in problem.attributes.items())
        return NAMED.get((attributes, tuple(problem.label_names), labels.tobytes()), build)

    return problem.cached("named rows", kept)


def _levels(attribute: str, columns: FloatArray, column_names: list[str]) -> AttributeLevels:
    distinct, codes = distinct_rows(columns)
    named = _one_hot(attribute, distinct, column_names) if len(column_names) > 1 else _single(column_names[0], distinct)
    return AttributeLevels(codes=codes, names=_told_apart(named))


def _one_hot(attribute: str, rows: FloatArray, names: list[str]) -> list[str]:
    """Names of the rows (R, columns) of several columns; by their values where those are not two in each."""
    lowest, highest = rows.min(axis=0), rows.max(axis=0)
    is_coded = _are_whole(rows) and ((rows == lowest) | (rows == highest)).all()
    if not is_coded:
        return [f"{attribute}=({', '.join(map(_number, row))})" for row in rows]
    # A column that never varies is of all rows or, at 0 and below, of none.
    is_hot = (rows == highest) & ((lowest < highest) | (highest > 0))
    hot_names = [" + ".join(name for name, is_one in zip(names, row) if is_one) for row in is_hot]
    return [name or f"{attribute}=other" for name in hot_names]


def _single(name: str, rows: FloatArray) -> list[str]:
    values = rows[:, 0]
    if "=" in name and values.size <= 2 and _are_whole(values):
        return [name if value == values.max() and value > 0 else f"not {name}" for value in values]
    return [f"{name}={_number(value)}" for value in values]


def _told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names, a number behind each that another row has already."""
    taken: dict[str, int] = {}
    for place, name in enumerate(names):
        number, free = 1, name
        while free in taken:
            number, free = number + 1, f"{name} ({number + 1})"
        taken[free] = place
    return tuple(taken)


def _expect_levels(problem: Problem, attribute: str, columns: Sequence[int], codes: IntArray) -> None:
    cells = cells_of(problem)
    for column in columns:
        values = cells.labels[:, column]
        fractional = values[values != np.rint(values)]
        if fractional.size:
            raise InputError(
                f"labels, column {problem.label_names[column]!r}, holds {_number(fractional[0])}: groups need levels, "
                "as columns of 0 and 1 or whole codes; bin continuous attributes and round probabilities first"
            )
    rows = problem.n + int(problem.population.counts.sum())
    distinct = int(codes.max()) + 1
    # Of several columns each is a level that the caller named.
    if len(columns) == 1 and distinct > max(MOST_SINGLE_VALUES, rows / 2):
        raise InputError(
            f"labels, attribute {attribute!r}, has {distinct} different values in {rows} rows: groups need levels that "
            "rows share; bin continuous attributes first"
        )


def _are_whole(values: FloatArray) -> bool:
    return bool((values == np.rint(values)).all())


def _number(value: float) -> str:
    """The shortest text that is this number: unequal values have unequal names."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value)).removesuffix(".0")
