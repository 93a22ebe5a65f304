"""Whether probabilities of levels are calibrated, and a temperature that calibrates them.

A classifier that is trained until it separates its own rows gives probabilities near 0 and 1, and is wrong more often
than they say. Dividing its logits by a temperature, fitted to rows that it was not trained on, keeps which level is the
likeliest and mends how sure it is (Guo et al. 2017). They are rows of the very model: those of cross-validation are
trained on fewer rows, are further off, and would give another temperature.

That is tested in two ways, each row under the temperature that other ones gave:

- The **expected calibration error** sorts rows by the probability of a level into bins of as many rows, and takes the
  mean difference between probabilities and shares, over bins and levels. It is above 0 by chance, so that it is
  compared with what labels drawn from the probabilities themselves would give.
- **Spiegelhalter's z** (1986) compares Brier's score with what the probabilities say of it. With several levels, a row
  of level Y has the score 1 - 2 p_Y + sum p^2, its mean is 1 - sum p^2 and its variance 4 (sum p^3 - (sum p^2)^2).

Worked example: of four rows that are said to be of level 0 with 80%, one is.

>>> import numpy as np
>>> found = calibration_of(np.array([[0.8, 0.2]] * 4), np.array([0, 1, 1, 1]))
>>> round(found.error, 2), round(found.z, 2), found.is_kept
(0.55, 2.75, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray

# Rows of a bin, and bins at most.
FEWEST_ROWS, MOST_BINS = 10, 10
# Draws of labels from the probabilities, and of rows.
DRAWS = 200
# Below this p value, twice the smaller one of both tests, probabilities are said not to be calibrated.
LEVEL = 0.05
# Logarithms of temperatures that are tried: what is beyond is a classifier that says nothing, or everything.
COLDEST, HOTTEST = -3.0, 3.0
# Of the logarithm of a temperature, before any row is seen.
PRIOR_DEVIATION = 0.5
FOLDS = 5
# Probabilities of 0 and 1 leave Brier's score no variance.
SMALLEST_VARIANCE = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """What rows that were held out say of probabilities.

    rows: how many; error: the expected calibration error, with its standard error and what it would be by chance on
    average; z: Spiegelhalter's; p_value: of both tests together.
    """

    rows: int
    error: float
    standard_error: float
    chance_error: float
    z: float
    p_value: float

    @property
    def is_kept(self) -> bool:
        """Whether the rows do not speak against the probabilities."""
        return self.p_value >= LEVEL

    def manifest(self) -> dict[str, Any]:
        """What a run should store, as plain values."""
        return {name: getattr(self, name) for name in (*self.__slots__, "is_kept")}


def temperature_of(logits: FloatArray, codes: IntArray) -> float:
    """The likeliest temperature of rows (n,) of these levels, given logits (n, L) of a model that was not trained on
    them; its logarithm is thought to be near 0, which matters where rows are few."""
    from scipy.optimize import minimize_scalar

    def loss(exponent: float) -> float:
        scaled = logits / np.exp(exponent)
        unlikely = scipy.special.logsumexp(scaled, axis=1) - scaled[np.arange(codes.size), codes]
        return float(np.sum(unlikely) + 0.5 * (exponent / PRIOR_DEVIATION) ** 2)

    return float(np.exp(minimize_scalar(loss, bounds=(COLDEST, HOTTEST), method="bounded").x))


def cross_fitted(logits: FloatArray, codes: IntArray) -> FloatArray:
    """Probabilities (n, L) of rows, each under the temperature that the other folds of them give."""
    places = np.empty(codes.size, dtype=np.intp)
    places[np.argsort(codes, kind="stable")] = np.arange(codes.size)
    # Each fold has its part of every level.
    fold = places % FOLDS
    found = np.empty(logits.shape)
    for one in np.unique(fold):
        rest, own = fold != one, fold == one
        temperature = temperature_of(logits[rest], codes[rest]) if rest.any() else 1.0
        found[own] = scipy.special.softmax(logits[own] / temperature, axis=1)
    return found


def calibration_of(probabilities: FloatArray, codes: IntArray) -> Calibration:
    """The tests of probabilities (n, L) of rows whose levels (n,) are known."""
    random = np.random.default_rng(codes.size)
    bins, cumulated = _bins(probabilities), np.cumsum(probabilities, axis=1)[:, :-1]
    error, by_chance, again = _error(probabilities, codes, bins), np.zeros(DRAWS), np.zeros(DRAWS)
    for draw in range(DRAWS):
        by_chance[draw] = _error(probabilities, (random.random((codes.size, 1)) > cumulated).sum(axis=1), bins)
        rows = random.integers(codes.size, size=codes.size)
        again[draw] = _error(probabilities[rows], codes[rows], bins[rows])
    z = spiegelhalter_z(probabilities, codes)
    of_error = (1 + int(np.sum(by_chance >= error))) / (1 + DRAWS)
    return Calibration(
        rows=int(codes.size),
        error=error,
        standard_error=float(np.std(again)),
        chance_error=float(by_chance.mean()),
        z=z,
        p_value=min(1.0, 2.0 * min(of_error, 2.0 * float(scipy.stats.norm.sf(abs(z))))),
    )


def spiegelhalter_z(probabilities: FloatArray, codes: IntArray) -> float:
    """How many standard errors Brier's score is above what the probabilities (n, L) say."""
    squares = (probabilities**2).sum(axis=1)
    above = float(np.sum(2.0 * (squares - probabilities[np.arange(codes.size), codes])))
    variance = float(np.sum(4.0 * ((probabilities**3).sum(axis=1) - squares**2)))
    return above / float(np.sqrt(max(variance, SMALLEST_VARIANCE)))


def _bins(probabilities: FloatArray) -> IntArray:
    """The bin (n, L) of each row by its probability of each level: rows of the same one share it, whatever their order,
    so that a bin may hold more rows than others."""
    rows = len(probabilities)
    count = min(MOST_BINS, max(1, rows // FEWEST_ROWS))
    ranks = scipy.stats.rankdata(probabilities, method="min", axis=0).astype(np.intp) - 1
    found: IntArray = ranks * count // rows
    return found


def _error(probabilities: FloatArray, codes: IntArray, bins: IntArray) -> float:
    """The expected calibration error of rows of these levels (n,)."""
    off = probabilities.copy()
    off[np.arange(codes.size), codes] -= 1.0
    of_bins = np.bincount((bins * off.shape[1] + np.arange(off.shape[1])).ravel(), off.ravel())
    return float(np.abs(of_bins).sum()) / off.size
