"""Compiled products of `mmr`: distances from some items to all of a pool, kept for other lambda and later steps.

Pools of one data set share their items, and a column of distances does not depend on the query: columns from an item
to all of the data set may be kept for the next pool, which takes its own items of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled

# A product with one vector takes another path in BLAS: fewer than this are faster one by one.
SMALLEST_BATCH = 4
# What a row of kept columns belongs to, or where an item's column is, where there is none.
NONE = -1


class Pool(NamedTuple):
    """Items as vectors.

    Shapes:  vectors (N, d) and squares (N,) of their lengths, of one precision; given (N, d), the vectors as they
             were given; rows (n,), which of these vectors are the pool's items: all in order where no columns are kept;
             order (n,), best first, and rank (n,), each item's place in it.
    """

    vectors: FloatArray
    squares: FloatArray
    given: FloatArray
    rows: IntArray
    order: IntArray
    rank: IntArray


class Kept(NamedTuple):
    """Columns of distances to all N vectors, kept for other pools; the one that was asked for longest ago gives way.

    Shapes:  table (S, N), without rows where none are kept; slot (N,), each vector's row of the table, or NONE;
             owner (S,), whose column a row holds, or NONE; used (S,), when it was asked for last; clock (1,).
    """

    table: FloatArray
    slot: IntArray
    owner: IntArray
    used: IntArray
    clock: IntArray


def none_kept(precision: np.dtype[Any]) -> Kept:
    """No columns of other pools, in the form in which the kernels take them."""
    nothing = np.empty(0, dtype=np.int64)
    table = np.empty((0, 0), dtype=precision)
    return Kept(table=table, slot=nothing, owner=nothing, used=nothing, clock=nothing)


class Columns(NamedTuple):
    """Distances, a row of the table for each item that has some.

    Shapes:  table (C + L, n), of which the last L rows are room for items beyond the C that are kept; slot (n,), each
             item's row, NONE where it has none; number (2,), rows that are in use, and how many were computed in all.
    """

    table: FloatArray
    slot: IntArray
    number: IntArray


@compiled
def compute(pool: Pool, rows: IntArray, found: FloatArray) -> None:
    """Distances (rows, N) from each of some vectors to all."""
    if rows.size < SMALLEST_BATCH:
        for place in range(rows.size):
            found[place] = np.dot(pool.vectors, pool.vectors[rows[place]])
    else:
        chosen = np.empty((rows.size, pool.vectors.shape[1]), pool.vectors.dtype)
        for place in range(rows.size):
            chosen[place] = pool.vectors[rows[place]]
        np.dot(chosen, pool.vectors.T, found)
    two, none = pool.squares.dtype.type(2.0), pool.squares.dtype.type(0.0)
    for place in range(rows.size):
        row, square = found[place], pool.squares[rows[place]]
        for item in range(row.size):
            row[item] = np.sqrt(max((pool.squares[item] - two * row[item]) + square, none))


@compiled
def keep(kept: Kept, row: int, column: FloatArray) -> None:
    """A vector's distances (N,), in the place of those that were asked for longest ago."""
    own = np.argmin(kept.used)
    if kept.owner[own] != NONE:
        kept.slot[kept.owner[own]] = NONE
    kept.table[own] = column
    kept.slot[row], kept.owner[own], kept.used[own] = own, row, kept.clock[0]


@compiled
def take_from(column: FloatArray, rows: IntArray, found: FloatArray) -> None:
    """The pool's part (n,) of distances to all (N,)."""
    for item in range(rows.size):
        found[item] = column[rows[item]]


@compiled
def fill(pool: Pool, kept: Kept, items: IntArray, found: FloatArray) -> int:
    """Distances (items, n) from each of some distinct items to all of the pool; returns how many were computed."""
    if kept.table.shape[0] == 0:
        compute(pool, items, found)
        return items.size
    kept.clock[0] += 1
    missing, number = np.empty(items.size, np.int64), 0
    for place in range(items.size):
        own = kept.slot[pool.rows[items[place]]]
        if own == NONE:
            missing[number] = place
            number += 1
        else:
            kept.used[own] = kept.clock[0]
            take_from(kept.table[own], pool.rows, found[place])
    if number > 0:
        rows = pool.rows[items[missing[:number]]]
        computed = np.empty((number, pool.vectors.shape[0]), kept.table.dtype)
        compute(pool, rows, computed)
        for one in range(number):
            take_from(computed[one], pool.rows, found[missing[one]])
            keep(kept, rows[one], computed[one])
    return number


@compiled
def is_kept(pool: Pool, kept: Kept, item: int) -> bool:
    """Whether an item's column needs no product."""
    return kept.slot.size > 0 and kept.slot[pool.rows[item]] != NONE


@compiled
def place_of(pool: Pool, kept: Kept, columns: Columns, needed: IntArray, likely: IntArray, places: IntArray) -> None:
    """The row of the table of each needed item (L,), into places; what lacks one is computed, with likely items."""
    room, used = columns.table.shape[0] - needed.size, columns.number[0]
    missing, first = np.empty(needed.size + likely.size, np.int64), used
    for place in range(missing.size):
        is_needed = place < needed.size
        item = needed[place] if is_needed else likely[place - needed.size]
        if columns.slot[item] == NONE and used < room and (is_needed or not is_kept(pool, kept, item)):
            missing[used - first] = item
            columns.slot[item] = used
            used += 1
    if used > first:
        columns.number[1] += fill(pool, kept, missing[: used - first], columns.table[first:used])
        columns.number[0] = used
    for own in range(needed.size):
        places[own] = columns.slot[needed[own]]
        if places[own] == NONE:
            places[own] = room + own
            columns.number[1] += fill(pool, kept, needed[own : own + 1], columns.table[room + own : room + own + 1])
