"""Compiled selection and sorting of few numbers, in place: numpy's count references at every step."""

from __future__ import annotations

from mprlib.arrays import FloatArray
from mprlib.compiled import uncounted


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
