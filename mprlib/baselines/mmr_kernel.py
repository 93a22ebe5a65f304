"""Compiled loops of `mmr`: one lambda's distances to what is chosen, and between which bounds each item's merit is."""

from __future__ import annotations

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled

# How distances to the chosen items become one number.
MEAN, NEAREST, FARTHEST = 0, 1, 2


@compiled
def take(walked: FloatArray, column: FloatArray, square_error: float, root: float, spread: int) -> None:
    """One more chosen item: its distances (n,) go into the totals, and their errors into the totals' errors.

    walked (2, n): totals and errors. A distance r is off by at most square_error / max(r, root).
    """
    total, error = walked[0], walked[1]
    if spread == MEAN:
        for item in range(column.size):
            total[item] += column[item]
            error[item] += square_error / max(column[item], root)
        return
    for item in range(column.size):
        own = square_error / max(column[item], root)
        # The error of the nearest or farthest is at most the largest of all.
        error[item] = max(error[item], own)
        if spread == NEAREST:
            total[item] = min(total[item], column[item])
        else:
            total[item] = max(total[item], column[item])


@compiled
def bound(walked: FloatArray, relevance: FloatArray, share: float, rounding: tuple[float, float]) -> None:
    """Bounds of relevance + share * total: the lower ones into walked[2], the upper ones into walked[3].

    rounding: of a total, relative, and of the sum.
    """
    total, error, low, high = walked[0], walked[1], walked[2], walked[3]
    relative, absolute = rounding
    for item in range(relevance.size):
        merit = relevance[item] + share * total[item]
        doubt = share * (error[item] + relative * total[item]) + absolute
        low[item] = merit - doubt
        high[item] = merit + doubt
