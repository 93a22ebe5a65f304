"""Measuring a selection with a bound function class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mprlib.cells import selection_weights
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.measurement import Group, Measurement, Witness
from mprlib.naming import cell_names
from mprlib.problem import FloatArray, IntArray, Problem

# A witness is read by a person and stored on every result row.
LARGEST_WITNESS = 10
# Below this a gap is the rounding of sums of n terms in double precision.
ROUNDING = 1e-12


def measure_with(problem: Problem, items: IntArray, function_class: FunctionClass) -> Measurement:
    """MPR of checked items under one class, with its witness.

    Source:  MPR paper, Definition 1.
    """
    if len(items) != problem.k:
        # C' is normalised by the selection's own size.
        problem = replace(problem, k=len(items))
    oracle = function_class.bind(problem)
    weights = selection_weights(problem, items)
    worst = oracle.worst_case(weights)
    chi = None
    if function_class.is_normalised:
        chi = worst.value * float(np.sqrt((problem.n + problem.m) / problem.scale))
    return Measurement(
        value=worst.value,
        upper_bound=worst.upper_bound,
        is_exact=worst.is_exact,
        chi=chi,
        witness=_witness(problem, oracle, worst, weights),
    )


def _witness(problem: Problem, oracle: Oracle, worst: WorstCase, weights: FloatArray) -> Witness:
    """The cells that contribute most to the gap."""
    cells = oracle.cells
    shares = cells.shares(weights)
    contributions = (shares - cells.reference_shares) * worst.function
    largest = np.argsort(-contributions, kind="stable")[:LARGEST_WITNESS]
    names = cell_names(problem, cells.labels[largest])
    groups = tuple(
        Group(
            name=name,
            share_selected=float(shares[cell]),
            share_reference=float(cells.reference_shares[cell]),
            contribution=float(contributions[cell]),
        )
        for name, cell in zip(names, largest)
    )
    return Witness(groups=groups, sentence=_sentence(worst.value, groups))


def _sentence(value: float, groups: tuple[Group, ...]) -> str:
    if value <= ROUNDING:
        return "No function of the class tells the selection from the reference."
    return "; ".join(
        f"{group.name}: {group.share_selected:.0%} retrieved, {group.share_reference:.0%} in the reference"
        for group in groups[:3]
        if group.contribution > 0
    )
