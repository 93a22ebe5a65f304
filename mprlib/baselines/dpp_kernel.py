"""Compiled loops of `dpp`: greedy MAP that looks only at items which may have the largest gain.

An item's gain never grows as others are chosen, so that the gain of some steps ago bounds that of now. Items wait in a
heap by their last known gain; the first one is brought up to date, until the first one is up to date already.

Source:  Minoux 1978, on accelerated greedy algorithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled


class Volumes(NamedTuple):
    """Items, and what is known of each.

    Shapes:  vectors (n, d); quality (n,), logarithms; rank (n,), of equal gains the lowest wins; squares and residual
             (n,), squared lengths and squared distances to the span of the first `known` (n,) chosen; gain (n,);
             factor (n, k), of the vectors' products; root (k,), of the chosen items' residuals when they were chosen.
    smallest: the part of a square below which a residual is rounding.
    """

    vectors: FloatArray
    quality: FloatArray
    rank: IntArray
    squares: FloatArray
    residual: FloatArray
    known: IntArray
    gain: FloatArray
    factor: FloatArray
    root: FloatArray
    smallest: float


@compiled
def product(vectors: FloatArray, item: int, other: int) -> float:
    """Of two rows, in double precision, by four sums that do not wait for each other."""
    first = second = third = fourth = 0.0
    width = vectors.shape[1]
    whole = width - width % 4
    for place in range(0, whole, 4):
        first += np.float64(vectors[item, place]) * np.float64(vectors[other, place])
        second += np.float64(vectors[item, place + 1]) * np.float64(vectors[other, place + 1])
        third += np.float64(vectors[item, place + 2]) * np.float64(vectors[other, place + 2])
        fourth += np.float64(vectors[item, place + 3]) * np.float64(vectors[other, place + 3])
    for place in range(whole, width):
        first += np.float64(vectors[item, place]) * np.float64(vectors[other, place])
    return (first + second) + (third + fourth)


@compiled
def value(volumes: Volumes, item: int) -> None:
    """The gain of an item by its residual; -inf where it adds no volume."""
    residual = volumes.residual[item]
    volumes.gain[item] = -np.inf
    if residual > volumes.smallest * volumes.squares[item]:
        # Logarithms, as a quality of exp(weight * z) overflows where gains do not.
        volumes.gain[item] = 2.0 * volumes.quality[item] + np.log(residual)


@compiled
def bring_up_to_date(volumes: Volumes, item: int, chosen: IntArray) -> None:
    """The residual of an item after all that are chosen."""
    for step in range(volumes.known[item], chosen.size):
        other = chosen[step]
        # Qualities cancel between residuals and gains, so the factor is that of the vectors alone.
        part = product(volumes.vectors, item, other)
        for earlier in range(step):
            part -= volumes.factor[item, earlier] * volumes.factor[other, earlier]
        part /= volumes.root[step]
        volumes.factor[item, step] = part
        volumes.residual[item] -= part * part
    volumes.known[item] = chosen.size
    value(volumes, item)


@compiled
def is_before(volumes: Volumes, item: int, other: int) -> bool:
    """Whether an item has the larger gain, or an equal one and the lower rank."""
    if volumes.gain[item] != volumes.gain[other]:
        return bool(volumes.gain[item] > volumes.gain[other])
    return bool(volumes.rank[item] < volumes.rank[other])


@compiled
def sink(volumes: Volumes, heap: IntArray, size: int, place: int) -> None:
    """Put the item at a place of the heap behind those that are before it."""
    item = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and is_before(volumes, heap[child + 1], heap[child]):
            child += 1
        if not is_before(volumes, heap[child], item):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = item


@compiled
def greedy(volumes: Volumes, chosen: IntArray) -> int:
    """Items in the order in which they are taken, into chosen (k,), and how many: fewer where no other adds volume."""
    size = volumes.squares.size
    heap = np.arange(size)
    for item in range(size):
        volumes.squares[item] = volumes.residual[item] = product(volumes.vectors, item, item)
        value(volumes, item)
    for place in range(size // 2 - 1, -1, -1):
        sink(volumes, heap, size, place)
    number = 0
    while number < chosen.size and size > 0:
        best = heap[0]
        if volumes.gain[best] == -np.inf:
            break
        if volumes.known[best] < number:
            bring_up_to_date(volumes, best, chosen[:number])
        else:
            chosen[number], volumes.root[number] = best, np.sqrt(volumes.residual[best])
            number += 1
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            sink(volumes, heap, size, 0)
    return number
