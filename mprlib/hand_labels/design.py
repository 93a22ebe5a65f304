"""Which items to label by hand: probabilities that make the remaining variance smallest, and a draw that keeps them.

An item adds a_i / f_i to the variance through what is estimated, where f_i is the probability that it is drawn, and
d_i (1 - f_i) through itself. The sum is smallest, for a given sum of f, at f_i = sqrt(a_i / (mu - d_i)), and 1 where
that is more or mu is at most d_i; mu is such that the f_i sum to the number of items. Without d this is Neyman's
allocation: f_i in proportion to sqrt(a_i).

Worked example: of three items, where one adds four times as much as each other, it is drawn twice as often.

>>> import numpy as np
>>> inclusion_probabilities(np.array([4.0, 1.0, 1.0]), np.zeros(3), 1).round(3).tolist()
[0.5, 0.25, 0.25]
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray

# No item is drawn less often than so many times an average one: what is assumed of errors may be wrong, and what is
# never drawn is never found.
LEAST_RELATIVE = 0.1
# Halvings of the bracket of mu: beyond the digits of a float.
HALVINGS = 200


def inclusion_probabilities(estimation: FloatArray, own: FloatArray, count: int) -> FloatArray:
    """The probability (n,) that each item is drawn, where count of them are drawn; all 1 where there are no more.

    Shapes:  estimation (n,): a_i, and own (n,): d_i, both at least 0.
    """
    if count >= estimation.size:
        return np.ones(estimation.size)
    floor = LEAST_RELATIVE**2 * float(np.mean(estimation))
    added = np.maximum(estimation, floor if floor > 0 else 1.0)
    # A few kinds of items among millions.
    kinds, kind, sizes = np.unique(np.stack([added, own]), axis=1, return_inverse=True, return_counts=True)
    low, high = 0.0, float(np.max(kinds[1]) + np.max(kinds[0]) * (estimation.size / count) ** 2)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _probabilities(kinds, middle) @ sizes > count else (low, middle)
    found: FloatArray = _probabilities(kinds, high)[kind.ravel()]
    return found


def _probabilities(kinds: FloatArray, mu: float) -> FloatArray:
    room = mu - kinds[1]
    with np.errstate(divide="ignore"):
        return np.where(room > 0, np.minimum(np.sqrt(kinds[0] / np.where(room > 0, room, 1.0)), 1.0), 1.0)


def drawn(probabilities: FloatArray, generator: np.random.Generator) -> IntArray:
    """Positions of items drawn with these probabilities (n,), ascending: systematically, in the order that they have.

    The number drawn is the sum of the probabilities, and of every stretch of items its own sum, each but for rounding:
    items that lie together by what is known of them are drawn in proportion.
    """
    is_certain = probabilities >= 1.0
    others = np.flatnonzero(~is_certain)
    reached = np.cumsum(probabilities[others])
    total = round(float(reached[-1])) if others.size else 0
    # Rounding must not cost an item, nor give one twice.
    ticks = (np.arange(total) + generator.uniform()) * (float(reached[-1]) / total if total else 1.0)
    places = np.unique(np.searchsorted(reached, ticks, side="right").clip(0, max(others.size - 1, 0)))
    return np.sort(np.concatenate([np.flatnonzero(is_certain), others[places]]))
