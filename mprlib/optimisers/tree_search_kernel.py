"""Compiled loops of `tree_search`: simulated annealing between cells, and steepest ascent from a set that meets rho.

The energy of a set is  penalty max(0, MPR - rho) - similarity,  with MPR that of the best tree. A move takes one item
of a cell for the next best of another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.cooling_kernel import Cooling, allowed_rise, factor
from mprlib.optimisers.random_kernel import below, next_state, part
from mprlib.optimisers.sorting_kernel import order_of
from mprlib.optimisers.tree_moves_kernel import REFUSED, Here, Kept, Trees, best, is_refused, moved, placed

# A gain below this is rounding of sums of k scores.
SMALLEST_GAIN = 1e-12


class Scores(NamedTuple):
    """Scores of cells (C,).  Shapes: marginals, offset (C,) as in `CellPool`; price (C,); near, rising numbers of the
    cells between which an ascent moves items."""

    marginals: FloatArray
    offset: IntArray
    price: FloatArray
    near: IntArray


class Limits(NamedTuple):
    """rho; the penalty per unit beyond it; a similarity that need not be exceeded; how often the best tree may be
    asked for, and of how many moves an ascent tries all pairs."""

    rho: float
    penalty: float
    enough: float
    evaluations: int
    pairs_of: int


class Found(NamedTuple):
    """The best set within rho, and the one with the smallest MPR, (C,) each; that MPR (1,)."""

    counts: IntArray
    closest: IntArray
    least: FloatArray


@uncounted
def gain_of(scores: Scores, counts: IntArray, giving: int, taking: int) -> float:
    """What a move gains in similarity; -inf where there is none."""
    lost = scores.marginals[scores.offset[giving] + counts[giving]]
    gain: float = scores.marginals[scores.offset[taking] + counts[taking] + 1] - lost
    return gain


@uncounted
def mpr_of(trees: Trees, worth: float) -> float:
    """The MPR of what the best tree is worth."""
    mpr: float = worth if trees.is_signed else np.sqrt(worth)
    return mpr


@uncounted
def worth_of(trees: Trees, mpr: float) -> float:
    """The reverse."""
    return mpr if trees.is_signed else mpr * mpr


@compiled
def items_of(scores: Scores, counts: IntArray) -> tuple[IntArray, float]:
    """The cells (k,) of the items that counts (C,) select, and their similarity."""
    chosen, place, similarity = np.empty(counts.sum(), np.int64), 0, 0.0
    for cell in range(counts.size):
        for rank in range(counts[cell]):
            chosen[place] = cell
            place += 1
            similarity += scores.marginals[scores.offset[cell] + 1 + rank]
    return chosen, similarity


@compiled
def note(here: Here, mpr: float, similarity: float, limits: Limits, most: float, found: Found) -> float:
    """Keep the counts where they are the best so far; the largest similarity within rho."""
    if mpr < found.least[0]:
        found.least[0] = mpr
        found.closest[:] = here.counts
    if mpr <= limits.rho and similarity > most + SMALLEST_GAIN:
        found.counts[:] = here.counts
        return similarity
    return most


@compiled
def annealed(
    trees: Trees,
    scores: Scores,
    kept: Kept,
    limits: Limits,
    cooling: Cooling,
    counts: IntArray,
    most: float,
    found: Found,
) -> float:
    """The largest similarity above `most` of sets within rho, by annealing from counts (C,)."""
    here = placed(trees, counts)
    chosen, similarity = items_of(scores, counts)
    mpr = mpr_of(trees, here.worth[-1])
    most = note(here, mpr, similarity, limits, most, found)
    temperature, falling, state, asked = cooling.first, factor(cooling), np.uint64(1), 0
    move = np.empty(2, np.int64)
    for _ in range(cooling.steps):
        if asked == limits.evaluations or most >= limits.enough:
            break
        temperature *= falling
        state = next_state(state)
        place, taking = below(part(state, 0), chosen.size), below(part(state, 1), counts.size)
        giving = chosen[place]
        if giving == taking:
            continue
        gain = gain_of(scores, here.counts, giving, taking)
        beyond = max(mpr - limits.rho, 0.0)
        further = (allowed_rise(cooling, temperature, state) + gain) / limits.penalty
        if beyond + further < 0.0:
            continue
        limit = worth_of(trees, limits.rho + beyond + further)
        move[0], move[1] = giving, taking
        if is_refused(trees, here, kept, move, limit):
            continue
        asked += 1
        worth = moved(trees, here, kept, move, limit)
        if worth == REFUSED:
            continue
        chosen[place] = taking
        similarity += gain
        mpr = mpr_of(trees, worth)
        most = note(here, mpr, similarity, limits, most, found)
    return most


class Moves(NamedTuple):
    """Moves by what they lose at the prices, least first.  Shapes: move (w, 2), from a cell to another; gain (w,)."""

    move: IntArray
    gain: FloatArray


@compiled
def near_moves(scores: Scores, counts: IntArray) -> Moves:
    """All moves between the cells near the margin."""
    size, count = scores.near.size, 0
    move, gain, lost = np.empty((size * size, 2), np.int64), np.empty(size * size), np.empty(size * size)
    for giving in scores.near:
        if counts[giving] == 0:
            continue
        for taking in scores.near:
            own = gain_of(scores, counts, giving, taking)
            if giving != taking and own > -np.inf:
                move[count, 0], move[count, 1], gain[count] = giving, taking, own
                lost[count] = scores.price[taking] - scores.price[giving] - own
                count += 1
    order = order_of(lost[:count])
    return Moves(move[order], gain[order])


@compiled
def pairs(moves: Moves, most: int) -> Moves:
    """Pairs (v, 4) of the first moves that have no cell in common and gain together."""
    size, count = min(most, moves.gain.size), 0
    move, gain = np.empty((size * size, 4), np.int64), np.empty(size * size)
    for one in range(size):
        for other in range(one + 1, size):
            (a, b), (c, d) = moves.move[one], moves.move[other]
            both = moves.gain[one] + moves.gain[other]
            if both > SMALLEST_GAIN and a not in (c, d) and b not in (c, d):
                move[count, 0], move[count, 1], move[count, 2], move[count, 3] = a, b, c, d
                gain[count] = both
                count += 1
    return Moves(move[:count], gain[:count])


@compiled
def best_within(trees: Trees, here: Here, kept: Kept, moves: Moves, limit: float, left: int) -> tuple[bool, int]:
    """Make the move that gains most of those within a limit, if any; and how often the best tree was asked for."""
    asked = 0
    for one in order_of(-moves.gain):
        if moves.gain[one] <= SMALLEST_GAIN or asked == left:
            break
        if is_refused(trees, here, kept, moves.move[one], limit):
            continue
        asked += 1
        if moved(trees, here, kept, moves.move[one], limit) != REFUSED:
            return True, asked
    return False, asked


@compiled
def climbed(trees: Trees, scores: Scores, kept: Kept, limits: Limits, counts: IntArray) -> None:
    """From counts (C,) within rho to some that no move and no pair of moves improves within it, in place."""
    here = placed(trees, counts)
    limit, left = worth_of(trees, limits.rho), limits.evaluations
    if best(trees, here) > limit:
        return
    is_moved = True
    while is_moved and left > 0:
        moves = near_moves(scores, here.counts)
        is_moved, asked = best_within(trees, here, kept, moves, limit, left)
        left -= asked
        if not is_moved:
            is_moved, asked = best_within(trees, here, kept, pairs(moves, limits.pairs_of), limit, left)
            left -= asked
    counts[:] = here.counts
