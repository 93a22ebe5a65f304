"""Lotteries: independent draws from a reference's cells, and how many of them a class can afford.

Source:  Walker's alias method (Vose 1991) for draws of single cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by_row
from mprlib.function_classes.base import DECIMALS
from mprlib.problem import Problem
from mprlib.problem_arguments import checked_names

SEED = 20240711
# Lotteries, by what they cost: of each number plus one, 95% is whole. p values are known to their inverse.
DRAWS = (9_999, 4_999, 1_999, 999, 499, 199)
# Multiplications that all lotteries of a class may take: some 50 ms of one core; trees of many cells get fewer.
LARGEST_WORK = 300_000_000
# Lotteries that are worked on at once: their counts stay in the processor's cache.
BLOCK = 1_000
# Above this many draws, counts are drawn cell by cell.
MOST_ROWS = 500
# Entries of a block of drawn rows, 40 MB.
LARGEST_BLOCK = 5_000_000


def draws_for(work: float) -> int:
    return next((draws for draws in DRAWS if draws * work <= LARGEST_WORK), DRAWS[-1])


# A worker solves queries of one reference and k one after the other.
@lru_cache(maxsize=4)
def lottery_counts(shares: bytes, k: int, draws: int) -> IntArray:
    """Counts (draws, G) of lotteries of k draws from these shares (G,), given as bytes of doubles."""
    given = np.frombuffer(shares)
    random = np.random.default_rng([SEED, k])
    counts = np.empty((draws, given.size), dtype=np.uint16 if k < 2**16 else np.int64)
    for start in range(0, draws, BLOCK):
        size = min(BLOCK, draws - start)
        if k > MOST_ROWS:
            counts[start : start + size] = random.multinomial(k, given / given.sum(), size=size)
            continue
        drawn = drawn_cells(given, (size, k), random)
        drawn += np.arange(0, size * given.size, given.size)[:, None]
        counts[start : start + size] = np.bincount(drawn.ravel(), minlength=size * given.size).reshape(size, -1)
    counts.flags.writeable = False
    return counts


@lru_cache(maxsize=4)
def weighted_lotteries(shares: bytes, weights: bytes, draws: int) -> FloatArray:
    """Attention (draws, G) to the cells of lotteries: one draw a place from shares (G,), weights (k,) of the places."""
    given, of_places = np.frombuffer(shares), np.frombuffer(weights)
    random = np.random.default_rng([SEED, of_places.size])
    found, block = np.empty((draws, given.size)), max(1, min(BLOCK, LARGEST_BLOCK // of_places.size))
    for start in range(0, draws, block):
        drawn = drawn_cells(given, (min(block, draws - start), of_places.size), random)
        found[start : start + len(drawn)] = sums_by_row(drawn, of_places, given.size)
    found.flags.writeable = False
    return found


def drawing_order(problem: Problem, labels: FloatArray, shares: FloatArray, masses: FloatArray) -> IntArray:
    """Cells (G,) in an order that no order of the columns changes: by their labels (G, l), columns sorted by name.

    Columns without names are sorted by their mean over cells with these shares (G,). Where two means are equal, cells
    are in the order of their shares and masses (G,): those that have both in common are alike to all functions of them.
    """
    names: Sequence[Any] = problem.label_names
    if names == checked_names(None, len(names)):
        names = np.round(shares @ labels, DECIMALS).tolist()
        if len(set(names)) < len(names):
            return np.lexsort([np.round(masses, DECIMALS), np.round(shares, DECIMALS)])
    columns = sorted(range(len(names)), key=lambda column: names[column])
    return np.lexsort(labels[:, columns[::-1]].T)


def drawn_cells(shares: FloatArray, shape: tuple[int, int], random: np.random.Generator) -> IntArray:
    """Independent draws of cells with these shares (G,).

    Source:  Walker's alias method (Vose 1991): one look-up a draw, whatever the number of cells.
    """
    keep, alias = _alias_table(shares)
    place = random.random(shape)
    place *= shares.size
    cell = np.minimum(place.astype(np.intp), shares.size - 1)
    place -= cell
    drawn: IntArray = np.where(place < keep[cell], cell, alias[cell])
    return drawn


def _alias_table(shares: FloatArray) -> tuple[FloatArray, IntArray]:
    scaled = (shares * (shares.size / shares.sum())).tolist()
    keep, alias = np.ones(shares.size), np.arange(shares.size)
    small = [cell for cell, share in enumerate(scaled) if share < 1.0]
    large = [cell for cell, share in enumerate(scaled) if share >= 1.0]
    while small and large:
        less, more = small.pop(), large[-1]
        keep[less], alias[less] = scaled[less], more
        scaled[more] -= 1.0 - scaled[less]
        if scaled[more] < 1.0:
            small.append(large.pop())
    return keep, alias
