"""The likelihood of all labels of a pool, with its prior, as functions of a score model's parameters.

`mprlib.label_errors.score_model` says what the model is.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
import scipy

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.label_errors.confusions import Matrices
from mprlib.label_errors.evidence import Evidence, complete_information
from mprlib.label_errors.true_cells import error_of, true_cells
from mprlib.problem import Problem

# Precisions of the normal prior: of slopes, and at first of their changes, in units of normal scores, and of the cells'
# logits around those of independent attributes.
SLOPE_PRECISION, CELL_PRECISION = 1.0, 0.25
# What a change of slope of 1 that is seen as exactly as one can be adds to the variance of changes keeps it from 0 and
# from infinity.
ADDED_CHANGES = 1.0
# Items that the prior of the cells counts as, spread over all levels.
ADDED_ITEMS = 1.0
LARGEST_ITERATIONS = 500
# Newton's steps for each draw of the confusions.
REFIT_STEPS = 4
# Above this many cells the information matrix costs more than all the rest: parameters then keep their error.
LARGEST_INFORMED_CELLS = 320


def prior_of(
    features: FloatArray, members: FloatArray, parameters: FloatArray, is_possible: BoolArray | None = None
) -> FloatArray:
    """P(g | s) (a, G) at features (a, F); is_possible (a, G), where some cells have no items."""
    found: FloatArray = priors_of(features, members, parameters[None], is_possible)[0]
    return found


def priors_of(
    features: FloatArray, members: FloatArray, parameters: FloatArray, is_possible: BoolArray | None = None
) -> FloatArray:
    """The same (B, a, G) for draws (B, P) of the parameters."""
    cells = len(members)
    slopes = parameters[:, cells:].reshape(len(parameters), members.shape[1], -1)
    logits = parameters[:, None, :cells] + (features @ np.swapaxes(slopes, 1, 2)) @ members.T
    if is_possible is not None:
        logits = np.where(is_possible, logits, -np.inf)
    logits -= logits.max(axis=2, keepdims=True)
    odds = np.exp(logits, out=logits)
    found: FloatArray = odds / odds.sum(axis=2, keepdims=True)
    return found


class Fit:
    """The likelihood and its prior as functions of the parameters."""

    def __init__(self, problem: Problem, evidence: Evidence, members: FloatArray) -> None:
        self.evidence, self.members = evidence, members
        slopes = members.shape[1] * evidence.features.shape[1]
        self._centre = np.concatenate([_independent_logits(problem), np.zeros(slopes)])
        self.precision = np.concatenate([np.full(len(members), CELL_PRECISION), np.full(slopes, SLOPE_PRECISION)])
        self._is_possible: BoolArray | None = None

    def within(self, stretches: IntArray) -> Fit:
        """The same where levels have no items outside of stretches (2, levels) of the order of scores."""
        found = copy(self)
        found._is_possible = cells_within(self.evidence.places, self.members, stretches)
        return found

    @property
    def is_possible(self) -> bool:
        """Whether every item has a cell."""
        return self._is_possible is None or bool(self._is_possible.any(axis=1).all())

    def mode(self, matrices: Matrices, start: FloatArray | None = None) -> FloatArray:
        """The parameters of the largest posterior density."""
        from scipy.optimize import minimize

        origin = self._centre if start is None else start
        root = self._complete_root(origin)

        def objective(steps: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self._objective(origin + solved(root, steps, trans="T"), matrices)
            return value, solved(root, gradient)

        found = minimize(
            objective,
            np.zeros(origin.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": LARGEST_ITERATIONS, "maxcor": 30},
        )
        return origin + solved(root, found.x, trans="T")

    def adapt(self, parameters: FloatArray, information: FloatArray, shape: Sequence[int]) -> None:
        """Set the prior's variance of the changes of slope of each axis to what the mode and its information say.

        Source:  MacKay 1992: squares over the number of parameters that the data determine.
        """
        variances = np.diag(np.linalg.inv(information + np.diag(self.precision)))
        width, first = self.evidence.features.shape[1], len(self.members)
        for size in shape:
            own = first + np.arange(size * width).reshape(size, width)[:, 1:].ravel()
            first += size * width
            determined = float(np.sum(1.0 - self.precision[own] * variances[own]))
            squares = float(np.sum(parameters[own] ** 2))
            self.precision[own] = (determined + ADDED_CHANGES) / (squares + ADDED_CHANGES)

    def _complete_root(self, parameters: FloatArray) -> FloatArray | None:
        """Root (P, P) of what the curvature would be if true cells were seen; None where there are too many.

        In steps that it makes alike in all directions a search of so many unequal parameters takes a fifth of them.
        """
        if len(self.members) > LARGEST_INFORMED_CELLS:
            return None
        prior = self._prior(parameters).T
        found: FloatArray = np.linalg.cholesky(
            complete_information(self.evidence, prior, self.members) + np.diag(self.precision)
        )
        return found

    def gradients(self, parameters: FloatArray, matrices: Matrices, draws: int) -> FloatArray:
        """Of the log posterior density (draws, P), for draws of matrices."""
        prior = self._prior(parameters)
        expected, _ = self.evidence.expected(np.broadcast_to(prior, (draws, *prior.shape)), matrices)
        return self._gradient(expected, prior, parameters)

    def refitted(self, parameters: FloatArray, root: FloatArray, matrices: Matrices, draws: int) -> FloatArray:
        """Parameters (draws, P) that are nearly the modes under draws of matrices, by steps of Newton's method from
        those as they are known, with the root of the curvature there; of all steps the one of the highest density."""
        found = np.tile(parameters, (draws, 1))
        tried, highest = found.copy(), np.full(draws, -np.inf)
        for step in range(REFIT_STEPS + 1):
            prior = np.swapaxes(priors_of(self.evidence.features, self.members, tried, self._is_possible), 1, 2)
            expected, likelihoods = self.evidence.expected(np.ascontiguousarray(prior), matrices)
            densities = likelihoods - 0.5 * np.sum(self.precision * (tried - self._centre) ** 2, axis=1)
            is_higher = densities > highest
            found[is_higher], highest[is_higher] = tried[is_higher], densities[is_higher]
            if step < REFIT_STEPS:
                gradient = self._gradient(expected, prior, tried)
                tried = tried + solved(root, solved(root, gradient.T), trans="T").T
        return found

    def expected_items(self, parameters: FloatArray, matrices: Matrices) -> FloatArray:
        """Of the pool, in each cell (G,)."""
        expected, _ = self.evidence.expected(self._prior(parameters)[None], matrices)
        found: FloatArray = expected[0].sum(axis=1)
        return found

    def information(self, parameters: FloatArray, matrices: Matrices) -> FloatArray:
        """The information matrix (P, P) of the likelihood."""
        return self.evidence.information(np.ascontiguousarray(self._prior(parameters).T), matrices, self.members)

    def density(self, parameters: FloatArray, matrices: Matrices) -> float:
        """The logarithm of the posterior density, up to a constant."""
        return -self._objective(parameters, matrices)[0]

    def _objective(self, parameters: FloatArray, matrices: Matrices) -> tuple[float, FloatArray]:
        """Minus the log posterior density, and its gradient."""
        prior = self._prior(parameters)
        expected, values = self.evidence.expected(prior[None], matrices)
        penalty = 0.5 * float(np.sum(self.precision * (parameters - self._centre) ** 2))
        return penalty - float(values[0]), -self._gradient(expected, prior, parameters)[0]

    def _prior(self, parameters: FloatArray) -> FloatArray:
        """P(g | s) (G, R) of the bins."""
        prior = prior_of(self.evidence.features, self.members, parameters, self._is_possible)
        return np.ascontiguousarray(prior.T)

    def _gradient(self, expected: FloatArray, prior: FloatArray, parameters: FloatArray) -> FloatArray:
        """Of the log posterior density (B, P), from the expected items (B, G, R) of each cell."""
        residual = expected - self.evidence.sizes * prior
        slopes = (self.members.T @ residual) @ self.evidence.features
        likely = np.concatenate([residual.sum(axis=2), slopes.reshape(len(slopes), -1)], axis=1)
        found: FloatArray = likely - self.precision * (parameters - self._centre)
        return found


def cells_within(places: IntArray, members: FloatArray, stretches: IntArray) -> BoolArray:
    """Whether items at these places (a,) of the order of scores may be of each cell (a, G), given the first place and
    the one after the last (2, levels) of each level."""
    is_member = members > 0.0
    first = np.where(is_member, stretches[0], 0).max(axis=1)
    last = np.where(is_member, stretches[1], stretches[1].max()).min(axis=1)
    found: BoolArray = (places[:, None] >= first) & (places[:, None] < last)
    return found


def _independent_logits(problem: Problem) -> FloatArray:
    """Logits (G,) of the cells if attributes were independent, each with the shares that its labels have."""
    cells, error = true_cells(problem), error_of(problem)
    found = np.zeros(1)
    for axis, size in enumerate(cells.shape):
        name = cells.name_of(axis)
        counts = np.bincount(cells.codes[:, axis], minlength=size).astype(float)
        if name in error.probabilities:
            counts = error.probabilities[name].sum(axis=0)
        shares = (counts + ADDED_ITEMS / size) / (counts.sum() + ADDED_ITEMS)
        found = (found[:, None] + np.log(shares)[None, :]).ravel()
    return found


def solved(root: FloatArray | None, values: FloatArray, trans: str = "N") -> FloatArray:
    """Values (P, ...) divided by a lower triangular root, or by its transpose (trans="T"); without one, unchanged."""
    if root is None:
        return values
    found: FloatArray = scipy.linalg.solve_triangular(root, values, lower=True, trans=trans, check_finite=False)
    return found
