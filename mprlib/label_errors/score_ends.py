"""Levels whose scores end: stretches of the order of scores outside of which no item has a level.

Scores within a group may be bounded, or skewed with a short tail. Where they end for one group and go on for another,
log odds jump to infinity, which a broken line smooths: items above the upper end that are labelled as the group, all of
them wrongly, would be given a probability that they do not have, and a line that is as steep as a jump in the middle of
a pool needs has nothing to say of its ends.

*Clear ends* are those that cut a good part of the items off: the labels beyond, by the inverse of the confusion, are
compatible with nobody, and the posterior density is by a factor higher with the end than without.

*Upper ends* are hardly ever clear, as labels with errors say little there: among 100 items without a woman ten are
labelled as women at 10% errors, and as many may be where two are women. So upper ends are averaged over. Of each level
the end r, a number of items of which none has the level, is 0 (there is none) or one of the edges of the score bins of
the better half. Half of the prior says that there is none; the other half is spread evenly over the edges, which are
evenly spaced in the logarithm. The density of an end is that of the most probable parameters under it, which a few
steps of Newton's method find. A draw has an end for each level, drawn by these weights; levels are looked at one by
one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.label_errors.confusions import inverse
from mprlib.label_errors.evidence import upper_edges
from mprlib.label_errors.score_fit import Fit, whole
from mprlib.label_errors.true_cells import true_cells
from mprlib.problem import Problem

# Prior probability that scores of a level do not end.
NO_END = 0.5
# Combinations of ends that are drawn; each has parameters of its own and as many of the draws.
COMBINATIONS = 20
# Ends whose density is lower than the best one's by more than this, in logarithms, are left out.
LEAST_LIKELY = 8.0
# A clear end raises the log density by at least this much; beyond it so many items of the level would be expected, and
# no more are seen than so many standard errors of none.
CLEAR_GAIN, MISSED_ITEMS, ERRORS = 4.0, 12.0, 2.0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Curved:
    """A fit with its mode (P,), and the inverse (P, P) of the curvature there."""

    fit: Fit
    parameters: FloatArray
    inverse: FloatArray

    def density(self, stretches: IntArray) -> float:
        """The highest log posterior density under stretches; minus infinity where they leave some item no cell."""
        fit = self.fit.within(stretches)
        return fit.climbed(self.parameters, self.inverse)[1] if fit.is_possible else -np.inf

    def mode(self, stretches: IntArray) -> FloatArray:
        """Parameters that are nearly the most probable ones under stretches."""
        return self.fit.within(stretches).climbed(self.parameters, self.inverse)[0]


def with_clear_ends(problem: Problem, fit: Fit, parameters: FloatArray, unrooted: FloatArray) -> IntArray:
    """Stretches (2, levels) with the ends that the labels leave no doubt of. parameters: the mode without any, with the
    transposed inverse (P, P) of a root of the curvature there."""
    cells = true_cells(problem)
    found = whole(problem.n, fit.members.shape[1])
    density, first = fit.density(parameters), 0
    for axis, size in enumerate(cells.shape):
        codes = cells.codes[problem.best_first, axis]
        possible = _possible_ends(inverse(fit.matrices)[axis][codes]) if axis in fit.matrices else []
        for level, side, end in possible:
            tried = found.copy()
            tried[side, first + level] = _edge(np.append(fit.evidence.places, problem.n), side, end)
            one = fit.within(tried)
            if one.is_possible:
                higher = one.density(one.mode(parameters, unrooted))
                if higher >= density + CLEAR_GAIN:
                    found, density = tried, higher
        first += size
    return found


def drawn_stretches(problem: Problem, curved: Curved, stretches: IntArray) -> IntArray:
    """Stretches (COMBINATIONS, 2, levels) with upper ends drawn by their weights, of the axes that have a confusion:
    where items have probabilities, those say what each may be."""
    found = np.repeat(stretches[None], COMBINATIONS, axis=0)
    random = np.random.default_rng(stretches.shape[1])
    edges = np.array([0, *upper_edges(problem.n)])
    shape = true_cells(problem).shape
    axis_of = np.repeat(np.arange(len(shape)), shape)
    for level in np.flatnonzero(np.isin(axis_of, list(curved.fit.matrices))):
        densities: list[float] = []
        for edge in edges:
            tried = stretches.copy()
            tried[0, level] = edge
            densities.append(curved.density(tried))
            if densities[-1] < max(densities) - LEAST_LIKELY and edge > stretches[0, level]:
                break
        prior = np.array([NO_END, *np.full(edges.size - 1, (1.0 - NO_END) / (edges.size - 1))])[: len(densities)]
        weights = prior * np.exp(np.array(densities) - max(densities))
        found[:, 0, level] = random.permutation(_spread(weights, edges))
    return found


def _possible_ends(seen: FloatArray) -> list[tuple[int, int, int]]:
    """Levels with a side, 0 for the upper and 1 for the lower one, and a place beyond which their labels are compatible
    with nobody, where some would be expected. seen (n, L): what each label adds to the true levels, best first."""
    shares = seen.mean(axis=0)
    found = []
    for side, one in ((0, seen), (1, seen[::-1])):
        sums, errors = np.cumsum(one, axis=0), np.sqrt(np.cumsum(one**2, axis=0))
        for level in range(seen.shape[1]):
            is_more = sums[:, level] > ERRORS * errors[:, level]
            beyond = int(np.argmax(is_more)) if is_more.any() else 0
            if shares[level] * beyond >= MISSED_ITEMS:
                found.append((level, side, beyond if side == 0 else len(seen) - beyond))
    return found


def _edge(edges: IntArray, side: int, end: int) -> int:
    """The edge of a bin that leaves a level all items within an end, and as few others as can be."""
    return int(edges[edges <= end].max() if side == 0 else edges[edges >= end].min())


def _spread(weights: FloatArray, values: IntArray) -> IntArray:
    """Values (COMBINATIONS,), each as often as its weight says, up to one."""
    shares = np.cumsum(weights / weights.sum())
    places = np.searchsorted(shares, (np.arange(COMBINATIONS) + 0.5) / COMBINATIONS)
    found: IntArray = values[np.minimum(places, values.size - 1)]
    return found
