"""Cooling of compiled simulated annealing: temperatures that fall by the same factor, and what a move may cost.

A move that raises the energy is made with probability exp(-rise / temperature): where the rise is at most the
temperature times a draw of a standard exponential, whose quantiles are a table.

Source:  Kirkpatrick, Gelatt and Vecchi 1983.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import uncounted
from mprlib.optimisers.random_kernel import below, part

# Quantiles of the exponential distribution that moves draw from: finer ones change nothing.
QUANTILES = 4_096


class Cooling(NamedTuple):
    """Temperatures from the first to the last in so many steps.

    quantiles (any,): of a standard exponential.
    """

    first: float
    last: float
    steps: int
    quantiles: FloatArray


def cooling(first: float, last: float, steps: int) -> Cooling:
    """Temperatures from the first to the last in so many steps."""
    return Cooling(first, last, steps, exponential_quantiles())


@cache
def exponential_quantiles() -> FloatArray:
    """Quantiles (QUANTILES,) of the standard exponential distribution, at the middles of equal parts."""
    found = np.array([-math.log((place + 0.5) / QUANTILES) for place in range(QUANTILES)])
    found.flags.writeable = False
    return found


@uncounted
def factor(cooled: Cooling) -> float:
    """What a temperature is multiplied by at each step."""
    ratio: float = (cooled.last / cooled.first) ** (1.0 / cooled.steps)
    return ratio


@uncounted
def allowed_rise(cooled: Cooling, temperature: float, state: np.uint64) -> float:
    """By how much the move of a state, whose third part is drawn, may raise the energy."""
    rise: float = temperature * cooled.quantiles[below(part(state, 2), cooled.quantiles.size)]
    return rise
