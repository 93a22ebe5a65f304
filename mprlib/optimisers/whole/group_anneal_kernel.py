"""Compiled loop of `group_limits`: simulated annealing over whole counts of cells under limits on the counts of groups.

At prices y of the limits every set has  bound - similarity = sum of its cells' losses + sum_G |y_G| slack_G,  where the
slack of a priced limit is negative beyond it. The energy of counts is this difference and a penalty for each item
beyond a limit, larger than any price. A move takes an item of one cell for one of another.
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import IntArray
from mprlib.compiled import compiled, uncounted
from mprlib.optimisers.cooling_kernel import Cooling, allowed_rise, factor
from mprlib.optimisers.random_kernel import below, next_state, part
from mprlib.optimisers.whole.decoder_kernel import ROUNDING
from mprlib.optimisers.whole.group_kernel import Grouped


@uncounted
def limit_energy(problem: Grouped, group: int, count: int, penalty: float) -> float:
    """The energy of a group's count."""
    price, low, high = problem.price[group], problem.low[group], problem.high[group]
    slack = high - count if price > 0.0 else count - low
    energy: float = abs(price) * slack + penalty * max(low - count, count - high, 0)
    return energy


@uncounted
def beyond(problem: Grouped, group: int, count: int) -> int:
    """Items of a group beyond its limits."""
    outside: int = max(problem.low[group] - count, count - problem.high[group], 0)
    return outside


@compiled
def annealed(
    problem: Grouped, penalty: float, cooling: Cooling, least: float, counts: IntArray, best: IntArray
) -> float:
    """The smallest energy below `least` of counts within all limits, from counts (F,) of k items; written to `best`.

    penalty: of an item beyond a limit, in similarity.
    """
    cells, sets = problem.group.shape
    taken = np.zeros(problem.low.size, np.int64)
    for cell in range(cells):
        for one in range(sets):
            taken[problem.group[cell, one]] += counts[cell]
    energy, outside = 0.0, 0
    for cell in range(cells):
        energy += problem.loss[cell, counts[cell]]
    for group in range(taken.size):
        energy += limit_energy(problem, group, taken[group], penalty)
        outside += beyond(problem, group, taken[group])
    temperature, falling, state = cooling.first, factor(cooling), np.uint64(1)
    for _ in range(cooling.steps):
        temperature *= falling
        state = next_state(state)
        giving, taking = below(part(state, 0), cells), below(part(state, 1), cells)
        if giving == taking or counts[giving] == 0 or counts[taking] == problem.capacity[taking]:
            continue
        change = problem.loss[giving, counts[giving] - 1] - problem.loss[giving, counts[giving]]
        change += problem.loss[taking, counts[taking] + 1] - problem.loss[taking, counts[taking]]
        further = 0
        for one in range(sets):
            own, other = problem.group[giving, one], problem.group[taking, one]
            if own != other:
                change += limit_energy(problem, own, taken[own] - 1, penalty)
                change -= limit_energy(problem, own, taken[own], penalty)
                change += limit_energy(problem, other, taken[other] + 1, penalty)
                change -= limit_energy(problem, other, taken[other], penalty)
                further += beyond(problem, own, taken[own] - 1) - beyond(problem, own, taken[own])
                further += beyond(problem, other, taken[other] + 1) - beyond(problem, other, taken[other])
        if change > allowed_rise(cooling, temperature, state):
            continue
        counts[giving] -= 1
        counts[taking] += 1
        for one in range(sets):
            taken[problem.group[giving, one]] -= 1
            taken[problem.group[taking, one]] += 1
        energy += change
        outside += further
        if outside == 0 and energy < least - ROUNDING:
            least = energy
            best[:] = counts
    return least
