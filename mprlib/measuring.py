"""Measuring a selection with a bound function class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mprlib.arrays import IntArray
from mprlib.cells import cells_of, selection_weights
from mprlib.function_classes.base import FunctionClass
from mprlib.measurement import Measurement
from mprlib.problem import Problem
from mprlib.witness import witness


def measure_with(problem: Problem, items: IntArray, function_class: FunctionClass) -> Measurement:
    """MPR of checked items under one class, with its witness.

    Source:  MPR paper, Definition 1.
    """
    problem = _of_size(problem, len(items))
    oracle = function_class.bind(problem)
    weights = selection_weights(problem, items)
    worst = oracle.worst_case(weights)
    chi = None
    if function_class.is_normalised:
        # Under C' MPR is at most 1 (Proposition 3); sums of n terms may round above it.
        worst = replace(worst, value=min(worst.value, 1.0), upper_bound=min(worst.upper_bound, 1.0))
        chi = worst.value * float(np.sqrt((problem.n + problem.m) / problem.scale))
    return Measurement(
        value=worst.value,
        upper_bound=worst.upper_bound,
        is_exact=worst.is_exact,
        chi=chi,
        witness=witness(problem, oracle, worst, weights),
    )


def _of_size(problem: Problem, size: int) -> Problem:
    """The problem for selections of that size: C' is normalised by the selection's own size."""
    if size == problem.k:
        return problem

    def build() -> Problem:
        resized = replace(problem, k=size)
        # Cells do not depend on k.
        resized.cached("cells", lambda: cells_of(problem))
        return resized

    return problem.cached(("of size", size), build)
