"""Bounds on a reference sample's error, known before anything is drawn.

With probability at least 1 - delta over m independent draws from Q, the returned bound holds for

    Phi = sup over c in C of | mean of c over the sample - mean of c under Q |,

and therefore | MPR against the sample - MPR against Q | <= Phi for every selection at once,
optimised ones and any number of queries included.

What they do not cover: the normalised class C' (its functions are scaled by the data and are not
bounded by 1), and references that are not independent draws (balanced, target shares, rows chosen
by query). For C' see `sampling_margin`.

Functions take values in {-1, +1} unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from mprlib.declarations import strict
from mprlib.errors import InputError
from mprlib.settings import PROBABILITY, SIZE, Flag, Number, Whole

Rows = Annotated[float, SIZE]
Risk = Annotated[float, PROBABILITY]
# Beyond this no reference is drawn; a bound that still exceeds the tolerance there never meets it.
LARGEST_SIZE = 2**62


@strict
def rademacher_bound(complexity: Annotated[float, Number(least=0)], m: Rows, delta: Risk) -> float:
    """2 R_m + sqrt(2 ln(2/delta) / m), for a class of Rademacher complexity R_m (no absolute value inside).

    >>> from mprlib.statistics import rademacher_bound
    >>> round(rademacher_bound(0.01, 10_000, 0.05), 4)
    0.0472
    """
    return 2.0 * complexity + _deviation(2.0, m, delta)


@strict
def vc_bound(dimension: Annotated[float, Number(least=1)], m: Rows, delta: Risk) -> float:
    """2 sqrt(2 d ln(e m / d) / m) + sqrt(2 ln(2/delta) / m), for a class of VC dimension d; for m >= d.

    Source:  Massart's and Sauer's lemmas.

    >>> from mprlib.statistics import vc_bound
    >>> round(vc_bound(28, 100_000, 0.05), 4)
    0.152
    """
    if m < dimension:
        # Sauer's lemma needs m >= d; no two means of such functions differ by more than 2.
        return 2.0
    return 2.0 * float(np.sqrt(2.0 * dimension * np.log(np.e * m / dimension) / m)) + _deviation(2.0, m, delta)


@strict
def finite_bound(
    functions: Annotated[int, Whole(least=1)], m: Rows, delta: Risk, *, indicators: Annotated[bool, Flag()] = False
) -> float:
    """sqrt(2 ln(2 N / delta) / m) for N functions; half of it for indicators (values 0 and 1).

    Source:  Hoeffding's inequality and a union over the functions.

    >>> from mprlib.statistics import finite_bound
    >>> round(finite_bound(100, 10_000, 0.05), 4)
    0.0407
    """
    return _deviation(2.0 * functions, m, delta) * (0.5 if indicators else 1.0)


@strict
def cells_bound(cells: Annotated[int, Whole(least=1)], m: Rows, delta: Risk) -> float:
    """sqrt((G - 1) / m) + sqrt(2 ln(1/delta) / m), for all functions of G cells fixed beforehand.

    Phi is then the distance sum |q - Q|, whose mean Cauchy-Schwarz bounds by the first term; one
    row changes it by at most 2/m (McDiarmid).

    >>> from mprlib.statistics import cells_bound
    >>> round(cells_bound(14, 10_000, 0.05), 4)
    0.0605
    """
    return float(np.sqrt((cells - 1) / m)) + _deviation(1.0, m, delta)


@strict
def reference_size(bound: Callable[[float], float], epsilon: Annotated[float, Number(above=0)]) -> int:
    """The smallest m with bound(m) <= epsilon, by bisection.

    bound is one of this module's with the rest fixed: lambda m: vc_bound(28, m, 0.05).
    Raises:  InputError when epsilon is not positive or no size meets it.

    >>> from mprlib.statistics import reference_size, vc_bound
    >>> size = reference_size(lambda m: vc_bound(28, m, 0.05), 0.1)
    >>> vc_bound(28, size, 0.05) <= 0.1 < vc_bound(28, size - 1, 0.05)
    True
    """
    enough = 1
    while bound(enough) > epsilon:
        enough *= 2
        if enough > LARGEST_SIZE:
            raise InputError(f"epsilon is {epsilon}: no reference size brings the bound below it")
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if bound(middle) <= epsilon else (middle, enough)
    return enough


@strict
def paper_deviation(m: Rows, delta: Risk) -> float:
    """sqrt(ln(2/delta) / (8 m)): the deviation term as the paper's Proposition 1 prints it.

    **Not a guarantee**: four times smaller than what holds for {-1, +1} functions. One fair coin at
    delta = 0.05 exceeds it about half of the time.

    >>> from mprlib.statistics import paper_deviation
    >>> round(paper_deviation(10_000, 0.05), 4)
    0.0068
    """
    return float(np.sqrt(np.log(2.0 / delta) / (8.0 * m)))


@strict
def paper_reference_size(
    dimension: Annotated[float, Number(least=1)],
    epsilon: Annotated[float, Number(above=0)],
    delta: Risk,
    queries: Annotated[int, Whole(least=1)] = 1,
) -> int:
    """(32 d + ln(2 M / delta)) / eps^2: the size that the paper's Proposition 2 prints for M queries.

    **Not a guarantee**: it drops the logarithm of `vc_bound`, which matters for eps < 1.26.

    >>> from mprlib.statistics import paper_reference_size
    >>> paper_reference_size(28, 0.1, 0.05)
    89969
    """
    return int(np.ceil((32.0 * dimension + np.log(2.0 * queries / delta)) / epsilon**2))


def _deviation(outcomes: float, m: float, delta: float) -> float:
    return float(np.sqrt(2.0 * np.log(outcomes / delta) / m))
