"""How the true cells of a pool's items depend on their scores, fitted from labels with errors.

The probability of a true cell g at the score s is

    P(g | s) proportional to exp(alpha_g + sum over axes of beta_{level of g} . f(s)),

with f the normal score of the item's rank, and how far it is above the median, the 84th and the 98th percentile. So
the logarithms of the odds of two cells are a line with three knots, whose last part belongs to the most similar items
alone: whatever the scores' distribution is, what selections are made of is fitted by itself. What is
seen of an item is P(label | s) = sum_g P(g | s) T[g, label]; alpha and beta maximise the likelihood of all labels of
the pool, with a weak normal prior (a posterior mode). Then

    tau_i(g) = P(g | s_i, label_i) proportional to P(g | s_i) T[g, label_i]

are the probabilities of the true cells of item i. They hold for every selection that was made by looking at scores and
labels, since the items that were chosen are then like those of the same score and label that were not.

Draws of the parameters hold their own sampling error (the curvature of the likelihood) and that of the confusions,
which one step of Newton's method passes on to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray
from mprlib.label_errors.confusions import DRAWS, Matrices, confusions_of
from mprlib.label_errors.evidence import (
    SMALLEST,
    Evidence,
    as_known,
    complete_information,
    evidence_of,
    likelihood,
    likelihood_by_axis,
    of_cells,
)
from mprlib.label_errors.true_cells import TrueCells, error_of, true_cells
from mprlib.problem import Problem

# Precisions of the normal prior: of slopes, in units of their standardised features, and of the cells' logits around
# those of independent attributes.
SLOPE_PRECISION, CELL_PRECISION = 1.0, 0.25
# Knots of the slope, in normal scores: the median, and the 84th and 98th percentile.
KNOTS = (0.0, 1.0, 2.0)
# Items that the prior of the cells counts as, spread over all levels.
ADDED_ITEMS = 1.0
LARGEST_ITERATIONS = 500
# Above this many cells the information matrix costs more than all the rest: parameters then keep their error.
LARGEST_INFORMED_CELLS = 320
# Part of the mean curvature that every direction has at least, so that it can be inverted.
SMALLEST_CURVATURE = 1e-9
# Numbers that are worked on at once where draws are many: 1 MB.
CACHED_BLOCK = 125_000
# Items whose probabilities are worked on at once, by cells: 16 MB.
LARGEST_BLOCK = 2_000_000


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ScoreModel:
    """Fitted probabilities of true cells.

    Shapes:  features (n, F) of the items' scores; members (G, levels), 1 where a cell has a level of some axis;
             parameters (P,), the cells' logits and then the slopes (levels, F); drawn (DRAWS, P).
    """

    problem: Problem
    features: FloatArray
    members: FloatArray
    parameters: FloatArray
    drawn: FloatArray

    def prior(self, items: IntArray, parameters: FloatArray) -> FloatArray:
        """P(g | s) (a, G) of some items."""
        return prior_of(self.features[items], self.members, parameters)

    def posterior(self, items: IntArray) -> FloatArray:
        """tau (a, G) of some items."""
        matrices = as_known(self.problem)
        block = max(1, LARGEST_BLOCK // len(self.members))
        parts = [
            _normalised(self.prior(part, self.parameters) * likelihood(self.problem, part, matrices))
            for part in np.split(items, np.arange(block, items.size, block))
        ]
        return np.concatenate(parts)

    def drawn_shares(self, items: IntArray) -> FloatArray:
        """Mean tau (DRAWS, G) of some items under each draw of parameters and confusions."""
        found = np.zeros((DRAWS, len(self.members)))
        for block in _blocks_of_draws(items.size * len(self.members)):
            cells, factors = self._odds(items, self.drawn[block])
            seen = likelihood_by_axis(self.problem, items, drawn_matrices(self.problem, block))
            joint = of_cells([own * one for own, one in zip(factors, seen)])
            totals = np.maximum(joint @ cells[:, :, None], SMALLEST)
            found[block] = cells * (np.swapaxes(1.0 / totals, 1, 2) @ joint)[:, 0] / items.size
        return found

    def _odds(self, items: IntArray, parameters: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Draws (B, P) of parameters as odds (B, G) of the cells, and factors (B, a, L) of those by axis at the items'
        scores; each up to a factor."""
        cells = len(self.members)
        logits = parameters[:, :cells]
        slopes = parameters[:, cells:].reshape(len(parameters), self.members.shape[1], -1)
        grown = self.features[items] @ np.swapaxes(slopes, 1, 2)
        ends = np.cumsum(true_cells(self.problem).shape)[:-1]
        factors = [np.exp(one - one.max(axis=-1, keepdims=True)) for one in np.split(grown, ends, axis=-1)]
        return np.exp(logits - logits.max(axis=1, keepdims=True)), factors


def score_model(problem: Problem) -> ScoreModel:
    """The model of a problem's pool, fitted once."""
    return problem.cached("score model", lambda: _fitted(problem))


def prior_of(features: FloatArray, members: FloatArray, parameters: FloatArray) -> FloatArray:
    """P(g | s) (a, G) at features (a, F)."""
    cells = len(members)
    slopes = parameters[cells:].reshape(members.shape[1], -1)
    found: FloatArray = scipy.special.softmax(parameters[:cells] + (features @ slopes.T) @ members.T, axis=1)
    return found


def _fitted(problem: Problem) -> ScoreModel:
    cells, features = true_cells(problem), _features(problem)
    evidence = evidence_of(problem, features)
    members = _members(cells)
    fit = _Fit(problem, evidence, members)
    parameters = fit.mode(as_known(problem))
    return ScoreModel(
        problem=problem,
        features=features,
        members=members,
        parameters=parameters,
        drawn=_drawn(fit, parameters, problem),
    )


def _features(problem: Problem) -> FloatArray:
    """Normal scores of the ranks, and their excess over each knot (n, 1 + knots)."""
    places = np.empty(problem.n)
    places[problem.best_first] = np.arange(problem.n)
    normal = scipy.special.ndtri(1.0 - (places + 0.5) / problem.n)
    return np.stack([normal, *(np.maximum(normal - knot, 0.0) for knot in KNOTS)], axis=1)


def _members(cells: TrueCells) -> FloatArray:
    levels = cells.levels()
    return np.concatenate([np.eye(size)[levels[:, axis]] for axis, size in enumerate(cells.shape)], axis=1)


class _Fit:
    """The likelihood and its prior as functions of the parameters."""

    def __init__(self, problem: Problem, evidence: Evidence, members: FloatArray) -> None:
        self.evidence, self.members = evidence, members
        slopes = members.shape[1] * evidence.features.shape[1]
        self._centre = np.concatenate([_independent_logits(problem), np.zeros(slopes)])
        self._precision = np.concatenate([np.full(len(members), CELL_PRECISION), np.full(slopes, SLOPE_PRECISION)])

    def mode(self, matrices: Matrices) -> FloatArray:
        """The parameters of the largest posterior density."""
        from scipy.optimize import minimize

        scale = self._scale()

        def objective(steps: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self._objective(self._centre + scale @ steps, matrices)
            return value, scale.T @ gradient

        found = minimize(
            objective,
            np.zeros(self._centre.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": LARGEST_ITERATIONS, "maxcor": 30},
        )
        parameters: FloatArray = self._centre + scale @ found.x
        return parameters

    def _scale(self) -> Any:
        """A matrix (P, P) of steps in which the objective curves alike in all directions, as it would if true cells were
        seen: a search of so many unequal parameters takes five times the steps."""
        from scipy.linalg import solve_triangular
        from scipy.sparse import diags_array

        prior = prior_of(self.evidence.features, self.members, self._centre)
        if len(self.members) > LARGEST_INFORMED_CELLS:
            return diags_array(np.ones(self._centre.size))
        curvature = complete_information(self.evidence, prior, self.members) + np.diag(self._precision)
        root = np.linalg.cholesky(curvature)
        found: FloatArray = solve_triangular(root, np.eye(len(root)), lower=True, trans="T")
        return found

    def gradients(self, parameters: FloatArray, matrices: Matrices, draws: int) -> FloatArray:
        """Of the log posterior density (draws, P), for draws of matrices."""
        prior = self._prior(parameters)
        expected, _ = self.evidence.expected(np.broadcast_to(prior, (draws, *prior.shape)), matrices)
        return self._gradient(expected, prior, parameters)

    def curvature(self, parameters: FloatArray, matrices: Matrices) -> FloatArray:
        """The information matrix (P, P) of likelihood and prior."""
        prior = prior_of(self.evidence.features, self.members, parameters)
        return self.evidence.information(prior, matrices, self.members) + np.diag(self._precision)

    def _objective(self, parameters: FloatArray, matrices: Matrices) -> tuple[float, FloatArray]:
        """Minus the log posterior density, and its gradient."""
        prior = self._prior(parameters)
        expected, values = self.evidence.expected(prior[None], matrices)
        penalty = 0.5 * float(np.sum(self._precision * (parameters - self._centre) ** 2))
        return penalty - float(values[0]), -self._gradient(expected, prior, parameters)[0]

    def _prior(self, parameters: FloatArray) -> FloatArray:
        """P(g | s) (G, R) of the bins."""
        return np.ascontiguousarray(prior_of(self.evidence.features, self.members, parameters).T)

    def _gradient(self, expected: FloatArray, prior: FloatArray, parameters: FloatArray) -> FloatArray:
        """Of the log posterior density (B, P), from the expected items (B, G, R) of each cell."""
        residual = expected - self.evidence.sizes * prior
        slopes = (self.members.T @ residual) @ self.evidence.features
        found = np.concatenate([residual.sum(axis=2), slopes.reshape(len(slopes), -1)], axis=1)
        return found - self._precision * (parameters - self._centre)


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


def _drawn(fit: _Fit, parameters: FloatArray, problem: Problem) -> FloatArray:
    """Parameters (DRAWS, P) that might be the true ones."""
    from scipy.linalg import solve_triangular

    if len(fit.members) > LARGEST_INFORMED_CELLS:
        return np.broadcast_to(parameters, (DRAWS, parameters.size))
    curvature = fit.curvature(parameters, as_known(problem))
    smallest = SMALLEST_CURVATURE * float(np.trace(curvature)) / len(curvature)
    root = np.linalg.cholesky(curvature + smallest * np.eye(len(curvature)))
    normal = np.random.default_rng(parameters.size).standard_normal((parameters.size, DRAWS))
    moved = parameters[:, None] + solve_triangular(root, normal, lower=True, trans="T")
    if confusions_of(problem).items.drawn:
        gradients = np.concatenate(
            [
                fit.gradients(parameters, drawn_matrices(problem, block), block.stop - block.start)
                for block in _blocks_of_draws(fit.evidence.sizes.size * len(fit.members))
            ]
        )
        steps = solve_triangular(root, gradients.T, lower=True)
        moved += solve_triangular(root, steps, lower=True, trans="T")
    draws: FloatArray = moved.T
    return draws


def drawn_matrices(problem: Problem, draws: slice) -> Matrices:
    """The confusions of the items: draws (B, L, L) of those that are estimated, and the others as they are known."""
    drawn = confusions_of(problem).items.drawn
    return {**as_known(problem), **{axis: one[draws] for axis, one in drawn.items()}}


def _blocks_of_draws(size: int) -> Iterator[slice]:
    """All draws, as many at once as numbers of this size of each fit a processor's cache."""
    step = max(1, CACHED_BLOCK // size)
    return (slice(start, min(start + step, DRAWS)) for start in range(0, DRAWS, step))


def _normalised(joint: FloatArray) -> FloatArray:
    found: FloatArray = joint / np.maximum(joint.sum(axis=1, keepdims=True), SMALLEST)
    return found
