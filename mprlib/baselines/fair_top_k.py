"""Fair top-k: at least as many protected items as a fair lottery would show, else exchange the last.

Position by position, a ranking of k items is fair when the number of protected items among its
first i is not improbably small for i draws with success probability `share`: at least
F^-1(alpha; i, share). Testing k prefixes at level alpha rejects a fair lottery too often, so alpha
is lowered until the k tests together reject it with probability `significance`; that probability is
computed exactly, by walking over the number of protected items.

Merging the two rankings under the prefix bounds gives, as a set, top-k when that has enough
protected items, else the best `bound(k)` protected ones and the best of the others: prefix bounds
reorder items but the last one decides which are in. With order "fair" they are returned as merged: a
protected item where the prefix has fewer than its bound, else the more similar of both.

Source: Zehlike et al. 2017, "FA*IR: A Fair Top-k Ranking Algorithm".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import BoolArray, IntArray, sums_by
from mprlib.baselines.baseline import ORDER, ORDER_MEANING, Chosen, FixedBaseline
from mprlib.cells import cells_of
from mprlib.errors import InputError
from mprlib.naming import cell_levels
from mprlib.problem import Problem
from mprlib.settings import PROBABILITY

# Halvings of the interval that holds the corrected level: below any jump of a bound for k to 1,000.
BISECTIONS = 50


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class FairTopK(FixedBaseline):
    """Top-k with at least as many items of one protected group as a fair lottery would show.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.select(problem, "fair_top_k", protected=[False, False, True, True], share=0.9).items.tolist()
    [0, 2]
    """

    name: ClassVar[str] = "fair_top_k"

    protected: Annotated[
        ArrayLike | None,
        "truth values (n,), the group's members; default: the level of an attribute that top-k shows too little of",
    ] = None
    share: Annotated[float | None, PROBABILITY, "the group's fair share; default: the reference's"] = None
    significance: Annotated[
        float, PROBABILITY, "significance of the test that the group is shown as a fair lottery would"
    ] = 0.1
    order: Annotated[str, ORDER, ORDER_MEANING] = "score"

    def choose(self, problem: Problem) -> Chosen:
        """The set; the message says whom it had to show, and how many.

        Raises:  InputError for protected of another shape, and for one of protected and share without the other.
        """
        group = self._group(problem)
        bounds = lower_bounds(problem.k, as_probability(group.share), self.significance)
        items, shown = _with_at_least(problem, group.members, int(bounds[-1]))
        is_ordered = self.order == "fair"
        return Chosen(
            items=_merged(problem, group.members, items, bounds) if is_ordered else items,
            is_ordered=is_ordered,
            message=f"at least {bounds[-1]} of {problem.k} must be {group.name}, {shown} are",
        )

    def _group(self, problem: Problem) -> _Group:
        if self.protected is None:
            if self.share is not None:
                raise InputError("share comes without protected: say whose share it is")
            return _most_missing(problem)
        if self.share is None:
            raise InputError("protected comes without share: the protected group's fair share is expected")
        return _Group(_checked(self.protected, problem.n), self.share, "protected")


@dataclass(frozen=True, eq=False, slots=True)
class _Group:
    """A protected group: its members (n,), fair share and name."""

    members: BoolArray
    share: float
    name: str


def as_probability(share: float) -> float:
    """A share of a reference, which may be 0 or 1, as the nearest one that a lottery can have."""
    return float(np.clip(share, np.finfo(float).tiny, np.nextafter(1.0, 0.0)))


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
    from scipy.stats import binom

    fewest: IntArray = np.maximum(binom.ppf(level, np.arange(1, k + 1), share), 0).astype(np.intp)
    return fewest


def _with_at_least(problem: Problem, is_protected: BoolArray, needed: int) -> tuple[IntArray, int]:
    """k best items with that many protected ones, or as many as there are; and how many they are."""
    order = problem.best_first
    protected, others = order[is_protected[order]], order[~is_protected[order]]
    shown = int(is_protected[order[: problem.k]].sum())
    shown = min(max(shown, needed), protected.size)
    return np.concatenate([protected[:shown], others[: problem.k - shown]]), shown


def _merged(problem: Problem, is_protected: BoolArray, items: IntArray, bounds: IntArray) -> IntArray:
    """The items in order: the best, but a protected one where a prefix would have fewer than its bound (k,)."""
    waiting = problem.ranked(items).tolist()
    merged: list[int] = []
    shown = 0
    for bound in bounds:
        protected = next((item for item in waiting if is_protected[item]), None) if shown < bound else None
        merged.append(waiting[0] if protected is None else protected)
        waiting.remove(merged[-1])
        shown += int(is_protected[merged[-1]])
    return np.array(merged, dtype=np.intp)


def _most_missing(problem: Problem) -> _Group:
    """The level with the largest gap in top-k; nobody where no level is shown too little."""
    cells = cells_of(problem)
    shown = cells.shares_of(problem.best_first[: problem.k], problem.place_weights)
    found = _Group(np.zeros(problem.n, dtype=bool), 0.0, "protected")
    largest = 0.0
    for levels in cell_levels(problem).values():
        shares, expected = (
            sums_by(levels.codes, masses, len(levels.names)) for masses in (shown, cells.reference_shares)
        )
        missing = expected - shares
        level = int(np.argmax(missing))
        if missing[level] > largest:
            largest = float(missing[level])
            found = _Group(levels.codes[cells.pool_cell] == level, float(expected[level]), levels.names[level])
    return found


def _checked(protected: ArrayLike, n: int) -> BoolArray:
    members = np.asarray(protected)
    if members.shape != (n,) or members.dtype.kind not in "biu" or not np.isin(members, (0, 1)).all():
        raise InputError(f"protected needs one truth value per item, {n} in all")
    return members.astype(bool)
