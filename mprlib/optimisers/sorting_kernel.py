"""Compiled selection and sorting of few numbers: numpy's count references at each step, and take seconds to compile."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled, uncounted

# Numbers that are sorted by insertion before they are merged.
RUN = 16


@uncounted
def nth(values: FloatArray, size: int, place: int) -> float:
    """The number at a place, from 0, of the first `size` in rising order; they are moved so that it is there, and none
    before it is larger.

    Source:  Hoare 1961.
    """
    low, high = 0, size - 1
    while low < high:
        middle, left, right = values[place], low, high
        while left <= right:
            while values[left] < middle:
                left += 1
            while middle < values[right]:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left, right = left + 1, right - 1
        if right < place:
            low = left
        if place < left:
            high = right
    return float(values[place])


@uncounted
def sort(values: FloatArray, size: int) -> None:
    """Bring the first `size` numbers in rising order: by steps of Shell's, as they are often runs that rise already."""
    step = 1
    while 3 * step + 1 < size:
        step = 3 * step + 1
    while step > 0:
        for place in range(step, size):
            value, at = values[place], place
            while at >= step and values[at - step] > value:
                values[at] = values[at - step]
                at -= step
            values[at] = value
        step //= 3


@compiled
def order_of(keys: FloatArray | IntArray) -> IntArray:
    """The places of the keys (n,), none of them NaN, in rising order of these, equal ones as they are:
    np.argsort(keys, kind="stable")."""
    size = keys.size
    order, other = np.empty(size, np.int64), np.empty(size, np.int64)
    sort_runs(keys, order)
    width = RUN
    while width < size:
        merge_runs(keys, order, width, other)
        order, other = other, order
        width *= 2
    return order


@uncounted
def sort_runs(keys: FloatArray | IntArray, order: IntArray) -> None:
    """Write the order of the keys within every run."""
    for place in range(keys.size):
        start, at = place - place % RUN, place
        while at > start and keys[order[at - 1]] > keys[place]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = place


@uncounted
def merge_runs(keys: FloatArray | IntArray, order: IntArray, width: int, merged: IntArray) -> None:
    """Write the order with every two sorted runs of that width made one."""
    for start in range(0, keys.size, 2 * width):
        middle, end = min(start + width, keys.size), min(start + 2 * width, keys.size)
        left, right = start, middle
        for place in range(start, end):
            if left < middle and (right == end or keys[order[left]] <= keys[order[right]]):
                merged[place] = order[left]
                left += 1
            else:
                merged[place] = order[right]
                right += 1
