"""Apportionment: whole seats for every level of every attribute, then the most similar set with them.

The reference's share of each level, times k, is rounded to whole targets by Hamilton's rule
(largest remainders) or d'Hondt's (highest quotients), attribute by attribute. Among all sets of k
items the one is taken that misses the targets least, in seats over all attributes, and among those
the most similar. Both are searched to a proof, in this order; the message says where the search met
its limits first.

Marginal by design: an intersection of levels has no target, so this shows what intersections add.

Worked example: shares (0.5, 0.3, 0.2) and k = 4 give quotas (2, 1.2, 0.8) and Hamilton's targets
(2, 1, 1); d'Hondt gives the seats to 0.5, 0.3, 0.25 = 0.5/2 and 0.2, hence (2, 1, 1) as well.

Source: Lang and Skowron 2018, "Multi-Attribute Proportional Representation".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray, sums_by
from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.cells import cells_of
from mprlib.naming import cell_levels
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.problem import Problem
from mprlib.settings import Choice

if TYPE_CHECKING:
    from mprlib.baselines.seat_search import Seats

# A level's quota this close to a whole number is that number, spoilt by the sum of its shares.
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Apportionment(FixedBaseline):
    """The most similar items with whole seats for every level of every attribute.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.select(problem, "apportionment").items.tolist()
    [0, 2]
    """

    name: ClassVar[str] = "apportionment"

    rule: Annotated[
        str, Choice(tuple(RULES)), "how shares become whole seats: largest remainders or highest quotients"
    ] = "hamilton"

    def choose(self, problem: Problem) -> Chosen:
        """The set; the message says by how many seats the targets are missed."""
        from mprlib.baselines.seat_search import search_seats

        pool = cell_pool_of(problem, cells_of(problem))
        seats = search_seats(pool, *_targets(problem, self.rule), pool.top_counts(problem))
        return Chosen(
            items=pool.chosen(seats.counts), message="; ".join(_remarks(seats)), is_stopped=seats.is_out_of_time
        )


def _remarks(seats: Seats) -> list[str]:
    remarks = [f"targets are missed by {seats.missed} seats over all attributes"] if seats.missed else []
    limit = "the clock" if seats.is_out_of_time else "the limits of branch and bound"
    if not seats.is_fewest:
        remarks.append(f"stopped by {limit}: sets that miss fewer seats may exist")
    elif not seats.is_most_similar:
        remarks.append(f"stopped by {limit}: more similar sets may exist")
    return remarks


def hamilton(shares: FloatArray, seats: int) -> IntArray:
    """Whole seats (levels,): quotas rounded down, the rest to the largest remainders, ties to the larger share."""
    quotas = seats * shares / shares.sum()
    given: IntArray = np.floor(quotas + ROUNDING).astype(np.intp)
    remainders = quotas - given
    by_remainder = np.lexsort((np.arange(shares.size), -shares, -np.round(remainders, 9)))
    given[by_remainder[: seats - given.sum()]] += 1
    return given


def dhondt(shares: FloatArray, seats: int) -> IntArray:
    """Whole seats (levels,): one after another to the highest share / (seats + 1), ties to the larger share."""
    given = np.zeros(shares.size, dtype=np.intp)
    order = np.argsort(-shares, kind="stable")
    for _ in range(seats):
        quotients = shares[order] / (given[order] + 1)
        given[order[np.argmax(quotients)]] += 1
    return given


RULES = {"hamilton": hamilton, "dhondt": dhondt}


def _targets(problem: Problem, rule: str) -> tuple[scipy.sparse.csr_array, IntArray]:
    """Which cells a level holds (levels, G), levels of all attributes, and the seats (levels,) of each."""
    reference = cells_of(problem).reference_shares
    members, targets = [], []
    for levels in cell_levels(problem).values():
        size = len(levels.names)
        cells = np.arange(levels.codes.size)
        members.append(scipy.sparse.csr_array((np.ones(cells.size), (levels.codes, cells)), shape=(size, cells.size)))
        shares = sums_by(levels.codes, reference, size)
        targets.append(RULES[rule](shares, problem.k))
    return scipy.sparse.vstack(members, format="csr"), np.concatenate(targets)
