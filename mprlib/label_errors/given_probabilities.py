"""Probabilities of levels that are given for each item, and so are what is known of it.

Calibrated probabilities say of an item all that its picture or text says, its score too, which is made of the same. So
the expected share of a level among some items is the mean of what was given of them. A model of the scores adds how
levels of several attributes go together, and what is likely of attributes with a confusion: probabilities of cells are
scaled, attribute by attribute, until those of the levels are the given ones (iterative proportional fitting, Deming and
Stephan 1940).
"""

from __future__ import annotations

from math import prod

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.label_errors.evidence import SMALLEST
from mprlib.label_errors.true_cells import error_of, true_cells
from mprlib.problem import Problem

# With one attribute one round is exact. Cells whose levels are nearly independent need few rounds more; what is left
# after them is less than probabilities are written with.
ROUNDS, TOLERANCE = 50, 1e-9


def as_given(problem: Problem, items: IntArray, joint: FloatArray) -> FloatArray:
    """Weights (..., a, G) of the cells of some items, scaled until levels have the probabilities that are given; as
    they are where none is.

    Of an item that was labelled by hand that label is what is known.
    """
    wanted = _level_probabilities(problem, items)
    if not wanted:
        return joint
    found: FloatArray = joint / np.maximum(joint.sum(axis=-1, keepdims=True), SMALLEST)
    shape = true_cells(problem).shape
    for _ in range(ROUNDS if len(wanted) > 1 else 1):
        largest = 0.0
        for axis, levels in wanted.items():
            # All axes before it, the axis, and all after it.
            cells = found.reshape(*found.shape[:-1], prod(shape[:axis]), shape[axis], -1)
            factor = levels / np.maximum(cells.sum(axis=(-3, -1)), SMALLEST)
            found = (cells * factor[..., None, :, None]).reshape(found.shape)
            largest = max(largest, float(np.abs(factor[..., levels > 0.0] - 1.0).max(initial=0.0)))
        if largest < TOLERANCE:
            break
    return found


def _level_probabilities(problem: Problem, items: IntArray) -> dict[int, FloatArray]:
    """Probabilities (a, L) of the levels of each axis that has some."""
    error, found = error_of(problem), {}
    for axis, name in enumerate(true_cells(problem).attributes):
        if name in error.probabilities:
            own = error.probabilities[name][items]
            if name in error.known:
                known = error.known[name][items]
                own = np.where((known >= 0)[:, None], np.eye(own.shape[1])[np.maximum(known, 0)], own)
            found[axis] = own
    return found
