"""Did a selection change by chance? Items that stayed cancel; those that left and entered are compared.

Two selections of one query are paired by their items: an item in both is the same person and says
nothing of a change. Of the items that differ, N_left left and N_entered entered. If the change has
nothing to do with groups, any N_entered of them might as well be those that entered: the **exchange
null**. A group with m members among them then has a hypergeometric number of members that entered,
which gives each group an exact two-sided p-value (Fisher's).

The exchange is too narrow where one group's scores are noisier than others', in both weeks: more of its items differ
than stand at the last place. Let a be its share of the items that differ, M of them, and f its share of the items
near the last place. At a fixed score each item that differs entered or left by chance, which gives the group's
members that entered less those that left the variance aM, the others' (1 - a)M. What is too many then falls out at
the last place, a part f of it the group's: the variance is ((1 - f)^2 a + f^2 (1 - a)) M. That of an exchange is
a (1 - a) M, less by 1 + (f - a)^2 / (a (1 - a)). So each group's deviation is divided by its standard
deviation, observed ones with this factor and exchanged ones without (a studentised permutation: Janssen 1997).
The items near the last place are the lower halves of both selections, and the noisier a group, the larger is its part
of the first places: f is nearer to a there than at the last place itself, and (f - a)^2 is taken 1.5 times, by
simulation (`tests.benchmarks.compare`). The factor is at least 1, so the test holds at every size where the exchange
null is exact.

Many groups are tested at once, and they overlap, so a query's statistic is its largest studentised deviation, and
its null distribution comes from exchanging items at random, which keeps the overlaps as they are
(Westfall and Young). One exchange after another is drawn until 20 of them are as extreme as
what was seen; the share of those is an exact p-value (Besag and Clifford).

When one group's items move, others move with them: more women means fewer men and more young women.
So groups are found one at a time, and each next one is tested with the groups found before held
fixed: items are exchanged only with items that are alike in all of those. What follows from a found
group is then no finding of its own.

Sources: Fisher 1935; Westfall and Young 1993; Besag and Clifford 1991; Janssen 1997; Chung and Romano 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.declarations import strict
from mprlib.settings import PROBABILITY, SEED, Whole
from mprlib.statistics.exchangeable import Exchange

Draws = Annotated[int, Whole(least=1)]
DRAWS = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A group that moved: its column, members entered minus left, and the p-value of the step that found it.

    >>> import numpy as np
    >>> from mprlib.statistics import moved_groups
    >>> [found] = moved_groups(np.ones((20, 1)) == 0, np.ones((20, 1)) == 1, level=0.05)
    >>> found.column, found.change
    (0, 20)
    """

    column: int
    change: int
    p_value: float


@strict
def exchange_test(
    left: ArrayLike,
    entered: ArrayLike,
    near: ArrayLike | None = None,
    *,
    draws: Draws = DRAWS,
    seed: Annotated[int, SEED] = 0,
) -> float:
    """p-value of the exchange null: no group's members left or entered more than chance has it.

    Shapes:  left (N_left, groups) and entered (N_entered, groups), whether an item is of a group; near (any, groups),
             the items near the last place in either selection, for groups whose scores are noisier than others'.
             Default: noise is taken to be equal.
    Returns: a value in (0, 1]; 1 where nothing changed. Valid at every level, for any overlap of groups.
    Raises:  InputError when the two disagree on the groups, or for fewer than 1 draw.

    >>> import numpy as np
    >>> from mprlib.statistics import exchange_test
    >>> women, men = np.array([[True]] * 12), np.array([[False]] * 12)
    >>> exchange_test(left=women, entered=men) < 0.01, exchange_test(left=women, entered=women)
    (True, 1.0)
    """
    return Exchange.of(left, entered, near).p_value(draws, np.random.default_rng(seed))


@strict
def moved_groups(
    left: ArrayLike,
    entered: ArrayLike,
    near: ArrayLike | None = None,
    *,
    level: Annotated[float, PROBABILITY],
    draws: Draws = DRAWS,
    seed: Annotated[int, SEED] = 0,
) -> list[Found]:
    """Groups that moved beyond chance and beyond what groups found before them explain, strongest first.

    Among equals (a group and its mirror) the one that grew comes first, then the earlier column:
    give columns in the order in which you would rather read them. Each step errs with at most `level`.
    Where many queries are asked, ask this of those that an adjustment found, at its own level for them
    (level * found / asked, Benjamini and Bogomolov 2014).

    Shapes:  as exchange_test.
    Raises:  InputError as exchange_test does, and for a level outside (0, 1).

    >>> import numpy as np
    >>> from mprlib.statistics import moved_groups
    >>> women, men = np.array([[1, 0]] * 12, dtype=bool), np.array([[0, 1]] * 12, dtype=bool)
    >>> [(found.column, found.change) for found in moved_groups(left=women, entered=men, level=0.05)]
    [(1, 12)]
    """
    exchange, random = Exchange.of(left, entered, near), np.random.default_rng(seed)
    found: list[Found] = []
    while (p_value := exchange.p_value(draws, random)) <= level:
        column = exchange.strongest()
        found.append(Found(column=column, change=exchange.change(column), p_value=p_value))
        exchange = exchange.holding(column)
    return found


def group_p_values(left: ArrayLike, entered: ArrayLike) -> FloatArray:
    """Fisher's exact two-sided p-value (groups,) of each group by itself, not adjusted for the others.

    >>> from mprlib.statistics import group_p_values
    >>> group_p_values(left=[[True]] * 3, entered=[[False]] * 3).round(4).tolist()
    [0.1]
    """
    return Exchange.of(left, entered).observed()
