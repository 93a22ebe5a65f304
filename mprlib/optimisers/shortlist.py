"""The items among which sets over embeddings are searched, with the products of their features.

Products are what a search costs: of 2,000 items in 512 dimensions they take as long as thousands of swaps. From one rho
to the next most items stay, and so do their products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import IntArray
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.cell_pool import CellPool

if TYPE_CHECKING:
    from mprlib.optimisers.item_swap_kernel import Shortlist as Listed


class Shortlist:
    """Items (C,) of a reduced pool, in no order; `listed`: what compiled loops read of them."""

    def __init__(self, pool: CellPool, ball: BallRegion) -> None:
        self._pool, self._ball = pool, ball
        self.items: IntArray = np.zeros(0, dtype=np.intp)
        self.listed: Listed | None = None

    def renew(self, items: IntArray) -> Listed:
        """List other items (C,), at least two."""
        from mprlib.optimisers import item_swap_kernel as kernel

        stay = np.flatnonzero(np.isin(self.items, items))
        kept, products = self.items[stay], np.empty((items.size, items.size))
        if self.listed is not None:
            kernel.gather(self.listed.products, stay.astype(np.int64), products)
        self.items = np.concatenate([kept, np.setdiff1d(items, kept)])
        self._ball.complete(self._pool.cell[self.items], kept.size, products)
        self.listed = kernel.Shortlist(self._pool.scores[self.items], np.diagonal(products).copy(), products)
        return self.listed

    def places(self, items: IntArray) -> IntArray:
        """The places (c,) in the list of items that are in it."""
        order = np.argsort(self.items)
        places: IntArray = order[np.searchsorted(self.items, items, sorter=order)].astype(np.int64)
        return places
