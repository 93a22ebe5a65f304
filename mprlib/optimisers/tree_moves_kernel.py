"""Compiled: what the best tree is worth at whole counts, exactly, after moves of single items.

A leaf of count c is worth w (c - t)^2, or w |c - t| for values {-1, +1}, and a set that is split the largest sum of
what its two parts are worth. Sets have numbers: first those that leaves may hold, then the empty one, then those that
are split, each after its parts. So the last one's worth is the best tree's.

Trees that refused a move are kept, and asked first: a kept tree costs a few additions, the best one thousands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.compiled import compiled, uncounted

# A worth above every limit.
REFUSED = np.inf


class Trees(NamedTuple):
    """The trees over some cells.

    Shapes:  first (sets + 1,) of parts (any, 2): the ways to split a set. start (C + 1,) of holding (any,): the leaves
             that hold a cell. members (U, C), the cells of leaves; target, weight (U,), their t and w.
    """

    first: IntArray
    parts: IntArray
    start: IntArray
    holding: IntArray
    members: BoolArray
    target: FloatArray
    weight: FloatArray
    is_signed: bool


class Kept(NamedTuple):
    """Trees that are asked first.

    Shapes:  leaves (T, L), their leaves, filled up with the empty set; leaf (T, C), the leaf of each cell; order (T,),
             in which they are asked; held (1,), how many there are.
    """

    leaves: IntArray
    leaf: IntArray
    order: IntArray
    held: IntArray


class Here(NamedTuple):
    """At counts (C,): how many items each leaf holds (U,), and what each set is worth (sets,)."""

    counts: IntArray
    taken: IntArray
    worth: FloatArray


@uncounted
def leaf_worth(trees: Trees, leaf: int, taken: int) -> float:
    """What a leaf with so many items is worth."""
    distance = taken - trees.target[leaf]
    worth: float = trees.weight[leaf] * (abs(distance) if trees.is_signed else distance * distance)
    return worth


@uncounted
def add(trees: Trees, here: Here, cell: int, items: int) -> None:
    """So many items more of a cell; the sets that are split are left as they are."""
    here.counts[cell] += items
    for place in range(trees.start[cell], trees.start[cell + 1]):
        leaf = trees.holding[place]
        here.taken[leaf] += items
        here.worth[leaf] = leaf_worth(trees, leaf, here.taken[leaf])


@uncounted
def best(trees: Trees, here: Here) -> float:
    """What the best tree is worth; the worths of all sets that are split are written."""
    most, own = 0.0, trees.target.size
    for one in range(trees.first.size - 1):
        most, own = 0.0, own + 1
        for way in range(trees.first[one], trees.first[one + 1]):
            both = here.worth[trees.parts[way, 0]] + here.worth[trees.parts[way, 1]]
            if both > most:
                most = both
        here.worth[own] = most
    return most


@compiled
def placed(trees: Trees, counts: IntArray) -> Here:
    """At these counts (C,)."""
    leaves = trees.target.size
    here = Here(np.zeros_like(counts), np.zeros(leaves, np.int64), np.zeros(leaves + trees.first.size))
    for leaf in range(leaves):
        here.worth[leaf] = leaf_worth(trees, leaf, 0)
    for cell in range(counts.size):
        if counts[cell] > 0:
            add(trees, here, cell, counts[cell])
    best(trees, here)
    return here


@compiled
def keep(trees: Trees, here: Here, kept: Kept) -> None:
    """Keep the best tree, to be asked first, in place of the one that is asked last where there is no room."""
    empty, tree = trees.target.size, kept.order[-1]
    if kept.held[0] < kept.order.size:
        tree = kept.held[0]
        kept.held[0] += 1
    leaves, found = kept.leaves[tree], 0
    leaves[:] = empty
    stack, size = np.empty(2 * leaves.size + 2, np.int64), 1
    stack[0] = here.worth.size - 1
    while size > 0:
        size -= 1
        own = stack[size]
        if own < empty:
            leaves[found] = own
            found += 1
            for cell in range(kept.leaf.shape[1]):
                if trees.members[own, cell]:
                    kept.leaf[tree, cell] = own
        elif own > empty:
            way = trees.first[own - empty - 1]
            # The sum is one of those whose largest this is.
            while here.worth[trees.parts[way, 0]] + here.worth[trees.parts[way, 1]] != here.worth[own]:
                way += 1
            stack[size], stack[size + 1] = trees.parts[way, 0], trees.parts[way, 1]
            size += 2
    for place in range(kept.held[0] - 1, 0, -1):
        kept.order[place] = kept.order[place - 1]
    kept.order[0] = tree


@uncounted
def kept_worth(trees: Trees, here: Here, kept: Kept, tree: int, move: IntArray) -> float:
    """What a kept tree is worth after a move: one item of the first cell for one of the second, and so on."""
    total = 0.0
    for place in range(kept.leaves.shape[1]):
        total += here.worth[kept.leaves[tree, place]]
    for one in range(move.size):
        leaf, change = kept.leaf[tree, move[one]], 0
        for other in range(move.size):
            if kept.leaf[tree, move[other]] == leaf:
                if other < one:
                    # This leaf was looked at.
                    break
                change += 1 if other % 2 == 1 else -1
        if change != 0:
            total += leaf_worth(trees, leaf, here.taken[leaf] + change) - here.worth[leaf]
    return total


@uncounted
def is_refused(trees: Trees, here: Here, kept: Kept, move: IntArray, limit: float) -> bool:
    """Whether some kept tree is worth more than the limit after a move; it is asked earlier from then on."""
    for place in range(kept.held[0]):
        tree = kept.order[place]
        if kept_worth(trees, here, kept, tree, move) > limit:
            earlier = place // 2
            kept.order[place], kept.order[earlier] = kept.order[earlier], tree
            return True
    return False


@compiled
def moved(trees: Trees, here: Here, kept: Kept, move: IntArray, limit: float) -> float:
    """Make a move after which no tree is worth more than the limit, and what the best one is worth; REFUSED where one
    is, which is kept, and nothing is moved."""
    for one in range(move.size):
        add(trees, here, move[one], 1 if one % 2 == 1 else -1)
    worth = best(trees, here)
    if worth <= limit:
        return worth
    keep(trees, here, kept)
    for one in range(move.size):
        add(trees, here, move[one], -1 if one % 2 == 1 else 1)
    return REFUSED
