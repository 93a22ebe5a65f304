"""A problem as expected true labels show it: what is optimised where labels have errors.

Item i counts as tau_i(g) items of each true cell g (`mprlib.label_errors.score_model`), so that a function c of the
cells has the value sum_g tau_i(g) c_g on it, and the shares of a selection are the mean of its tau. The class, its
normalisation and its worst functions are those of the true cells.

Items of the same labels and about the same score have about the same tau. Where few enough kinds of them are told
apart, they are cells with their mean tau, and the optimisers' work on cells applies; else each item is one of its own.
What is claimed of a set comes from the items' own tau in either case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import MANY_CELLS, Cells
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.label_errors.corrected import features_of
from mprlib.label_errors.estimates import reference_estimate
from mprlib.label_errors.evidence import codes_by_pattern, score_bins
from mprlib.label_errors.score_model import score_model
from mprlib.label_errors.true_cells import error_of, true_cells
from mprlib.label_errors.true_problem import SMALLEST_MASS, simplex, true_problem, weights_of
from mprlib.problem import Problem

# With fewer bins of scores than this, items of one bin differ too much.
FEWEST_BINS = 8


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Expected:
    """A problem in expected labels, and the cells of its items.

    Shapes:  tau (C, G), mean probabilities of the true cells, of the items of each of the first C cells.
    """

    problem: Problem
    cells: Cells
    tau: FloatArray

    def oracle(self, original: Problem, function_class: FunctionClass) -> Oracle:
        """A class over the true cells, on expected labels."""
        built = true_problem(original)
        base = function_class.bind(built)
        features = features_of(base)
        if features is None:
            return ExpectedOracle(base=base, built=built, cells=self.cells, tau=self.tau)
        return Ball.of(self.cells, over_items(self.cells, self.tau, features), base.unit)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ExpectedOracle(Oracle):
    """Any class of functions of cells, on expected labels."""

    base: Oracle
    built: Problem
    cells: Cells
    tau: FloatArray

    @property
    def unit(self) -> float:
        """The class's own."""
        return self.base.unit

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The worst function of the mean tau; an item's value is its expected one."""
        shares = self.cells.shares(weights)[: len(self.tau)]
        worst = self.base.worst_case(weights_of(shares @ self.tau, self.built))
        return replace(worst, function=over_items(self.cells, self.tau, worst.function))


def expected_problem(problem: Problem) -> Expected:
    """The problem in expected labels, built once."""
    return problem.cached("expected problem", lambda: _build(problem))


def over_items(cells: Cells, tau: FloatArray, values: FloatArray) -> FloatArray:
    """Values (G,) or (G, r) of the true cells on items, then on the reference's cells, and 0 on cells of nobody."""
    found = np.concatenate([tau @ values, values])
    rest = np.zeros((cells.size - len(found), *values.shape[1:]))
    return np.concatenate([found, rest])


def _build(problem: Problem) -> Expected:
    true, of_items = true_cells(problem), score_model(problem).posterior(np.arange(problem.n))
    kind = _item_kinds(problem)
    counts = np.bincount(kind)
    tau = np.zeros((counts.size, true.size))
    np.add.at(tau, kind, of_items)
    tau /= counts[:, None]
    shares = simplex(reference_estimate(problem).shares)
    # Between few cells and one for each item there is nothing: a search by items has more cells than one by cells.
    nobody = 0 if counts.size < problem.n else max(0, MANY_CELLS + 1 - problem.n - true.size)
    labels = np.concatenate([tau @ true.labels, true.labels, np.zeros((nobody, true.labels.shape[1]))])
    pool_counts = np.concatenate([counts, np.zeros(true.size + nobody, dtype=np.intp)])
    reference_shares = np.concatenate([np.zeros(counts.size), shares, np.zeros(nobody)])
    cells = Cells(
        labels=labels,
        pool_cell=kind,
        reference_cell=counts.size + np.arange(true.size),
        pool_counts=pool_counts,
        reference_shares=reference_shares,
        masses=np.maximum(pool_counts + problem.m * reference_shares, SMALLEST_MASS),
    )
    built = replace(problem, labels=labels[kind], label_error=None)
    built.cached("cells", lambda: cells)
    return Expected(problem=built, cells=cells, tau=tau)


def _item_kinds(problem: Problem) -> IntArray:
    """The kind (n,) of each item: its labels and the bin of its score; or the item itself where those are too many."""
    everyone = np.arange(problem.n)
    if error_of(problem).probabilities:
        return everyone
    labels, next_label = np.zeros(problem.n, dtype=np.intp), 0
    for places, joint in codes_by_pattern(problem, everyone).values():
        _, labels[places] = np.unique(joint, return_inverse=True)
        labels[places] += next_label
        next_label = int(labels[places].max()) + 1
    bins = score_bins(problem)
    fewest = (MANY_CELLS - true_cells(problem).size) // next_label
    if fewest < FEWEST_BINS:
        return everyone
    merged = bins * min(fewest, int(bins.max()) + 1) // (int(bins.max()) + 1)
    _, kinds = np.unique(labels * (int(merged.max()) + 1) + merged, return_inverse=True)
    found: IntArray = kinds
    return found
