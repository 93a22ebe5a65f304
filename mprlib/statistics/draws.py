"""Resamples of what was drawn for one problem, over the problem's cells: the reference, and items that are draws.

The saturated class and trees weigh each cell by 1/N_g, and N_g counts the sample's own rows: a cell that the
sample drew too rarely weighs more. With few rows a cell, a resample at fixed N does not show that
(coverage fell to 82% with 8 rows a cell). So there N is taken from the resample, and resamples are
drawn from shares with one row added to each cell (Laplace), since a cell that the sample missed
would otherwise never vary. **Deviation** from the simpler rule of a fixed N for all classes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by
from mprlib.cells import cells_of
from mprlib.problem import Problem
from mprlib.statistics.resampling import (
    LARGEST_BLOCK,
    Resamples,
    drawn_counts,
    is_drawn_in_cells,
    resampled,
    smoothed,
)

T = TypeVar("T")

# Draws added to few items before they are resampled, shared among the cells: ten of ten men would not vary at all
# (Agresti and Coull 1998, for two cells).
ADDED_DRAWS = 4.0
# Entries of resamples that a problem keeps for its other classes, 8 MB.
LARGEST_KEPT = 1_000_000


class Block(NamedTuple):
    """Resamples that are drawn together, from one seed."""

    resamples: int
    seed: tuple[int, int]


class Draws:
    """Resamples of a problem's reference over the problem's cells, in blocks that fit memory.

    drawn: resamples of the reference that are at hand, at least as many as are asked for.
    items: (k,) items that are independent draws themselves; None where what is shown is fixed.
    """

    def __init__(
        self, problem: Problem, resamples: int, seed: int, drawn: Resamples | None = None, items: IntArray | None = None
    ) -> None:
        self._problem, self._cells, self._reference = problem, cells_of(problem), problem.population
        self._resamples, self._seed, self._drawn, self._items = resamples, seed, drawn, items
        # Who asks about items of their own error asks about a reference without any, too.
        self._is_fixed = items is not None and not self._reference.is_sample

    def first(self, most: int) -> Draws:
        """No more than so many of them."""
        return Draws(self._problem, min(self._resamples, most), self._seed, self._drawn, self._items)

    @property
    def variance(self) -> float:
        """1 / m, and 1 / k where the items are draws: how many draws each of the two means is of."""
        of_reference = 0.0 if self._is_fixed else 1.0 / self._problem.m
        if self._items is None:
            return of_reference
        weights = self._problem.place_weights
        return of_reference + (1.0 / self._items.size if weights is None else float(weights @ weights))

    def blocks(self) -> Iterator[Block]:
        """All resamples; those that are at hand are one block."""
        size = self._resamples if self._drawn is not None else max(1, LARGEST_BLOCK // self._cells.size)
        for start in range(0, self._resamples, size):
            yield Block(min(size, self._resamples - start), (self._seed, start))

    def kept(self, what: Hashable, build: Callable[[], T]) -> T:
        """What `build` makes, computed once for all problems with these cells and these resamples, where they are at
        hand: it must follow from them, from their reference and from `what`."""
        shared = self._shared
        if shared is None:
            return build()
        cells = self._cells
        key = (what, self._resamples, cells.size, cells.reference_cell.tobytes())
        return shared.kept.get(key, build)

    def moved(self, block: Block) -> FloatArray:
        """What resamples have more (count, G) of each cell than what they were drawn from."""
        return self.kept(
            ("moved", block), lambda: self._plain(block) - self._cells.reference_shares - self._of_items(block)
        )

    def moved_and_masses(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """The same for classes that weigh cells by their rows, with the masses N (count, G) of the resamples."""
        if self._shared is None or not self._is_of_reference:
            moved, rows = self._moved_and_rows(block)
            return moved, self._cells.pool_counts + rows
        moved = self.kept(("smoothed", block), lambda: self._moved_and_rows(block)[0])
        rows = self.kept(("rows", block), lambda: self._moved_and_rows(block)[1])
        return moved, self._cells.pool_counts + rows

    def _moved_and_rows(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """What they moved, and how many rows of the reference each cell of a resample has (count, G)."""
        shares, drawn = self._smoothed(block)
        return drawn - shares - self._of_items(block), self._problem.m * drawn

    @property
    def _shared(self) -> Resamples | None:
        """The resamples that other problems ask for too; none where items are draws of their own."""
        return self._drawn if self._items is None else None

    @property
    def _is_of_reference(self) -> bool:
        """Whether what is drawn for classes that weigh cells does not depend on the pool: no cell is its alone."""
        is_as_drawn = self._is_fixed or not is_drawn_in_cells(self._reference)
        return is_as_drawn or self._reference.counts.size == self._cells.size

    def _of_items(self, block: Block) -> FloatArray | float:
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

    def _plain(self, block: Block) -> FloatArray:
        """Cell shares (count, G) of resamples."""
        if self._is_fixed:
            return self._cells.reference_shares[None, :]
        own = self._of_reference(block, False) if self._drawn is None else self._drawn.plain[: block.resamples]
        return self._placed(own)

    def _smoothed(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """Reference shares (G,) with one row more in each cell, and resamples (count, G) of them; weighted rows as they
        are."""
        if self._is_fixed or not is_drawn_in_cells(self._reference):
            return self._cells.reference_shares, self._plain(block)
        if self._reference.counts.size == self._cells.size:
            at_hand = None if self._drawn is None else self._drawn.smoothed[: block.resamples]
            drawn = self._of_reference(block, True) if at_hand is None else at_hand
            return self._placed(smoothed(self._reference.effective_counts)[None, :])[0], self._placed(drawn)
        # Cells of the pool alone could be in a resample as well: they are this problem's own.
        shares = smoothed(self._cells.masses - self._cells.pool_counts)
        return shares, drawn_counts(self._reference, shares, block.resamples, np.random.default_rng(block.seed))

    def _of_reference(self, block: Block, is_smoothed: bool) -> FloatArray:
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
