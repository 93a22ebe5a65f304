"""Named groups in a prefix: whole counts between two limits for every length, so that no group has to be looked for.

Of j items a group may have c with |c / j - q| <= its limit: a whole number from ceil(j (q - limit)) to
floor(j (q + limit)). Groups that hold the same of the cells at hand have one count, and a count and that of all others
add up to j: of hundreds of named groups some tens of sets of cells are left, fewer still that any order could break.

Worked example: two cells, of women and of men, of whom half each are asked for. Women and men share one count, here of
the second cell; at 0.2 off three items have one or two of it.

>>> import mprlib
>>> women, men = [1, 0], [0, 1]
>>> problem = mprlib.Problem(scores=[0.9, 0.8], labels=[women, men], reference=[women, men], k=2,
...                          attributes={"gender": [0, 1]})
>>> oracle = mprlib.FUNCTION_CLASSES["groups"]().bind(problem)
>>> counts = GroupCounts.of(oracle.named_groups(), oracle.cells.reference_shares, np.array([0, 1]))
>>> counts.members.tolist()
[[0.0], [1.0]]
>>> functions, low, high = counts.bounded(np.array([np.inf, np.inf, np.inf, 0.2]), np.array([3, 3]))
>>> functions.tolist(), low[3].tolist(), high[3].tolist()
([[0.0], [1.0]], [1.0], [2.0])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.function_classes.base import NamedGroups

# Rounds in which limits are derived from others, each from those of the round before.
ROUNDS = 10


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class GroupCounts:
    """The sets of cells whose counts say what every named group has.

    Shapes:  members (C, r), 1 where a cell is in a set; the first cell is in none.
             first (r,), of the groups of each set, which follow each other; is_rest (groups,), whether a group is what
             its set leaves; shares (groups,), of the reference.
    sign: units of a limit per share, 2 for signed functions.
    """

    members: FloatArray
    first: IntArray
    is_rest: BoolArray
    shares: FloatArray
    sign: float

    @classmethod
    def of(cls, groups: NamedGroups, reference: FloatArray, cells: IntArray) -> GroupCounts:
        """Of the cells (C,) of some items, and shares (G,) of the reference in all cells."""
        members = np.zeros((len(groups.names), cells.size))
        codes = groups.codes[:, cells]
        members[codes, np.broadcast_to(np.arange(cells.size), codes.shape)] = 1.0
        is_rest = members[:, 0] > 0
        members[is_rest] = 1.0 - members[is_rest]
        by_set = np.lexsort(members.T)
        members, is_rest = members[by_set], is_rest[by_set]
        first = np.flatnonzero(np.append(True, (members[1:] != members[:-1]).any(axis=1)))
        return cls(
            members=np.ascontiguousarray(members[first].T),
            first=first,
            is_rest=is_rest,
            shares=groups.totals(reference)[by_set],
            sign=2.0 if groups.signed else 1.0,
        )

    def bounded(
        self, limits: FloatArray, capacity: IntArray, *, is_thorough: bool = False
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The sets (C, r) that an order could break, with the least and the most (k + 1, r) that a prefix may have.

        Shapes:  limits (k + 1,), on the gaps of prefixes; capacity (C,), how many items a cell has.
        is_thorough: derive limits from those of other sets. Where they contradict each other what is returned is one
        set that nobody is in and that every prefix needs one of.
        """
        lengths = np.arange(limits.size)
        held = (capacity @ self.members)[:, None]
        least, most = np.maximum(lengths - (capacity.sum() - held), 0.0), np.minimum(held, lengths)
        low, high = self._of_groups(limits)
        if is_thorough:
            low, high = np.maximum(low, least), np.minimum(high, most)
            if not self._is_consistent(low, high):
                return np.zeros((capacity.size, 1)), np.ones((limits.size, 1)), np.zeros((limits.size, 1))
        matters = ((low > least) | (high < most)).any(axis=1)
        return np.ascontiguousarray(self.members[:, matters]), low[matters].T, high[matters].T

    def _of_groups(self, limits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least and the most (r, k + 1) of each set by the limits (k + 1,) of its groups."""
        lengths = np.flatnonzero(np.isfinite(limits))
        target, room = np.outer(self.shares, lengths), limits[lengths] * lengths / self.sign
        least, most = np.ceil(target - room), np.floor(target + room)
        least[self.is_rest], most[self.is_rest] = lengths - most[self.is_rest], lengths - least[self.is_rest]
        low, high = np.full((2, self.members.shape[1], limits.size), [[[-np.inf]], [[np.inf]]])
        low[:, lengths] = np.maximum.reduceat(least, self.first)
        high[:, lengths] = np.minimum.reduceat(most, self.first)
        return low, high

    def _is_consistent(self, low: FloatArray, high: FloatArray) -> bool:
        """Narrow limits (r, k + 1) by those of parts and wholes, and of other lengths; False where none are left.

        Of two sets that together are a third the counts add up, and a place adds one item at most.
        """
        one, other, whole = self._parts()
        for _ in range(ROUNDS):
            before = float((high - low).sum())
            np.maximum.at(low, whole, low[one] + low[other])
            np.minimum.at(high, whole, high[one] + high[other])
            for part, rest in ((one, other), (other, one)):
                np.maximum.at(low, part, low[whole] - high[rest])
                np.minimum.at(high, part, high[whole] - low[rest])
            for length in range(low.shape[1] - 1, 0, -1):
                np.maximum(low[:, length - 1], low[:, length] - 1.0, out=low[:, length - 1])
                np.minimum(high[:, length - 1], high[:, length], out=high[:, length - 1])
            for length in range(1, low.shape[1]):
                np.maximum(low[:, length], low[:, length - 1], out=low[:, length])
                np.minimum(high[:, length], high[:, length - 1] + 1.0, out=high[:, length])
            if (low > high).any():
                return False
            if float((high - low).sum()) == before:
                break
        return True

    def _parts(self) -> tuple[IntArray, IntArray, IntArray]:
        """Pairs of sets without a common cell, and the set that they are together."""
        places = {column.tobytes(): place for place, column in enumerate(np.ascontiguousarray(self.members.T))}
        sizes = self.members.sum(axis=0)
        one, other = np.nonzero(np.triu(self.members.T @ self.members == 0, 1) & np.outer(sizes, sizes).astype(bool))
        together = np.ascontiguousarray((self.members[:, one] + self.members[:, other]).T)
        whole = np.array([places.get(column.tobytes(), -1) for column in together], dtype=np.intp)
        return one[whole >= 0], other[whole >= 0], whole[whole >= 0]
