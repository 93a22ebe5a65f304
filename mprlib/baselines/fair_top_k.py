"""Fair top-k: at least as many protected items as a fair lottery would show, else exchange the last.

Position by position, a ranking of k items is fair when the number of protected items among its
first i is not improbably small for i draws with success probability `share`: at least
F^-1(alpha; i, share). Testing k prefixes at level alpha rejects a fair lottery too often, so alpha
is lowered until the k tests together reject it with probability `significance`; that probability is
computed exactly, by walking over the number of protected items.

Merging the two rankings under the prefix bounds gives, as a set, top-k when that has enough
protected items, else the best `bound(k)` protected ones and the best of the others: prefix bounds
reorder items but the last one decides which are in.

Source: Zehlike et al. 2017, "FA*IR: A Fair Top-k Ranking Algorithm".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from mprlib.arrays import IntArray
from mprlib.cells import cells_of, selection_weights
from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.naming import cell_levels
from mprlib.problem import Problem
from mprlib.selection import Selection
from mprlib.settings import PROBABILITY

# Halvings of the interval that holds the corrected level: below any jump of a bound for k to 1,000.
BISECTIONS = 50


def sweep(
    problem: Problem,
    oracle: Oracle,
    values: Sequence[None],
    protected: ArrayLike | None = None,
    share: Annotated[float | None, PROBABILITY] = None,
    significance: Annotated[float, PROBABILITY] = 0.1,
) -> list[Selection]:
    """The same k items for every value: there is no parameter.

    Shapes:  protected (n,), truth values; by default the level of an attribute that top-k shows
             too little of, by the largest gap to its share of the reference.
    share: the protected group's fair share, by default that of the reference for the default group;
           it must come with `protected`.
    Raises:  InputError for protected of another shape, and for one of protected and share without the other.
    """
    watch = Stopwatch()
    if protected is None:
        if share is not None:
            raise InputError("share comes without protected: say whose share it is")
        is_protected, share, name = _most_missing(problem)
    else:
        if share is None:
            raise InputError("protected comes without share: the protected group's fair share is expected")
        is_protected, name = _checked(protected, problem.n), "protected"
    needed = 0
    if share > 0:
        needed = int(lower_bounds(problem.k, min(share, np.nextafter(1.0, 0.0)), significance)[-1])
    items, shown = _with_at_least(problem, is_protected, needed)
    message = f"at least {needed} of {problem.k} must be {name}, {shown} are"
    seconds = watch.seconds() / len(values)
    return [
        selected(problem, oracle, items, method="fair_top_k", value=value, solve_seconds=seconds, message=message)
        for value in values
    ]


def lower_bounds(k: int, share: float, significance: float) -> IntArray:
    """Fewest protected items (k,) among the first 1, 2, ..., k; all tests together at that level.

    Worked example: share 0.5, significance 0.1, k = 1: no protected item is asked for, as a fair
    coin shows none half of the time.
    """
    low, high = 0.0, significance
    for _ in range(BISECTIONS):
        level = 0.5 * (low + high)
        if rejection_probability(_bounds(k, share, level), share) <= significance:
            low = level
        else:
            high = level
    return _bounds(k, share, low)


def rejection_probability(bounds: IntArray, share: float) -> float:
    """Probability that draws with success probability `share` fall below a bound (k,) somewhere."""
    counts = np.zeros(bounds.size + 1)
    counts[0] = 1.0
    for bound in bounds:
        counts[1:] = (1.0 - share) * counts[1:] + share * counts[:-1]
        counts[0] *= 1.0 - share
        counts[:bound] = 0.0
    return float(1.0 - counts.sum())


def _bounds(k: int, share: float, level: float) -> IntArray:
    # F^-1(level) is the fewest successes whose lower tail reaches the level; at level 0 nothing is asked.
    if level <= 0:
        return np.zeros(k, dtype=np.intp)
    return np.maximum(binom.ppf(level, np.arange(1, k + 1), share), 0).astype(np.intp)


def _with_at_least(problem: Problem, is_protected: np.ndarray, needed: int) -> tuple[IntArray, int]:
    """k best items with that many protected ones, or as many as there are; and how many they are."""
    order = problem.best_first
    protected, others = order[is_protected[order]], order[~is_protected[order]]
    shown = int(is_protected[order[: problem.k]].sum())
    shown = min(max(shown, needed), protected.size)
    return np.concatenate([protected[:shown], others[: problem.k - shown]]), shown


def _most_missing(problem: Problem) -> tuple[np.ndarray, float, str]:
    """Members (n,), reference share and name of the level with the largest gap in top-k."""
    cells = cells_of(problem)
    shown = cells.shares(selection_weights(problem, problem.best_first[: problem.k]))
    found = (np.zeros(problem.n, dtype=bool), 0.0, "protected")
    largest = 0.0
    for attribute, levels in cell_levels(problem).items():
        shares, expected = (
            np.bincount(levels.codes, weights=masses, minlength=len(levels.names))
            for masses in (shown, cells.reference_shares)
        )
        missing = expected - shares
        level = int(np.argmax(missing))
        if missing[level] > largest:
            largest = float(missing[level])
            found = (levels.codes[cells.pool_cell] == level, float(expected[level]), levels.names[level])
    return found


def _checked(protected: ArrayLike, n: int) -> np.ndarray:
    members = np.asarray(protected)
    if members.shape != (n,) or members.dtype.kind not in "biu" or not np.isin(members, (0, 1)).all():
        raise InputError(f"protected needs one truth value an item, {n} in all")
    return members.astype(bool)
