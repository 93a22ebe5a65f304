"""How the true cells of a pool's items depend on their scores, fitted from labels with errors.

The probability of a true cell g at the score s is

    P(g | s) proportional to exp(alpha_g + sum over axes of beta_{level of g} . f(s)),

with f the normal score of the item's rank, and how far it is above each of some knots. Above the median the knots are
where half of the items, a quarter, an eighth and so on are left, so that whatever the scores' distribution is, what
selections are made of is fitted by itself. So the logarithms of the odds of two cells are broken lines. How much they
bend is estimated for each attribute: changes of slope are normal with a variance of which the data decide (the
evidence's fixed point, MacKay 1992), close to a line where scores are normal within groups, and free where they are
skewed or bounded. A level may also have no items outside of a stretch of the order of scores
(`mprlib.label_errors.score_ends`): what follows is then the mean over what such ends may be. What is seen of an item is
P(label | s) = sum_g P(g | s) T[g, label]; alpha and beta maximise the likelihood of all labels of the pool, with these
priors (a posterior mode). Then

    tau_i(g) = P(g | s_i, label_i) proportional to P(g | s_i) T[g, label_i]

are the probabilities of the true cells of item i. They hold for every selection that was made by looking at scores and
labels, since the items that were chosen are then like those of the same score and label that were not.

Draws of the parameters hold their own sampling error (the curvature of the likelihood) and that of the confusions: for
each draw of those a few steps of Newton's method fit the parameters anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray
from mprlib.label_errors.confusions import DRAWS, Matrices, confusions_of
from mprlib.label_errors.evidence import (
    SMALLEST,
    as_known,
    evidence_of,
    likelihood,
    likelihood_by_axis,
    of_cells,
)
from mprlib.label_errors.given_probabilities import as_given
from mprlib.label_errors.score_ends import Curved, drawn_stretches, with_clear_ends
from mprlib.label_errors.score_fit import LARGEST_INFORMED_CELLS, Fit, cells_within, prior_of, whole
from mprlib.label_errors.true_cells import TrueCells, error_of, true_cells
from mprlib.pool_order import ranks
from mprlib.problem import Problem

# Times that the variance of the slopes' changes is estimated anew; it hardly moves after that.
VARIANCE_ROUNDS = 2
# Items above the knots: these parts of them at the lowest, then a half of those, of these and so on, and at the
# highest at least as many as say what this many would with labels that are right: errors of shares are stretched by the
# condition of the confusion.
LARGEST_PARTS, FEWEST_ABOVE = (0.95, 0.84, 0.5), 16
# Draws of the true labels of a selection: as many of each draw of the parameters.
OWN_DRAWS = 3 * DRAWS
# Numbers that are worked on at once where draws are many: 1 MB.
CACHED_BLOCK = 125_000
# Items whose probabilities are worked on at once, by cells: 16 MB.
LARGEST_BLOCK = 2_000_000


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Mode:
    """Stretches (2, levels) of the order of scores that levels are within, the most probable parameters (P,) under
    them, and the share of draws that have them."""

    stretches: IntArray
    parameters: FloatArray
    weight: float


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ScoreModel:
    """Fitted probabilities of true cells.

    Shapes:  features (n, F) of the items' scores; places (n,) of the items in their order; members (G, levels), 1
             where a cell has a level of some axis; modes, what is most probable under each combination of ends; drawn
             (DRAWS, P) parameters, with stretches (DRAWS, 2, levels); shares (G,), expected ones of the whole pool.
    """

    problem: Problem
    features: FloatArray
    places: IntArray
    members: FloatArray
    modes: tuple[Mode, ...]
    drawn: FloatArray
    stretches: IntArray
    shares: FloatArray

    def posterior(self, items: IntArray) -> FloatArray:
        """tau (a, G) of some items."""
        block = max(1, LARGEST_BLOCK // len(self.members))
        return np.concatenate([self._posterior(part) for part in np.split(items, np.arange(block, items.size, block))])

    def _posterior(self, items: IntArray) -> FloatArray:
        seen = likelihood(self.problem, items, as_known(self.problem))
        found = np.zeros(seen.shape)
        for mode in self.modes:
            is_possible = cells_within(self.places[items], self.members, mode.stretches)
            prior = prior_of(self.features[items], self.members, mode.parameters, is_possible)
            found += mode.weight * _normalised(as_given(self.problem, items, prior * seen))
        return found

    def drawn_shares(self, items: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean tau (DRAWS, G) of some items under each draw of parameters and confusions, and shares (OWN_DRAWS, G) of
        true cells that are drawn from tau of the first draw, of the second, and so on, and of the first again."""
        cells, times = len(self.members), OWN_DRAWS // DRAWS
        means, shares = np.zeros((DRAWS, cells)), np.zeros((times, DRAWS, cells))
        random = np.random.default_rng([OWN_DRAWS, items.size])
        for block in _blocks_of_draws(items.size * cells):
            odds, factors = self._odds(items, self.drawn[block], self.stretches[block])
            seen = likelihood_by_axis(self.problem, items, drawn_matrices(self.problem, block))
            joint = of_cells([own * one for own, one in zip(factors, seen)]) * odds[:, None, :]
            ends = np.cumsum(as_given(self.problem, items, joint), axis=2)
            ends /= np.maximum(ends[:, :, -1:], SMALLEST)
            means[block] = np.diff(ends.mean(axis=1), axis=1, prepend=0.0)
            shares[:, block] = _shares_drawn_from(ends, times, random)
        return means, shares.reshape(OWN_DRAWS, cells)

    def _odds(
        self, items: IntArray, parameters: FloatArray, stretches: IntArray
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Draws (B, P) of parameters and (B, 2, levels) of stretches as odds (B, G) of the cells, and factors (B, a, L)
        of those by axis at the items' scores; each up to a factor."""
        cells = len(self.members)
        logits = parameters[:, :cells]
        slopes = parameters[:, cells:].reshape(len(parameters), self.members.shape[1], -1)
        grown = self.features[items] @ np.swapaxes(slopes, 1, 2)
        places = self.places[items][:, None]
        grown[(places < stretches[:, :1]) | (places >= stretches[:, 1:])] = -np.inf
        ends = np.cumsum(true_cells(self.problem).shape)[:-1]
        factors = [np.exp(one - one.max(axis=-1, keepdims=True)) for one in np.split(grown, ends, axis=-1)]
        return np.exp(logits - logits.max(axis=1, keepdims=True)), factors


def score_model(problem: Problem) -> ScoreModel:
    """The model of a problem's pool, fitted once."""
    return problem.cached("score model", lambda: _fitted(problem))


def _fitted(problem: Problem) -> ScoreModel:
    cells, features = true_cells(problem), _features(problem)
    members, matrices = _members(cells), as_known(problem)
    fit = Fit(problem, evidence_of(problem, features), members, matrices)
    parameters, unrooted = _adapted(fit, cells)
    stretches = whole(problem.n, members.shape[1])
    modes: tuple[Mode, ...] = (Mode(stretches=stretches, parameters=parameters, weight=1.0),)
    drawn: FloatArray = np.zeros((DRAWS, parameters.size))
    if unrooted is not None:
        stretches = with_clear_ends(problem, fit, parameters, unrooted)
        if not np.array_equal(stretches, modes[0].stretches):
            fit = Fit(problem, fit.evidence, members, matrices).within(stretches)
            parameters, unrooted = _adapted(fit, cells)
        assert unrooted is not None
        curved = Curved(fit=fit, parameters=parameters, inverse=unrooted @ unrooted.T)
        modes = tuple(_modes(curved, drawn_stretches(problem, curved, stretches)))
        drawn = _drawn(curved, unrooted, problem)
    places = np.searchsorted(np.cumsum([mode.weight for mode in modes]), (np.arange(DRAWS) + 0.5) / DRAWS)
    centres = np.array([mode.parameters for mode in modes])[places]
    expected = [mode.weight * fit.within(mode.stretches).expected_items(mode.parameters) for mode in modes]
    model = ScoreModel(
        problem=problem,
        features=features,
        places=ranks(problem.best_first),
        members=members,
        modes=modes,
        drawn=centres + drawn,
        stretches=np.array([mode.stretches for mode in modes])[places],
        shares=np.sum(expected, axis=0) / problem.n,
    )
    if not error_of(problem).probabilities:
        return model
    return replace(model, shares=model.posterior(np.arange(problem.n)).mean(axis=0))


def _modes(curved: Curved, drawn: IntArray) -> Iterator[Mode]:
    """The different ones of drawn stretches (C, 2, levels), each with its share of those that leave every item a cell;
    where none does, what was drawn around."""
    is_possible = np.array([curved.fit.within(one).is_possible for one in drawn])
    if not is_possible.any():
        drawn, is_possible = drawn.min(axis=0, keepdims=True), np.array([True])
    different, counts = np.unique(drawn[is_possible], axis=0, return_counts=True)
    for stretches, count in zip(different, counts):
        yield Mode(stretches=stretches, parameters=curved.mode(stretches), weight=float(count) / int(counts.sum()))


def _adapted(fit: Fit, cells: TrueCells) -> tuple[FloatArray, FloatArray | None]:
    """The mode under the variances that the data suggest, and the transposed inverse (P, P) of a root of the curvature
    near it; None for too many cells."""
    parameters, unrooted = fit.mode(), None
    for _ in range(VARIANCE_ROUNDS if cells.size <= LARGEST_INFORMED_CELLS else 0):
        information = fit.information(parameters)
        fit.adapt(parameters, information, cells.shape)
        unrooted = fit.unrooted(information)
        parameters = fit.mode(parameters, unrooted)
    return parameters, unrooted


def _features(problem: Problem) -> FloatArray:
    """Normal scores of the ranks, and their excess over each knot (n, 1 + knots)."""
    normal = scipy.special.ndtri(1.0 - (ranks(problem.best_first) + 0.5) / problem.n)
    stretched = max((one.condition for one in error_of(problem).items.values()), default=1.0)
    parts = list(LARGEST_PARTS)
    while parts[-1] * problem.n >= 2 * FEWEST_ABOVE * stretched**2:
        parts.append(parts[-1] / 2.0)
    knots = scipy.special.ndtri(1.0 - np.array(parts))
    return np.stack([normal, *(np.maximum(normal - knot, 0.0) for knot in knots)], axis=1)


def _members(cells: TrueCells) -> FloatArray:
    levels = cells.levels()
    return np.concatenate([np.eye(size)[levels[:, axis]] for axis, size in enumerate(cells.shape)], axis=1)


def _drawn(curved: Curved, unrooted: FloatArray, problem: Problem) -> FloatArray:
    """How far parameters (DRAWS, P) might be off."""
    fit, size = curved.fit, curved.parameters.size
    moved: FloatArray = (unrooted @ np.random.default_rng(size).standard_normal((size, DRAWS))).T
    if confusions_of(problem).items.drawn:
        for block in _blocks_of_draws(fit.evidence.sizes.size * len(fit.members)):
            matrices, draws = drawn_matrices(problem, block), block.stop - block.start
            moved[block] += fit.refitted(curved.parameters, curved.inverse, matrices, draws) - curved.parameters
    return moved


def _shares_drawn_from(ends: FloatArray, times: int, random: np.random.Generator) -> FloatArray:
    """Shares (times, B, G) of cells drawn for each item from the probabilities with these cumulated sums (B, a, G)."""
    draws, items, cells = ends.shape
    # One search in all cumulated sums, each item's a whole number above those of the one before.
    places = np.arange(draws * items).reshape(draws, items)
    drawn = places + random.random((times, draws, items))
    found = np.searchsorted((ends.reshape(-1, cells) + places.reshape(-1, 1)).ravel(), drawn, side="right")
    rows = np.arange(times * draws).reshape(times, draws, 1)
    own = np.clip(found - places * cells, 0, cells - 1) + rows * cells
    counts = np.bincount(own.ravel(), minlength=times * draws * cells)
    shares: FloatArray = counts.reshape(times, draws, cells) / items
    return shares


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
