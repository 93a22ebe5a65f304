"""MPR +- t: the reference's sampling error, for all selections at once.

For any selection, |MPR against the sample - MPR against the population| is at most

    sup over c in C of | sum_g (q_g - Q_g) c_g |,

with q the sample's shares and Q the population's. t is the (1 - delta) quantile of that distance
with a resample q* in the place of q, and q in the place of Q. Since the distance does not look at
the selection, one t serves every selection of the pool, optimised ones included.

The saturated class weighs each cell by 1/N_g, and N_g counts the sample's own rows: a cell that the
sample drew too rarely weighs more. With few rows a cell, a resample at fixed N does not show that
(coverage fell to 82% with 8 rows a cell). So there N is taken from the resample, and resamples are
drawn from shares with one row added to each cell (Laplace), since a cell that the sample missed
would otherwise never vary. **Deviation** from the simpler rule of a fixed N for all classes.

Items that are themselves independent draws, such as the pictures that a generator made for a prompt,
have a sampling error of their own: with p their shares and P those of all that it would make, the
distance is that of (p - P) - (q - Q), resampled on both sides. It is then about those items alone,
and no longer about all selections.

A percentile bootstrap of MPR itself does not do: MPR is a norm, resampling inflates it, and near
zero the whole interval is above the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray, sums_by
from mprlib.assumptions import warn_of_assumption
from mprlib.attention import UNIFORM, AnyAttention, attended
from mprlib.cells import cells_of
from mprlib.declarations import strict
from mprlib.errors import InputError
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.problem import Problem
from mprlib.registry import function_class as registered
from mprlib.settings import PROBABILITY, SEED, Whole
from mprlib.statistics.resampling import (
    LARGEST_BLOCK,
    RESAMPLES,
    Resamples,
    drawn_counts,
    is_drawn_in_cells,
    resampled,
    smoothed,
)

# Draws added to few items before they are resampled, shared among the cells: ten of ten men would not vary at all
# (Agresti and Coull 1998, for two cells).
ADDED_DRAWS = 4.0
# Entries of resamples that a problem keeps for its other classes, 8 MB.
LARGEST_KEPT = 1_000_000


@strict
def sampling_margin(
    problem: Problem,
    function_class: str | FunctionClass = "linear",
    *,
    confidence: Annotated[float, PROBABILITY] = 0.95,
    resamples: Annotated[int, Whole(least=1)] = RESAMPLES,
    seed: Annotated[int, SEED] = 0,
    drawn: Resamples | None = None,
    items: ArrayLike | None = None,
    attention: AnyAttention = UNIFORM,
) -> float:
    """t such that MPR +- t covers the MPR against the whole population, in the class's own units.

    Meant for references that are samples; balanced and stated shares have no sampling error.
    Classes without a closed form
    (trees, networks, forests) take a larger t that holds for all functions: saturated's, or for
    {-1, +1} functions sum |q* - q|; it covers the class's MPR, which a heuristic oracle's value
    may miss by more. A kernel on continuous labels takes the bound that its values allow.
    drawn: resamples of the problem's reference that are at hand, `Resamples.drawn(problem.population, resamples,
    [seed, 0])`, in the place of drawing the same anew. attention: of the selections' places.

    items: (k,) items that are independent draws themselves, a generator's pictures and not what was retrieved: the
    margin holds their error too, and the reference's only where it is a sample.

    Returns: t >= 0; never more than needed to cover every value the class can take.
    Raises:  InputError for a confidence outside (0, 1), fewer than 1 resample, or items that are not k of the pool.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> from mprlib.statistics import sampling_margin
    >>> round(sampling_margin(problem, "groups"), 2)
    0.5
    """
    chosen = registered(function_class)
    problem = attended(problem, attention)
    warn_of_assumption(problem, "the margin depends")
    shown = None if items is None else _expected_items(problem, items)
    draws = _Draws(problem, resamples, seed, drawn, shown)
    if drawn is not None:
        # Of the caller's resamples, which another call may not have.
        return _margin(problem, chosen, confidence, draws)
    key = ("margin", chosen, confidence, resamples, seed, None if shown is None else shown.tobytes())
    return problem.cached(key, lambda: _margin(problem, chosen, confidence, draws))


def _expected_items(problem: Problem, items: ArrayLike) -> IntArray:
    shown = problem.checked_items(items)
    if shown.size != problem.k:
        raise InputError(f"items has {shown.size} positions: k is {problem.k}")
    return shown


def _margin(problem: Problem, chosen: FunctionClass, confidence: float, draws: _Draws) -> float:
    oracle = chosen.bind(problem)
    if isinstance(oracle, KernelOracle):
        # Gretton et al. 2012: the mean embedding's error has a mean of at most sqrt(kappa / m), and
        # one row moves it by 2 sqrt(kappa) / m (McDiarmid). A resample would cost all pairs of rows.
        spread = oracle.largest_square * draws.variance
        return float(np.sqrt(spread) * (1.0 + np.sqrt(2.0 * np.log(1.0 / (1.0 - confidence)))))
    distances = np.concatenate([_distances(problem, chosen, draws, block) for block in draws.blocks()])
    margin = float(np.quantile(distances, confidence, method="higher"))
    # Under C' MPR is in [0, 1], and so does any difference of two.
    return min(margin, 1.0) if chosen.is_normalised else margin


def _distances(problem: Problem, chosen: FunctionClass, draws: _Draws, block: _Block) -> FloatArray:
    """The distance (count,) of each resample from what it was drawn from, as the class sees it."""
    cells, oracle = cells_of(problem), chosen.bind(problem)
    if isinstance(oracle, (Ball, GroupsOracle)):
        return closed_form_gaps(oracle, draws.plain(block) - cells.reference_shares - draws.of_items(block))
    if not chosen.is_normalised:
        moved = draws.plain(block) - cells.reference_shares - draws.of_items(block)
        distances: FloatArray = np.abs(moved).sum(axis=1)
        return distances
    shares, drawn = draws.smoothed(block)
    masses = cells.pool_counts + problem.m * drawn
    moved = drawn - shares - draws.of_items(block)
    squares = np.divide(moved**2, masses, out=np.zeros_like(moved), where=masses > 0)
    values: FloatArray = np.sqrt(problem.scale * squares.sum(axis=1))
    return values


class _Block(NamedTuple):
    """Resamples that are drawn together, from one seed."""

    resamples: int
    seed: tuple[int, int]


class _Draws:
    """Resamples of a problem's reference over the problem's cells, in blocks that fit memory."""

    def __init__(
        self, problem: Problem, resamples: int, seed: int, drawn: Resamples | None, items: IntArray | None
    ) -> None:
        self._problem, self._cells, self._reference = problem, cells_of(problem), problem.population
        self._resamples, self._seed, self._drawn, self._items = resamples, seed, drawn, items
        # Who asks about items of their own error asks about a reference without any, too.
        self._is_fixed = items is not None and not self._reference.is_sample

    @property
    def variance(self) -> float:
        """1 / m, and 1 / k where the items are draws: how many draws each of the two means is of."""
        of_reference = 0.0 if self._is_fixed else 1.0 / self._problem.m
        if self._items is None:
            return of_reference
        weights = self._problem.place_weights
        return of_reference + (1.0 / self._items.size if weights is None else float(weights @ weights))

    def of_items(self, block: _Block) -> FloatArray | float:
        """What resamples of the items have more (count, G) of each cell than the items; 0 where they are fixed."""
        if self._items is None:
            return 0.0
        k, cells = self._items.size, self._cells
        counts = np.bincount(cells.pool_cell[self._items], minlength=cells.size)
        shares = (counts + ADDED_DRAWS / cells.size) / (k + ADDED_DRAWS)
        random, weights = np.random.default_rng((*block.seed, k)), self._problem.place_weights
        if weights is None:
            found: FloatArray = random.multinomial(k, shares / shares.sum(), size=block.resamples) / k - shares
            return found
        cell = random.choice(cells.size, (block.resamples, k), p=shares / shares.sum())
        row = np.arange(block.resamples)[:, None]
        total = np.broadcast_to(weights, cell.shape).ravel()
        drawn = sums_by((row * cells.size + cell).ravel(), total, block.resamples * cells.size)
        weighed: FloatArray = drawn.reshape(block.resamples, cells.size) - shares
        return weighed

    def blocks(self) -> Iterator[_Block]:
        """All resamples; those that are at hand are one block."""
        size = self._resamples if self._drawn is not None else max(1, LARGEST_BLOCK // self._cells.size)
        for start in range(0, self._resamples, size):
            yield _Block(min(size, self._resamples - start), (self._seed, start))

    def plain(self, block: _Block) -> FloatArray:
        """Cell shares (count, G) of resamples."""
        if self._is_fixed:
            return self._cells.reference_shares[None, :]
        return self._placed(self._of_reference(block, False) if self._drawn is None else self._drawn.plain)

    def smoothed(self, block: _Block) -> tuple[FloatArray, FloatArray]:
        """Reference shares (G,) with one row more in each cell, and resamples (count, G) of them; weighted rows as they
        are."""
        if self._is_fixed or not is_drawn_in_cells(self._reference):
            return self._cells.reference_shares, self.plain(block)
        if self._reference.counts.size == self._cells.size:
            drawn = self._of_reference(block, True) if self._drawn is None else self._drawn.smoothed
            return self._placed(smoothed(self._reference.effective_counts)[None, :])[0], self._placed(drawn)
        # Cells of the pool alone could be in a resample as well: they are this problem's own.
        shares = smoothed(self._cells.masses - self._cells.pool_counts)
        return shares, drawn_counts(self._reference, shares, block.resamples, np.random.default_rng(block.seed))

    def _of_reference(self, block: _Block, is_smoothed: bool) -> FloatArray:
        def draw() -> FloatArray:
            return resampled(self._reference, block.resamples, block.seed, is_smoothed=is_smoothed)

        if block.resamples * self._cells.size > LARGEST_KEPT:
            return draw()
        return self._problem.cached(("resamples", block, is_smoothed), draw)

    def _placed(self, of_reference: FloatArray) -> FloatArray:
        """Columns of the reference's cells as columns of the problem's."""
        places, size = self._cells.reference_cell, self._cells.size
        if np.array_equal(places, np.arange(size)):
            return of_reference
        placed = np.zeros((len(of_reference), size))
        placed[:, places[places >= 0]] = of_reference[:, places >= 0]
        return placed
