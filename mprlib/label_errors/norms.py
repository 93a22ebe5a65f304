"""The length of a vector that is seen with noise: its estimate and its interval.

Seen is z = mu + xi, with draws of xi at hand, and |mu| is wanted. |z| is too long, E|z|^2 = |mu|^2 + tr Cov(xi), so
that the root of |z|^2 - tr is the estimate. Its interval holds every length theta for which a vector of it would be
seen as z with a probability of more than alpha / 2 on either side. That is right near zero too, where quantiles
around |z| are not: they lie above the truth. How |theta u + xi| is distributed depends on the direction u; those of z
and of the largest noise are both tried, and the interval holds what either allows.

Worked example: noise of length 1 in each of two directions, and something seen at 1: zero is possible.

>>> import numpy as np
>>> draws = np.random.default_rng(0).standard_normal((4000, 2))
>>> low, high = length_interval(np.array([1.0, 0.0]), draws, 0.95)
>>> low, round(high)
(0.0, 3)
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray

# Draws beyond this part of them count as those at it.
LARGEST_PART = 0.975


def unbiased_length(seen: FloatArray, noise: FloatArray) -> float:
    """sqrt(|z|^2 - tr) of z (r,) with draws (B, r) of its noise, 0 where that is negative."""
    return float(np.sqrt(max(float(seen @ seen) - mean_square(noise), 0.0)))


def mean_square(noise: FloatArray) -> float:
    """E|xi|^2 of draws (B, r)."""
    return float(steady_mean(np.einsum("ij,ij->i", noise, noise)))


def steady_mean(squares: FloatArray) -> FloatArray:
    """The mean over draws (B, ...) whose largest ones count as those at the end of a 95% interval.

    A confusion of few hand labels is drawn with tails so wide that some draws are hardly better than lots. A mean of
    all would be theirs: above everything that the interval holds.
    """
    found: FloatArray = np.minimum(squares, np.quantile(squares, LARGEST_PART, axis=0)).mean(axis=0)
    return found


def length_interval(seen: FloatArray, noise: FloatArray, confidence: float) -> tuple[float, float]:
    """Ends of the interval of |mu|, given z (r,) and draws (B, r) of its noise."""
    length = float(np.linalg.norm(seen))
    squares = np.einsum("ij,ij->i", noise, noise)
    if not squares.any():
        return length, length
    alpha = (1.0 - confidence) / 2.0
    ends = [_interval_ends(length, squares, noise @ direction, alpha) for direction in _directions(seen, noise)]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _directions(seen: FloatArray, noise: FloatArray) -> list[FloatArray]:
    _, axes = np.linalg.eigh(noise.T @ noise)
    length = np.linalg.norm(seen)
    return [axes[:, -1], *([seen / length] if length > 0 else [])]


def _interval_ends(length: float, squares: FloatArray, along: FloatArray, alpha: float) -> tuple[float, float]:
    # Noise has no preferred sign: both ends of the direction are as likely.
    return _largest(length, squares, along, 1.0 - alpha), max(_largest(length, squares, along, alpha), length)


def _largest(length: float, squares: FloatArray, along: FloatArray, part: float) -> float:
    """The largest theta at which this part of the draws |theta u + xi| is at most what was seen; 0 where none is.

    A draw is at most the length between the roots of theta^2 + 2 theta u.xi + |xi|^2 = length^2.
    """
    roots = along**2 - squares + length**2
    is_any = roots >= 0.0
    half, middle = np.sqrt(roots[is_any]), -along[is_any]
    starts, ends = middle - half, middle + half
    thetas = np.concatenate([ends, starts])
    # From the largest theta downwards a draw comes in at its upper root and leaves at its lower one.
    order = np.argsort(-thetas, kind="stable")
    inside = np.cumsum(np.repeat([1, -1], half.size)[order])
    is_enough = inside >= part * len(squares)
    return max(float(thetas[order][np.argmax(is_enough)]), 0.0) if is_enough.any() else 0.0
