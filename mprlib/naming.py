"""Names a person can read for label rows."""

from __future__ import annotations

import numpy as np

from mprlib.problem import FloatArray, Problem


def attribute_levels(problem: Problem, labels: FloatArray) -> dict[str, list[str]]:
    """For each attribute, the name of its level on every label row (rows, l).

    A one-hot attribute is named by its hot column ("race=Black"); where columns are not told
    apart, by "race=other". A single column is named by its value ("age=37"), or, when its name is
    a level itself ("sex=female"), by the name or its negation.
    """
    return {
        name: _one_hot(name, labels[:, columns], [problem.label_names[c] for c in columns])
        if len(columns) > 1
        else _single(problem.label_names[columns[0]], labels[:, columns[0]])
        for name, columns in problem.attributes.items()
    }


def cell_names(problem: Problem, labels: FloatArray) -> list[str]:
    """One name a label row: its levels of all attributes, joined by " & "."""
    return [" & ".join(parts) for parts in zip(*attribute_levels(problem, labels).values())]


def _one_hot(attribute: str, columns: FloatArray, names: list[str]) -> list[str]:
    hot = np.argmax(columns, axis=1)
    is_told_apart = np.sum(columns == columns.max(axis=1, keepdims=True), axis=1) == 1
    return [names[column] if told else f"{attribute}=other" for column, told in zip(hot, is_told_apart)]


def _single(name: str, column: FloatArray) -> list[str]:
    if "=" in name and np.unique(column).size <= 2:
        high = column.max()
        return [name if value == high and value > 0 else f"not {name}" for value in column]
    return [f"{name}={value:g}" for value in column]
