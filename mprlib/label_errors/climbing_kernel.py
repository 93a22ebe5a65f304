"""Compiled steps of Newton's method up the log posterior density of a score model's parameters."""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.compiled import compiled
from mprlib.label_errors.posterior_kernel import Given, Normal, Seen, log_density, space

# A step that gains less, in logarithms, is the last: what is weighed by densities is then right to a thousandth.
LEAST_GAIN = 1e-3


@compiled
def _moved(parameters: FloatArray, inverse: FloatArray, gradient: FloatArray, part: float) -> FloatArray:
    """Parameters after a part of a step of Newton's method, by the inverse (P, P) of a curvature."""
    step = np.zeros(parameters.size)
    for row in range(parameters.size):
        for column in range(parameters.size):
            step[column] += inverse[row, column] * gradient[row]
    return parameters + part * step


@compiled
def climbed(
    seen: Seen, given: Given, normal: Normal, parameters: FloatArray, inverse: FloatArray, steps: int, halvings: int
) -> tuple[FloatArray, float]:
    """Parameters after at most so many steps, each halved so often until it gains; and their log density."""
    at, gradient, other = space(seen), np.empty(parameters.size), np.empty(parameters.size)
    best = log_density(seen, given, 0, normal, parameters, gradient, at)
    for _ in range(steps):
        before, part = best, 1.0
        for _ in range(halvings):
            tried = _moved(parameters, inverse, gradient, part)
            density = log_density(seen, given, 0, normal, tried, other, at)
            if density > best:
                parameters, best = tried, density
                gradient, other = other, gradient
                break
            part *= 0.5
        if not best > before + LEAST_GAIN:
            break
    return parameters, best


@compiled
def refitted(
    seen: Seen, given: Given, normal: Normal, parameters: FloatArray, inverse: FloatArray, draws: int, steps: int
) -> FloatArray:
    """Parameters (draws, P) under each draw: after that one of at most so many whole steps which has the highest
    density."""
    at, gradient = space(seen), np.empty(parameters.size)
    found = np.empty((draws, parameters.size))
    for draw in range(draws):
        tried, highest = parameters, -np.inf
        found[draw] = parameters
        for step in range(steps + 1):
            density = log_density(seen, given, draw, normal, tried, gradient, at)
            gain = density - highest
            if gain > 0.0:
                highest = density
                found[draw] = tried
            if 0.0 <= gain < LEAST_GAIN:
                break
            if step < steps:
                tried = _moved(tried, inverse, gradient, 1.0)
    return found
