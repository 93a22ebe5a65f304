"""The mean difference between two systems over the same queries: its p value and its interval.

Under the null the two systems are exchangeable for each query, so that every difference might as well have the other
sign (Fisher's randomisation test). Queries are no independent draws: neighbours retrieve the same people, and then
their differences rise and fall together. Two shares that are taken of samples with a part w of their people in common
correlate by w, and no function of such shares correlates by more (Gebelein 1941), so that

    Var(sum d) <= sum d^2 * (sum_ij w_ij) / n

with w the overlap of the queries' items. The randomisation distribution is therefore stretched by the square root of
sum_ij w_ij / n: n queries count as n^2 / sum_ij w_ij independent ones.

The interval holds the means that the same test does not refuse.

Worked example: six differences of one sign; only all signs alike are as extreme, 2 of 64.

>>> paired_difference([0.1, 0.2, 0.3, 0.1, 0.2, 0.3]).p_value
0.03125

Sources: Fisher 1935; Gebelein 1941 for the bound on correlations; Phipson and Smyth 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.declarations import strict
from mprlib.errors import InputError
from mprlib.settings import PROBABILITY, SEED, Whole

# Up to so many queries all signs are tried.
MOST_EXACT = 12
DRAWS = 9_999
# Halvings of an interval's ends: to a millionth of the differences' range.
HALVINGS = 40
# Sums that differ by rounding only are equal.
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A mean difference over queries.

    low and high: the ends of its interval, None where so few queries cannot bound it.
    effective_queries: as many independent queries would say as much.

    >>> from mprlib.statistics import paired_difference
    >>> found = paired_difference([0.1, 0.2, 0.1, 0.3, 0.2, 0.1])
    >>> round(found.mean, 4), found.queries, found.low > 0
    (0.1667, 6, True)
    """

    mean: float
    low: float | None
    high: float | None
    p_value: float
    queries: int
    effective_queries: float


@strict
def paired_difference(
    differences: ArrayLike,
    overlap: ArrayLike | None = None,
    *,
    confidence: Annotated[float, PROBABILITY] = 0.95,
    draws: Annotated[int, Whole(least=1)] = DRAWS,
    seed: Annotated[int, SEED] = 0,
) -> Difference:
    """Is the mean of paired differences more than chance?

    Shapes:  differences (n,), one per query; overlap (n, n), the part of their items that two queries share, 1 on
             the diagonal. Default: none.
    Raises:  InputError for no differences, or an overlap of another shape.

    >>> from mprlib.statistics import paired_difference
    >>> found = paired_difference([0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 0.2, 0.1])
    >>> round(found.mean, 4), round(found.p_value, 2)
    (0.1625, 0.01)
    """
    values = np.asarray(differences, dtype=float)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InputError("differences must be a list of finite numbers, one per query")
    shared = np.eye(values.size) if overlap is None else np.asarray(overlap, dtype=float)
    if shared.shape != (values.size, values.size):
        raise InputError(f"overlap has shape {shared.shape}: ({values.size}, {values.size}) is expected")
    inflation = max(float(shared.sum()) / values.size, 1.0)
    test = _Signs.of(values, float(np.sqrt(inflation)), draws, seed)
    low, high = (test.end(side, 1.0 - confidence) for side in (-1.0, 1.0))
    return Difference(
        mean=float(values.mean()),
        low=low,
        high=high,
        p_value=test.p_value(0.0),
        queries=values.size,
        effective_queries=values.size / inflation,
    )


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Signs:
    """Random signs, and what they make of the differences and of a constant.

    Shapes:  of_values (draws,) and of_ones (draws,), signed sums. counted: 1 where the observed signs are not among
    the draws.
    """

    values: FloatArray
    of_values: FloatArray
    of_ones: FloatArray
    stretch: float
    counted: int

    @classmethod
    def of(cls, values: FloatArray, stretch: float, draws: int, seed: int) -> _Signs:
        is_exact = values.size <= MOST_EXACT
        if is_exact:
            signs = np.array(list(product([1.0, -1.0], repeat=values.size)))
        else:
            signs = np.random.default_rng(seed).integers(0, 2, (draws, values.size)) * 2.0 - 1.0
        # Stretched, not even the observed signs are as extreme as themselves.
        return cls(
            values=values,
            of_values=signs @ values,
            of_ones=signs.sum(axis=1),
            stretch=stretch,
            counted=0 if is_exact else 1,
        )

    def p_value(self, mean: float) -> float:
        """Of the hypothesis that the differences have this mean."""
        observed = abs(float(self.values.sum()) - mean * self.values.size)
        drawn = self.stretch * np.abs(self.of_values - mean * self.of_ones)
        as_far = int(np.count_nonzero(drawn >= observed * (1.0 - ROUNDING)))
        return (as_far + self.counted) / (drawn.size + self.counted)

    def end(self, side: float, level: float) -> float | None:
        """The furthest mean on that side that is not refused."""
        spread = float(np.ptp(self.values)) + abs(float(self.values.mean())) or 1.0
        inside = float(self.values.mean())
        outside = inside + side * 10.0 * self.stretch * spread
        if self.p_value(outside) > level:
            return None
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if self.p_value(middle) > level else (inside, middle)
        return inside
