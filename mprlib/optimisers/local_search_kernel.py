"""Compiled loops of `local_search`: the best of many moves, by what each gains and by the region's value after it."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


@compiled
def merit(gain: float, after: float, value: float, rho: float, penalty: float) -> float:
    """Gain in merit, in place of the gain in similarity; -inf for a move from inside rho to outside."""
    excess = max(after - rho, 0.0)
    if value <= rho:
        return -np.inf if excess > 0.0 else gain
    return gain - (excess - (value - rho)) * penalty


@compiled
def best_swap(
    after: FloatArray, gains: FloatArray, losses: FloatArray, value: float, rho: float, penalty: float
) -> tuple[int, int, float]:
    """The move between cells (c,) with the largest merit: the giving and the taking cell's place, and the merit.

    Shapes:  after (c, c), values after it; gains, losses (c,), of a cell's next and last item.
    """
    giving, taking, best = 0, 0, -np.inf
    for row in range(losses.size):
        for column in range(gains.size):
            own = merit(gains[column] - losses[row], after[row, column], value, rho, penalty)
            if row != column and own > best:
                giving, taking, best = row, column, own
    return giving, taking, best


@compiled
def best_pair(
    after: FloatArray,
    moves: tuple[IntArray, IntArray, FloatArray],
    value: float,
    rho: float,
    penalty: float,
) -> tuple[int, int, float]:
    """The same of two moves that share no cell, as marginal gains of others do not add up.

    moves: giving, taking (w,) and gain (w,); after (w, w).
    """
    giving, taking, gain = moves
    first, second, best = 0, 0, -np.inf
    for row in range(gain.size):
        for column in range(gain.size):
            if giving[row] == giving[column] or taking[row] == taking[column]:
                continue
            if giving[row] == taking[column] or taking[row] == giving[column]:
                continue
            own = merit(gain[row] + gain[column], after[row, column], value, rho, penalty)
            if own > best:
                first, second, best = row, column, own
    return first, second, best
