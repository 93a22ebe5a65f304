"""Compiled products of `mmr`: distances from some items to all of a pool, kept for other lambda and later steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled

# A product with one vector takes another path in BLAS: fewer than this are faster one by one.
SMALLEST_BATCH = 4


class Pool(NamedTuple):
    """Items as vectors.

    Shapes:  vectors (n, d) and squares (n,) of their lengths, of one precision; given (n, d), the vectors as they
             were given; order (n,), best first, and rank (n,), each item's place in it.
    """

    vectors: FloatArray
    squares: FloatArray
    given: FloatArray
    order: IntArray
    rank: IntArray


class Columns(NamedTuple):
    """Distances, a row of the table for each item that has some.

    Shapes:  table (C + L, n), of which the last L rows are room for items beyond the C that are kept; slot (n,), each
             item's row, -1 where it has none; number (2,), rows that are in use, and how many were computed in all.
    """

    table: FloatArray
    slot: IntArray
    number: IntArray


@compiled
def compute(pool: Pool, items: IntArray, found: FloatArray) -> None:
    """Distances (items, n) from each of some items to all."""
    if items.size < SMALLEST_BATCH:
        for place in range(items.size):
            found[place] = np.dot(pool.vectors, pool.vectors[items[place]])
    else:
        rows = np.empty((items.size, pool.vectors.shape[1]), pool.vectors.dtype)
        for place in range(items.size):
            rows[place] = pool.vectors[items[place]]
        np.dot(rows, pool.vectors.T, found)
    two, none = pool.squares.dtype.type(2.0), pool.squares.dtype.type(0.0)
    for place in range(items.size):
        row, square = found[place], pool.squares[items[place]]
        for item in range(row.size):
            row[item] = np.sqrt(max((pool.squares[item] - two * row[item]) + square, none))


@compiled
def place_of(pool: Pool, columns: Columns, needed: IntArray, likely: IntArray, places: IntArray) -> None:
    """The row of the table of each needed item (L,), into places; what lacks one is computed, with likely items."""
    kept, used = columns.table.shape[0] - needed.size, columns.number[0]
    missing, first = np.empty(needed.size + likely.size, np.int64), used
    for group in (needed, likely):
        for item in group:
            if columns.slot[item] < 0 and used < kept:
                missing[used - first] = item
                columns.slot[item] = used
                used += 1
    if used > first:
        compute(pool, missing[: used - first], columns.table[first:used])
        columns.number[0] = used
        columns.number[1] += used - first
    for own in range(needed.size):
        places[own] = columns.slot[needed[own]]
        if places[own] < 0:
            places[own] = kept + own
            compute(pool, needed[own : own + 1], columns.table[kept + own : kept + own + 1])
            columns.number[1] += 1
