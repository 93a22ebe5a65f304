"""A ranking as measures of groups see it: levels of one attribute in order, and the shares they should have.

>>> from mprlib import metrics
>>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5})
>>> shown.shares.round(3).tolist()  # of woman and man
[0.333, 0.667]
>>> shown.first(2).shares.tolist()
[0.0, 1.0]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray, finite, sums_by
from mprlib.cells import cells_of
from mprlib.errors import InputError, shown
from mprlib.naming import cell_levels
from mprlib.problem import Problem
from mprlib.proportional_fitting import as_shares
from mprlib.settings import Whole, checked
from mprlib.spelling import numbered

COUNT = Whole(least=0)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Ranking:
    """The level of each item, in the order in which they are returned.

    Shapes:  levels (k,), positions in names; names (L,).
             target (L,), the share that each level should have, summing to 1.
             candidates (L,), how many items of each level could have been returned.

    >>> from mprlib import metrics
    >>> shown = metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}, {"woman": 4, "man": 4})
    >>> shown.k, shown.names, shown.counts.tolist(), shown.shares.round(3).tolist()
    (3, ('woman', 'man'), [1, 2], [0.333, 0.667])
    >>> shown.first(2).counts.tolist()
    [0, 2]
    """

    levels: IntArray
    names: tuple[Any, ...]
    target: FloatArray
    candidates: IntArray

    @property
    def k(self) -> int:
        """Number of items."""
        return self.levels.size

    @property
    def counts(self) -> IntArray:
        """Items (L,) of each level."""
        return np.bincount(self.levels, minlength=len(self.names))

    @property
    def shares(self) -> FloatArray:
        """Shares (L,) of the items."""
        shares: FloatArray = self.counts / self.k
        return shares

    def first(self, k: int) -> Ranking:
        """The first k items, or all where there are fewer."""
        return replace(self, levels=self.levels[: checked(Whole(), "k", k)])


def ranking(
    levels: Iterable[Hashable],
    target: Mapping[Any, float],
    candidates: Mapping[Any, int] | None = None,
) -> Ranking:
    """A ranking from the level of each item, best first.

    target: the share that each level should have. candidates: how many items of each level could have been
    returned; by default those that were.

    Raises:  InputError where levels is empty or holds one that target does not name, for shares that are no
             numbers from 0 to 1 or do not sum to 1, and for fewer candidates than items.

    >>> from mprlib import metrics
    >>> metrics.ranking(["man", "man", "woman"], {"woman": 0.5, "man": 0.5}).shares.round(3).tolist()
    [0.333, 0.667]
    """
    given = _listed(levels)
    if given is None or not isinstance(target, Mapping):
        raise InputError("levels and target are expected as a list of levels and a mapping of levels to shares")
    names = tuple(target)
    place = {name: at for at, name in enumerate(names)}
    for level in given:
        if not _is_key(level, place):
            known = ", ".join(map(repr, names))
            raise InputError(
                f"levels holds {shown(level)}, which target does not name: it has {known}; a share can be 0"
            )
    if not given:
        raise InputError("levels is empty: the level of at least one item is expected")
    found = Ranking(
        levels=np.array([place[level] for level in given], dtype=np.intp),
        names=names,
        target=as_shares("target", finite("target", list(target.values()), ndim=1)),
        candidates=np.zeros(len(names), dtype=np.intp),
    )
    return replace(found, candidates=_checked_candidates(found, candidates))


def _is_key(level: Any, names: Mapping[Any, int]) -> bool:
    try:
        return level in names
    except TypeError:  # lists, which no mapping has
        return False


def _listed(levels: Any) -> list[Any] | None:
    """The levels one by one; None for what is no list."""
    if isinstance(levels, (str, bytes)):
        return None
    try:
        return list(levels)
    except TypeError:
        return None


def rankings(problem: Problem, items: ArrayLike) -> dict[str, Ranking]:
    """For each attribute, the ranking that a selection is, in the order given; the reference is the target.

    Shapes:  items (any number,), positions in the pool, distinct; the pool's items are the candidates.
    Raises:  InputError for items that are empty, repeated or out of range, and where an attribute has no levels.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.metrics.rankings(problem, [0, 1])["gender"].shares.tolist()
    [1.0, 0.0]
    """
    order = problem.checked_items(items)
    cells = cells_of(problem)
    found = {}
    for attribute, own in cell_levels(problem).items():
        of_item, count = own.codes[cells.pool_cell], len(own.names)
        found[attribute] = Ranking(
            levels=of_item[order],
            names=own.names,
            target=sums_by(own.codes, cells.reference_shares, count),
            candidates=np.bincount(of_item, minlength=count),
        )
    return found


def _checked_candidates(found: Ranking, candidates: Mapping[Any, int] | None) -> IntArray:
    if candidates is None:
        return found.counts
    if not isinstance(candidates, Mapping):
        raise InputError(f"candidates is {shown(candidates)}: a mapping of levels to numbers is expected")
    sizes: list[int] = []
    for name, count in zip(found.names, found.counts.tolist()):
        size = checked(COUNT, f"candidates[{name!r}]", candidates.get(name, 0))
        if size < count:
            raise InputError(f"candidates[{name!r}] is {size}: returned are {numbered(count, 'item')} of that level")
        sizes.append(size)
    return np.array(sizes, dtype=np.intp)
