"""Estimated true shares of a selection and of the reference, with draws of how far off they are.

Two estimates, for two kinds of selections:

by the inverse (`by_inverse`)   for items that were chosen without looking at their labels: by score, by vectors, by
                                somebody else. Given the true labels, the shares of predicted cells are p T on average,
                                so that p~ T^-1 is right on average, whatever the scores say. Only where no item was
                                labelled by hand: those that were are often chosen by the labels that they had.
by the score (`by_score`)       for items whose labels were looked at when they were chosen: an optimiser takes those
                                that are wrong in its favour, and the inverse is off by as much. The mean of
                                tau_i = P(true cell | label, score) is right (`mprlib.label_errors.score_model`).

`own` is what the true shares of these very items may differ by, given what is seen of them and all that is
estimated (their labels are drawn from tau); `error` is what the estimate may be off by: the label noise of the
inverse, the confusions' sampling error, the model's, and the reference's. An inverse has no `own`: given the true
labels, which do not vary, only the predicted ones do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by
from mprlib.cells import cells_of
from mprlib.label_errors.confusions import DRAWS, Matrices, confusions_of, inverse
from mprlib.label_errors.score_model import drawn_matrices, score_model
from mprlib.label_errors.true_cells import along, true_cells
from mprlib.problem import Problem
from mprlib.shrinkage import errors_in_cells


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Estimate:
    """Shares (G,) of the true cells; own, None for an inverse, and error (DRAWS, G), both of mean about 0.

    own (a multiple of DRAWS, G): a row's true labels are drawn from tau under the parameters of the error that it comes
    to stand beside where errors are repeated, so that shares and both together are shares of whole items.
    """

    shares: FloatArray
    own: FloatArray | None
    error: FloatArray


def by_score(problem: Problem, items: IntArray) -> Estimate:
    """The shares of items that were chosen by scores and labels."""
    model = score_model(problem)
    shares = model.posterior(items).mean(axis=0)
    means, drawn = model.drawn_shares(items)
    return Estimate(shares=shares, own=drawn - np.tile(means, (len(drawn) // DRAWS, 1)), error=means - shares)


def by_inverse(problem: Problem, items: IntArray) -> Estimate:
    """The shares of items that were chosen without looking at their labels, none of which was labelled by hand."""
    cells, confusions = true_cells(problem), confusions_of(problem).items
    inverses, drawn = inverse(confusions.known), inverse(confusions.drawn)
    counts = np.bincount(cells.joint(cells.codes[items]), minlength=cells.size)[None, :] / items.size
    shares = along(counts, cells.shape, inverses)
    error = _label_noise(problem, score_model(problem).posterior(items), {**inverses, **drawn}) / items.size
    if drawn:
        exact = {axis: one for axis, one in inverses.items() if axis not in drawn}
        error += along(along(np.repeat(counts, DRAWS, axis=0), cells.shape, exact), cells.shape, drawn) - shares
    return Estimate(shares=shares[0], own=None, error=error)


def reference_estimate(problem: Problem) -> Estimate:
    """The shares of the population behind a problem's reference, estimated once."""
    return problem.cached("true reference", lambda: _reference(problem))


def reference_errors(problem: Problem) -> FloatArray:
    """What the reference's estimated shares (G,) are expected to have too much, given the sample.

    Labels' errors keep equal shares equal where all levels have the same, and independent attributes independent: the
    models of `mprlib.shrinkage` are fitted to the labels as they are, and the inverse is linear.
    """

    def build() -> FloatArray:
        cells, known = true_cells(problem), confusions_of(problem).reference.known
        if not problem.population.is_sample:
            return np.zeros(cells.size)
        seen = sums_by(cells.places, errors_in_cells(problem, cells_of(problem)), cells.size)
        errors: FloatArray = along(seen[None, :], cells.shape, inverse(known))[0]
        return errors

    return problem.cached("true reference errors", build)


def pool_shares(problem: Problem) -> FloatArray:
    """Estimated shares (G,) of the true cells in the whole pool, none of them negative."""
    return score_model(problem).shares


def _reference(problem: Problem) -> Estimate:
    cells, side, population = true_cells(problem), confusions_of(problem).reference, problem.population
    given = cells.reference_shares
    inverses, drawn = inverse(side.known), inverse(side.drawn)
    shares = along(given[None, :], cells.shape, inverses)[0]
    # People whose labels are predicted vary by that, also where they are no sample of others.
    is_varying = population.is_sample or (bool(side.known) and population.size is None)
    resampled = np.repeat(given[None, :], DRAWS, axis=0)
    if is_varying:
        rows = max(1, round(population.effective_size))
        resampled = np.random.default_rng(rows).multinomial(rows, given / given.sum(), size=DRAWS) / rows
    exact = {axis: one for axis, one in inverses.items() if axis not in drawn}
    sampling = along(resampled, cells.shape, inverses) - shares
    estimated = along(along(np.repeat(given[None, :], DRAWS, axis=0), cells.shape, exact), cells.shape, drawn) - shares
    return Estimate(shares=shares, own=None, error=sampling + estimated)


def _label_noise(problem: Problem, tau: FloatArray, inverses: Matrices) -> FloatArray:
    """How far sums (DRAWS, G) of inverse rows are from the sums of true cells, for labels drawn anew.

    The true cells are drawn from tau, and labels given them: only the labels' part of the variance is left. Where a
    confusion is estimated each draw has its own, for the labels and for their inverse: by one estimate that happens to
    be too good labels would vary too little.
    """
    cells, matrices = true_cells(problem), drawn_matrices(problem, slice(None))
    true = _drawn_cells(tau, DRAWS)
    predicted = _predicted(true, cells.shape, {axis: matrices[axis] for axis in inverses})
    return along(_counts(predicted, cells.size), cells.shape, inverses) - _counts(true, cells.size)


def _predicted(true: IntArray, shape: tuple[int, ...], matrices: Matrices) -> IntArray:
    """Predicted cells (B, a) of true ones; matrices (L, L), or (B, L, L) of draws."""
    random, draws = np.random.default_rng(true.size), np.arange(len(true))[:, None]
    codes = list(np.unravel_index(true, shape))
    for axis, matrix in matrices.items():
        cumulated = np.cumsum(matrix, axis=-1)[..., :-1]
        of_true = cumulated[codes[axis]] if matrix.ndim == 2 else cumulated[draws, codes[axis]]
        codes[axis] = (random.random(true.shape)[..., None] > of_true).sum(axis=-1)
    found: IntArray = np.ravel_multi_index(tuple(codes), shape)
    return found


def _drawn_cells(tau: FloatArray, draws: int) -> IntArray:
    """Cells (draws, a) of items with probabilities tau (a, G)."""
    random = np.random.default_rng([draws, len(tau)])
    cumulated = np.cumsum(tau, axis=1)
    uniform = random.random((draws, len(tau)))
    found = np.stack([np.searchsorted(own / own[-1], uniform[:, item]) for item, own in enumerate(cumulated)], axis=1)
    cells: IntArray = np.minimum(found, tau.shape[1] - 1)
    return cells


def _counts(cells: IntArray, size: int) -> FloatArray:
    """Counts (B, size) of the cells in each row (B, a)."""
    offset = np.arange(len(cells))[:, None] * size
    return np.bincount((cells + offset).ravel(), minlength=len(cells) * size).reshape(len(cells), size).astype(float)
