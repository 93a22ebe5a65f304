"""Shares of named groups by the true labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.function_classes.groups import Groups, GroupsOracle
from mprlib.label_error import ChosenBy
from mprlib.label_errors.confusions import confusions_of
from mprlib.label_errors.corrected import CONFIDENCE, estimate_of
from mprlib.label_errors.estimates import reference_estimate
from mprlib.label_errors.evidence import possible_cells
from mprlib.label_errors.true_cells import along, true_cells
from mprlib.label_errors.true_problem import true_problem
from mprlib.label_errors.weakness import too_weak
from mprlib.problem import Problem


class GroupShares(NamedTuple):
    """A group's share of a selection with the ends of its interval, and of the reference; fractions of 1."""

    share: float
    low: float
    high: float
    share_reference: float


def corrected_groups(
    problem: Problem,
    items: IntArray,
    max_attributes: int = 2,
    *,
    chosen_by: ChosenBy = "labels",
    confidence: float = CONFIDENCE,
) -> dict[str, GroupShares]:
    """Every intersection of the levels of so many attributes, by its name as `Groups` has it; none where the confusion
    is too weak."""
    if too_weak(problem):
        return {}
    oracle = Groups(max_attributes=max_attributes).bind(true_problem(problem))
    estimate = estimate_of(problem, items, chosen_by)
    shares, error = oracle.totals(estimate.shares), _totals(oracle, estimate.error)
    if estimate.own is None:
        # Draws near a share of 0 lean to one side; the interval holds what either lean allows.
        margins = np.quantile(np.abs(error), confidence, axis=0, method="higher")
        ends = np.stack([shares - margins, shares + margins])
        beyond = np.stack([shares > 1.0, shares < 0.0])
        if beyond.any():
            # Labels that no true ones explain by the confusion would end all draws at 0 or 1.
            bounds = _exact_bounds(problem, items, oracle, confidence)
            wider = np.stack([np.minimum(ends[0], bounds[0]), np.maximum(ends[1], bounds[1])])
            ends = np.where(beyond, wider, ends)
    else:
        # Near shares of 0 and 1 draws of the parameters lean to the middle, and what is seen under given parameters to
        # the ends: the interval holds what either lean allows.
        own, repeated = shares + _totals(oracle, estimate.own), np.resize(error, (len(estimate.own), shares.size))
        quantiles = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
        lows, highs = zip(*(np.quantile(own + sign * repeated, quantiles, axis=0) for sign in (1.0, -1.0)))
        # Of an item that is of a group with a small probability the mean is beyond nearly all draws.
        ends = np.stack([np.minimum(np.minimum(*lows), shares), np.maximum(np.maximum(*highs), shares)])
    expected = np.clip(oracle.totals(reference_estimate(problem).shares), 0.0, 1.0)
    # Noise of the other items cannot take a level from those that are known to have it.
    smallest, largest = _known_bounds(problem, items, oracle)
    columns = [np.clip(one, smallest, largest).tolist() for one in (shares, *ends)]
    return {name: GroupShares(*row) for name, *row in zip(oracle.names, *columns, expected.tolist())}


def _exact_bounds(
    problem: Problem, items: IntArray, oracle: GroupsOracle, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest share (groups,) of each group under which the labels of some items are not too
    unlikely, whatever the others are.

    At least as many are labelled as a group as are so rightly, of w of it Binomial(w, P(label | true)); and likewise of
    those that are not of it.
    """
    from scipy.stats import binom

    cells, count = true_cells(problem), np.arange(items.size + 1)
    members = _members(oracle, cells.size).T
    known = {axis: matrix.T for axis, matrix in confusions_of(problem).items.known.items()}
    labelled = along(members, cells.shape, known)
    counts = members[:, cells.joint(cells.codes[items])].sum(axis=1)
    right = np.where(members > 0.0, labelled, 1.0).min(axis=1)
    right_others = np.where(members > 0.0, 1.0, 1.0 - labelled).min(axis=1)
    level = (1.0 - confidence) / 2.0
    most, most_others = (
        (binom.cdf(seen[:, None], count, sure[:, None]) >= level).sum(axis=1) - 1
        for seen, sure in ((counts, right), (items.size - counts, right_others))
    )
    return 1.0 - most_others / items.size, most / items.size


def _known_bounds(problem: Problem, items: IntArray, oracle: GroupsOracle) -> tuple[FloatArray, FloatArray]:
    """Shares (groups,) of the items that are known to belong to each group, and of those that may."""
    possible = possible_cells(problem, items).astype(float)
    every_cell = np.broadcast_to(possible.sum(axis=1, keepdims=True), (items.size, len(oracle.names)))
    of_group = _totals(oracle, possible)
    return (of_group == every_cell).mean(axis=0), (of_group > 0.0).mean(axis=0)


def _totals(oracle: GroupsOracle, draws: FloatArray) -> FloatArray:
    """Sums (B, groups) of draws (B, G) over each group's cells."""
    return draws @ _members(oracle, draws.shape[1])


def _members(oracle: GroupsOracle, cells: int) -> FloatArray:
    """1 (G, groups) where a cell belongs to a group."""
    return np.stack([oracle.totals(cell) for cell in np.eye(cells)])
