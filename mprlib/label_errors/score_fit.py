"""The likelihood of all labels of a pool, with its prior, as functions of a score model's parameters.

`mprlib.label_errors.score_model` says what the model is.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
import scipy

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.label_errors.confusions import Matrices
from mprlib.label_errors.evidence import Evidence, complete_information
from mprlib.label_errors.true_cells import error_of, true_cells
from mprlib.problem import Problem

if TYPE_CHECKING:
    from mprlib.label_errors.posterior_kernel import Normal

# Precisions of the normal prior: of slopes, and at first of their changes, in units of normal scores, and of the cells'
# logits around those of independent attributes.
SLOPE_PRECISION, CELL_PRECISION = 1.0, 0.25
# What a change of slope of 1 that is seen as exactly as one can be adds to the variance of changes keeps it from 0 and
# from infinity.
ADDED_CHANGES = 1.0
# Items that the prior of the cells counts as, spread over all levels.
ADDED_ITEMS = 1.0
LARGEST_ITERATIONS = 500
# Part of the mean curvature that every direction has at least, so that it can be inverted.
SMALLEST_CURVATURE = 1e-9
# Newton's steps to a mode that is near, each halved so often until it gains, and those for each draw of the confusions.
NEWTON_STEPS, HALVINGS = 4, 3
REFIT_STEPS = 4
# Above this many cells the information matrix costs more than all the rest: parameters then keep their error.
LARGEST_INFORMED_CELLS = 320


def prior_of(
    features: FloatArray, members: FloatArray, parameters: FloatArray, is_possible: BoolArray | None = None
) -> FloatArray:
    """P(g | s) (a, G) at features (a, F); is_possible (a, G), where some cells have no items."""
    cells = len(members)
    slopes = parameters[cells:].reshape(members.shape[1], -1)
    logits = parameters[:cells] + (features @ slopes.T) @ members.T
    if is_possible is not None:
        logits = np.where(is_possible, logits, -np.inf)
    logits -= logits.max(axis=1, keepdims=True)
    odds = np.exp(logits, out=logits)
    found: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return found


class Fit:
    """The likelihood and its prior as functions of the parameters, under the conditions that are known."""

    def __init__(self, problem: Problem, evidence: Evidence, members: FloatArray, matrices: Matrices) -> None:
        self.evidence, self.members, self.matrices = evidence, members, matrices
        slopes = members.shape[1] * evidence.features.shape[1]
        self._centre = np.concatenate([_independent_logits(problem), np.zeros(slopes)])
        self.precision = np.concatenate([np.full(len(members), CELL_PRECISION), np.full(slopes, SLOPE_PRECISION)])
        self._seen, self._given = evidence.seen, evidence.given(matrices)
        self._stretches = whole(problem.n, members.shape[1])

    def within(self, stretches: IntArray) -> Fit:
        """The same where levels have no items outside of stretches (2, levels) of the order of scores."""
        found = copy(self)
        found._stretches = stretches
        return found

    @property
    def is_possible(self) -> bool:
        """Whether every item has a cell: a level of each axis."""
        is_level = (self._seen.places[:, None] >= self._stretches[0]) & (
            self._seen.places[:, None] < self._stretches[1]
        )
        return bool(np.logical_or.reduceat(is_level, self._seen.starts[:-1], axis=1).all())

    def mode(self, start: FloatArray | None = None, unrooted: FloatArray | None = None) -> FloatArray:
        """The parameters of the largest posterior density, looked for from a start near which the curvature has a root
        whose transposed inverse (P, P) is this; without them from the centre of the prior.

        In steps that this makes alike in all directions a search of so many unequal parameters takes a fifth of them.
        """
        from scipy.optimize import minimize

        origin = self._centre if start is None else start
        scale = self._complete_unrooted(origin) if unrooted is None else unrooted

        def objective(steps: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self._objective(origin + (steps if scale is None else scale @ steps))
            return value, gradient if scale is None else gradient @ scale

        found = minimize(
            objective,
            np.zeros(origin.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": LARGEST_ITERATIONS, "maxcor": 30},
        )
        steps: FloatArray = found.x if scale is None else scale @ found.x
        return origin + steps

    def unrooted(self, information: FloatArray) -> FloatArray:
        """The transposed inverse (P, P) of a root of the curvature of the posterior density: a root of its inverse."""
        curvature = information + np.diag(self.precision)
        smallest = SMALLEST_CURVATURE * float(np.trace(curvature)) / len(curvature)
        root = np.linalg.cholesky(curvature + smallest * np.eye(len(curvature)))
        return np.ascontiguousarray(scipy.linalg.solve_triangular(root, np.eye(len(root)), lower=True).T)

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

    def _complete_unrooted(self, parameters: FloatArray) -> FloatArray | None:
        """What `unrooted` would be if true cells were seen; None where there are too many."""
        if len(self.members) > LARGEST_INFORMED_CELLS:
            return None
        return self.unrooted(complete_information(self.evidence, self._prior(parameters), self.members))

    def climbed(self, parameters: FloatArray, inverse: FloatArray) -> tuple[FloatArray, float]:
        """Parameters that are nearly the mode, and their log posterior density, by steps of Newton's method from ones
        that are near it, with the inverse (P, P) of the curvature there."""
        from mprlib.label_errors import climbing_kernel

        found, density = climbing_kernel.climbed(
            self._seen, self._given, self._normal, parameters, inverse, NEWTON_STEPS, HALVINGS
        )
        return found, float(density)

    def refitted(self, parameters: FloatArray, inverse: FloatArray, matrices: Matrices, draws: int) -> FloatArray:
        """Parameters (draws, P) that are nearly the modes under draws of matrices, by steps of Newton's method from
        those as they are known; of all steps the one of the highest density."""
        from mprlib.label_errors import climbing_kernel

        given = self.evidence.given(matrices)
        return climbing_kernel.refitted(self._seen, given, self._normal, parameters, inverse, draws, REFIT_STEPS)

    def expected_items(self, parameters: FloatArray) -> FloatArray:
        """Of the pool, in each cell (G,)."""
        from mprlib.label_errors import posterior_kernel as kernel

        at = kernel.space(self._seen)
        kernel.fill_prior(self._seen, self._stretches, parameters, at)
        kernel.expect(self._seen, self._given, 0, at)
        found: FloatArray = (at.prior * at.total).sum(axis=1)
        return found

    def information(self, parameters: FloatArray) -> FloatArray:
        """The information matrix (P, P) of the likelihood."""
        return self.evidence.information(self._prior(parameters), self.matrices, self.members)

    def density(self, parameters: FloatArray) -> float:
        """The logarithm of the posterior density, up to a constant."""
        return -self._objective(parameters)[0]

    @property
    def _normal(self) -> Normal:
        from mprlib.label_errors.posterior_kernel import Normal

        return Normal(centre=self._centre, precision=self.precision, stretches=self._stretches)

    def _objective(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log posterior density, and its gradient."""
        from mprlib.label_errors import posterior_kernel as kernel

        gradient = np.empty(parameters.size)
        at = kernel.space(self._seen)
        density = kernel.log_density(self._seen, self._given, 0, self._normal, parameters, gradient, at)
        return -float(density), -gradient

    def _prior(self, parameters: FloatArray) -> FloatArray:
        """P(g | s) (R, G) of the bins."""
        from mprlib.label_errors import posterior_kernel as kernel

        at = kernel.space(self._seen)
        kernel.fill_prior(self._seen, self._stretches, parameters, at)
        return np.ascontiguousarray(at.prior.T)


def whole(items: int, levels: int) -> IntArray:
    """Stretches (2, levels) without an end: of the first item and of the one after the last."""
    return np.array([np.zeros(levels), np.full(levels, items)], dtype=np.intp)


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
