"""The dual prices of a ball in the coordinates of a decoder, and the loss of each cell's counts at them.

At prices z the distance of a set from the dual bound is a sum of non-negative terms,

    bound - similarity(x)  =  sum_g loss_g(x_g)  +  rho |z| - z.v,

so a set better than the incumbent by the gap has z.v >= rho |z| - gap: it lies in a cap of the ball.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.near_counts import margin_of
from mprlib.optimisers.relaxation import Relaxation

# What a second step may change of a solution of normal equations, relative: more says that columns nearly depend.
LARGEST_CHANGE = 1e-8


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class BallPrices:
    """Shapes:  direction (r,) = z, with z . M_g = price_g on all cells with items; loss (F, k + 1) of those cells,
    infinite above a cell's capacity. length = |z|, at least; bound: the dual bound at these prices.
    """

    direction: FloatArray
    length: float
    bound: float
    loss: FloatArray

    @classmethod
    def of(
        cls, relaxation: Relaxation, pool: CellPool, cells: IntArray, features: FloatArray, unit: float
    ) -> BallPrices:
        """From a relaxation; features (F, r) are those of the cells with items (F,), in the class's unit."""
        return cls(
            direction=direction_of(relaxation, cells, features, unit),
            length=relaxation.multiplier,
            bound=relaxation.bound,
            loss=losses(pool, relaxation.price, margin_of(relaxation, pool), cells),
        )


def direction_of(relaxation: Relaxation, cells: IntArray, features: FloatArray, unit: float) -> FloatArray:
    """z (r,) of the prices of cells with these features (F, r), in the class's unit."""
    if relaxation.direction is not None:
        return relaxation.direction * unit
    # Centred features depend on each other, as a rule.
    direction: FloatArray = np.linalg.lstsq(features, relaxation.price[cells], rcond=None)[0]
    return direction


def losses(pool: CellPool, price: FloatArray, margin: float, cells: IntArray) -> FloatArray:
    """What each count (F, k + 1) of some cells loses against the cell's best count at these prices and this margin."""
    from mprlib.optimisers.near_kernel import losses as found

    return found(pool.scores, pool.first, pool.capacity, price, margin, cells, pool.k)


def least_squares(system: FloatArray, target: FloatArray) -> FloatArray:
    """The solution of least squares of a system (rows, c) with few columns.

    By normal equations, whose error one more step for the residual takes away; where that leaves some, as it does where
    columns depend on each other, by singular values.
    """
    product = system.T @ system
    with suppress(np.linalg.LinAlgError):
        found = np.linalg.solve(product, system.T @ target)
        change = np.linalg.solve(product, system.T @ (target - system @ found))
        if np.abs(change).max(initial=0.0) <= LARGEST_CHANGE * np.abs(found).max(initial=0.0):
            solved: FloatArray = found + change
            return solved
    by_singular_values: FloatArray = np.linalg.lstsq(system, target, rcond=None)[0]
    return by_singular_values
