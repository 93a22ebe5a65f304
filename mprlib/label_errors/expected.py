"""A problem as expected true labels show it: what is optimised where labels have errors.

Item i counts as tau_i(g) items of each true cell g (`mprlib.label_errors.score_model`), so that a function c of the
cells has the value sum_g tau_i(g) c_g on it, and the shares of a selection are the mean of its tau. The class, its
normalisation and its worst functions are those of the true cells; each item is a cell of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import MANY_CELLS, Cells
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.label_errors.corrected import features_of
from mprlib.label_errors.estimates import reference_estimate
from mprlib.label_errors.score_model import score_model
from mprlib.label_errors.true_cells import true_cells
from mprlib.label_errors.true_problem import SMALLEST_MASS, simplex, true_problem, weights_of
from mprlib.problem import Problem


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Expected:
    """A problem in expected labels, and the cells of its items.

    Shapes:  tau (n, G), each item's probabilities of the true cells.
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
        worst = self.base.worst_case(weights_of(weights @ self.tau, self.built))
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
    true, tau = true_cells(problem), score_model(problem).posterior(np.arange(problem.n))
    shares = simplex(reference_estimate(problem).shares)
    # Few cells would be searched for proofs on whole counts, which fractions of items do not have.
    nobody = max(0, MANY_CELLS + 1 - problem.n - true.size)
    labels = np.concatenate([tau @ true.labels, true.labels, np.zeros((nobody, true.labels.shape[1]))])
    no_items, size = np.zeros(true.size + nobody, dtype=np.intp), problem.n + true.size + nobody
    reference_shares = np.concatenate([np.zeros(problem.n), shares, np.zeros(nobody)])
    cells = Cells(
        labels=labels,
        pool_cell=np.arange(problem.n),
        reference_cell=problem.n + np.arange(true.size),
        pool_counts=np.concatenate([np.ones(problem.n, dtype=np.intp), no_items]),
        reference_shares=reference_shares,
        masses=np.maximum(
            np.concatenate([np.ones(problem.n), np.zeros(size - problem.n)]) + problem.m * reference_shares,
            SMALLEST_MASS,
        ),
    )
    built = replace(problem, labels=labels[: problem.n], label_error=None)
    built.cached("cells", lambda: cells)
    return Expected(problem=built, cells=cells, tau=tau)
