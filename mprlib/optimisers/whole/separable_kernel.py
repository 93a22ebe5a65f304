"""Compiled loops of `separable`: the best whole counts at one price, and the search among those that lose little.

With targets t_g = k q_g and weights u_g the square of MPR is sum_g u_g (x_g - t_g)^2. At a price mu

    sum_g F_g(x_g) - mu u_g (x_g - t_g)^2

is a sum of concave functions of whole counts, so the k largest increments are a maximiser.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.compiled import compiled
from mprlib.optimisers.sorting_kernel import order_of

# Sums of k scaled scores differ by less than this through rounding.
ROUNDING = 1e-12
# Prices tried at most: the crossing of two lines is exact after about ten.
LARGEST_STEPS = 100


class Separable(NamedTuple):
    """The problem.  Shapes: first, capacity, target, weight (G,); scores (N,), falling within each cell."""

    k: int
    first: IntArray
    capacity: IntArray
    scores: FloatArray
    target: FloatArray
    weight: FloatArray


class Choices(NamedTuple):
    """Each cell's counts that lose little at the price, the cheapest first.

    Shapes:  size (G,); counts, loss, similarity, square (G, k + 1).
    """

    size: IntArray
    counts: IntArray
    loss: FloatArray
    similarity: FloatArray
    square: FloatArray


class Terms(NamedTuple):
    """k, the largest square of MPR, the price, and the dual bound at it."""

    k: int
    limit: float
    price: float
    bound: float


@compiled
def increment(problem: Separable, price: float, score: float, cell: int, count: int) -> float:
    """What one more item of the cell adds, beside `count` of them; score 0 leaves similarity out."""
    if count >= problem.capacity[cell]:
        return -np.inf
    gain: float = score * problem.scores[problem.first[cell] + count]
    gain -= price * problem.weight[cell] * (2.0 * (count - problem.target[cell]) + 1.0)
    return gain


@compiled
def sift(heap: IntArray, key: FloatArray, place: int) -> None:
    """Restore the heap order (largest key on top, then the first cell) below a place."""
    size = heap.size
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        other = child + 1
        if other < size:
            difference = key[heap[other]] - key[heap[child]]
            if difference > 0.0 or (difference == 0.0 and heap[other] < heap[child]):
                child = other
        difference = key[heap[child]] - key[heap[place]]
        if difference < 0.0 or (difference == 0.0 and heap[child] > heap[place]):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@compiled
def greedy(problem: Separable, price: float, score: float, counts: IntArray) -> tuple[float, float]:
    """The best counts (G,) at the price, in place; their similarity and the square of their MPR."""
    cells = problem.capacity.size
    key = np.empty(cells)
    heap = np.arange(cells)
    for cell in range(cells):
        counts[cell] = 0
        key[cell] = increment(problem, price, score, cell, 0)
    for place in range(cells // 2 - 1, -1, -1):
        sift(heap, key, place)
    for _ in range(problem.k):
        cell = heap[0]
        counts[cell] += 1
        key[cell] = increment(problem, price, score, cell, counts[cell])
        sift(heap, key, 0)
    return worth(problem, counts)


@compiled
def worth(problem: Separable, counts: IntArray) -> tuple[float, float]:
    """Similarity of counts, and the square of their MPR."""
    similarity, square = 0.0, 0.0
    for cell in range(counts.size):
        square += problem.weight[cell] * (counts[cell] - problem.target[cell]) ** 2
        for place in range(counts[cell]):
            similarity += problem.scores[problem.first[cell] + place]
    return similarity, square


@compiled
def best_price(
    problem: Separable, limit: float, nearest: IntArray, counts: IntArray, best: IntArray
) -> tuple[float, float, float]:
    """The price mu with the smallest dual bound: (price, bound, similarity of `best`).

    limit: the largest square of MPR. nearest: counts with the smallest one, within the limit. counts and best (G,)
    are written: the maximiser at the price, and the best counts within the limit that were met.
    Each price's maximiser is a line of the dual function; the next price is where two lines cross.
    """
    inner, inner_square = worth(problem, nearest)
    best[:] = nearest
    best_similarity = inner
    outer, outer_square = greedy(problem, 0.0, 1.0, counts)
    if outer_square <= limit:
        best[:] = counts
        return 0.0, outer, outer
    price, bound = 0.0, outer
    for _ in range(LARGEST_STEPS):
        crossing = (outer - inner) / (outer_square - inner_square)
        similarity, square = greedy(problem, crossing, 1.0, counts)
        value = similarity - crossing * (square - limit)
        if value < bound:
            price, bound = crossing, value
        if square <= limit and similarity > best_similarity:
            best_similarity = similarity
            best[:] = counts
        is_new = inner_square < square < outer_square
        if not is_new or value <= outer - crossing * (outer_square - limit) + ROUNDING:
            break
        if square <= limit:
            inner, inner_square = similarity, square
        else:
            outer, outer_square = similarity, square
    greedy(problem, price, 1.0, counts)
    return price, bound, best_similarity


@compiled
def margin(problem: Separable, price: float, counts: IntArray) -> float:
    """A value between the smallest increment taken and the largest one left at the price."""
    taken, left = np.inf, -np.inf
    for cell in range(counts.size):
        left = max(left, increment(problem, price, 1.0, cell, counts[cell]))
        if counts[cell] > 0:
            taken = min(taken, increment(problem, price, 1.0, cell, counts[cell] - 1))
    return taken if left == -np.inf else 0.5 * (taken + left)


@compiled
def choices(problem: Separable, price: float, counts: IntArray, budget: float) -> Choices:
    """The counts of each cell that lose at most the budget against `counts`, the best at the price."""
    cells, k = problem.capacity.size, problem.k
    level = margin(problem, price, counts)
    found = Choices(
        np.zeros(cells, np.int64),
        np.zeros((cells, k + 1), np.int64),
        np.zeros((cells, k + 1)),
        np.zeros((cells, k + 1)),
        np.zeros((cells, k + 1)),
    )
    for cell in range(cells):
        weight, target, first = problem.weight[cell], problem.target[cell], problem.first[cell]
        similarity = problem.scores[first : first + counts[cell]].sum()
        own = similarity - price * weight * (counts[cell] - target) ** 2 - level * counts[cell]
        similarity, size = 0.0, 0
        for count in range(problem.capacity[cell] + 1):
            if count > 0:
                similarity += problem.scores[first + count - 1]
            square = weight * (count - target) ** 2
            loss = own - (similarity - price * square - level * count)
            if loss <= budget + ROUNDING:
                # Insertion in order of loss: few counts stay.
                place = size
                while place > 0 and found.loss[cell, place - 1] > loss:
                    found.loss[cell, place] = found.loss[cell, place - 1]
                    found.counts[cell, place] = found.counts[cell, place - 1]
                    found.similarity[cell, place] = found.similarity[cell, place - 1]
                    found.square[cell, place] = found.square[cell, place - 1]
                    place -= 1
                found.loss[cell, place] = max(loss, 0.0)
                found.counts[cell, place], found.similarity[cell, place] = count, similarity
                found.square[cell, place] = square
                size += 1
        found.size[cell] = size
    return found


@compiled
def rests(found: Choices, order: IntArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Fewest and most items, smallest and largest square, that the cells from each place of the order on add."""
    cells = order.size
    fewest, most = np.zeros(cells + 1, np.int64), np.zeros(cells + 1, np.int64)
    least, largest = np.zeros(cells + 1), np.zeros(cells + 1)
    for place in range(cells - 1, -1, -1):
        cell = order[place]
        size = found.size[cell]
        fewest[place] = fewest[place + 1] + found.counts[cell, :size].min()
        most[place] = most[place + 1] + found.counts[cell, :size].max()
        least[place] = least[place + 1] + found.square[cell, :size].min()
        largest[place] = largest[place + 1] + found.square[cell, :size].max()
    return fewest, most, least, largest


@compiled
def search(found: Choices, terms: Terms, start: float, nodes: int, best: IntArray) -> tuple[float, int]:
    """Depth first through all choices that may be better than the best similarity, at first `start`.

    A set is below the bound by its loss and by price * (limit - square), what it leaves unused of rho.
    best (G,) is written where better counts are found. Returns the best similarity and the nodes visited, more than
    `nodes` where the search was not finished.
    """
    cells, k, limit = found.size.size, terms.k, terms.limit
    order = order_of(-found.size)
    fewest, most, least, largest = rests(found, order)
    pick = np.zeros(cells + 1, np.int64)
    taken = np.zeros(cells + 1, np.int64)
    loss, similarity, square = np.zeros(cells + 1), np.zeros(cells + 1), np.zeros(cells + 1)
    place, visited = 0, 0
    while place >= 0:
        if place == cells:
            if similarity[place] > start + ROUNDING:
                start = similarity[place]
                for earlier in range(cells):
                    best[order[earlier]] = found.counts[order[earlier], pick[earlier] - 1]
            place -= 1
            continue
        cell = order[place]
        choice = pick[place]
        is_left = choice < found.size[cell] and loss[place] + found.loss[cell, choice] <= terms.bound - start - ROUNDING
        if not is_left:
            pick[place] = 0
            place -= 1
            continue
        pick[place] += 1
        visited += 1
        if visited > nodes:
            break
        count = taken[place] + found.counts[cell, choice]
        total = square[place] + found.square[cell, choice]
        if count + fewest[place + 1] > k or count + most[place + 1] < k or total + least[place + 1] > limit:
            continue
        unused = terms.price * max(limit - total - largest[place + 1], 0.0)
        if loss[place] + found.loss[cell, choice] + unused > terms.bound - start - ROUNDING:
            continue
        taken[place + 1], square[place + 1] = count, total
        loss[place + 1] = loss[place] + found.loss[cell, choice]
        similarity[place + 1] = similarity[place] + found.similarity[cell, choice]
        place += 1
    return start, visited
