"""Probabilities that were learnt where levels have other shares: the shares of a data set, and what follows for items.

A classifier's probabilities carry the shares of the levels in its training set. Where items have other shares, and look
within each level as those of the training set do, an item's probability of level g is to be multiplied by q_g / s_g and
the row divided by its sum, s being the shares of the training set and q those of the items. q is the likeliest one: it
maximises the sum over items of log sum_g p_ig q_g / s_g, which is concave, and is reached by expectation maximisation,
q being the mean of what it makes of the probabilities (Saerens, Latinne and Decaestecker 2002). That is right for
calibrated probabilities (Alexandari, Kundaje and Shrikumar 2020), and says something where levels can be told apart:
where all items have the training set's shares as probabilities, any q is as likely.

How sure q is: the inverse of the likelihood's curvature, and what a bias of the probabilities, which are estimated from
so many rows, would make of it. The score of q_g is the mean of the ratios w_ig = (p_ig / s_g) / sum_h p_ih q_h / s_h,
less 1; a bias b of the mean probabilities moves it by b_g / s_g.

Worked example: of a training set half is of each level, of 100 items that can be told apart 90 are of the first.

>>> import numpy as np
>>> surely = np.array([[0.98, 0.02]] * 90 + [[0.02, 0.98]] * 10)
>>> found = shift_of(surely, [0.5, 0.5])
>>> found.after.round(2).tolist(), found.of(surely)[90].round(2).tolist()
([0.92, 0.08], [0.18, 0.82])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, finite
from mprlib.errors import InputError

# Rounds of accelerated expectation maximisation, each of three steps, and the change of a share that ends them: shares
# are printed with two digits. Where levels overlap plain steps would take thousands.
MOST_ROUNDS, TOLERANCE = 200, 1e-7
# Half of a 95% interval, in standard errors.
HALF_INTERVAL = 1.96
# Shares that are known no better than to so many points, and may be those of the training set, leave probabilities as
# they are; so do those that are hardly known at all.
LARGEST_MARGIN, LARGEST_OF_ANY = 0.1, 0.25
# Keeps quotients finite; probabilities are written with fewer digits.
SMALLEST = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class PriorShift:
    """Shares (L,) of levels, of the training set and of a data set, the standard errors of these, and why probabilities
    are left as they are; empty where they are re-weighted.

    >>> import mprlib.prior_shift
    >>> found = mprlib.prior_shift.shift_of([[0.5, 0.5]] * 100, [0.5, 0.5])
    >>> found.why, found.of([[0.3, 0.7]]).tolist()
    ('the levels cannot be told apart well enough to say how many items have each', [[0.3, 0.7]])
    """

    before: FloatArray
    after: FloatArray
    errors: FloatArray
    why: str = ""

    def of(self, probabilities: ArrayLike) -> FloatArray:
        """Probabilities (n, L) of items of the data set, given those that the training set taught."""
        given = np.asarray(probabilities, dtype=float)
        return given if self.why else _posteriors(given, self.after / self.before)


def shift_of(probabilities: ArrayLike, before: ArrayLike, bias: ArrayLike | None = None) -> PriorShift:
    """The shares of levels among items with calibrated probabilities (n, L).

    before: shares (L,) of the training set. bias: mean square (L, L) of what mean probabilities may be off by.
    Raises:  InputError for shapes that do not fit, and for training shares that are not positive.

    >>> import mprlib.prior_shift
    >>> mprlib.prior_shift.shift_of([[0.99, 0.01]] * 80 + [[0.01, 0.99]] * 20, [0.5, 0.5]).after.round(2).tolist()
    [0.81, 0.19]
    """
    given, shares = finite("probabilities", probabilities, ndim=2), finite("before", before, ndim=1)
    if given.shape[1] != shares.size or not (shares > 0).all():
        raise InputError(
            f"before has shape {shares.shape} and a smallest share of {shares.min():g}: a positive share for each of "
            f"the {given.shape[1]} columns of probabilities is expected"
        )
    shares = shares / shares.sum()
    if not len(given):
        return PriorShift(before=shares, after=shares, errors=np.full(shares.size, np.inf), why="there is no item")
    ratios = given / shares
    after = _likeliest(ratios, shares)
    off = np.zeros((shares.size, shares.size)) if bias is None else np.asarray(bias, dtype=float)
    errors = _errors(ratios, after, shares, off)
    # Near an end of the range an estimate looks surer than it is: the training set's shares are tested at themselves.
    may_be_same = bool((np.abs(after - shares) <= HALF_INTERVAL * _errors(ratios, shares, shares, off)).all())
    is_flat = HALF_INTERVAL * errors.max() > (LARGEST_MARGIN if may_be_same else LARGEST_OF_ANY)
    why = "the levels cannot be told apart well enough to say how many items have each" if is_flat else ""
    return PriorShift(before=shares, after=after, errors=errors, why=why)


def _posteriors(given: FloatArray, factors: FloatArray) -> FloatArray:
    weighted = given * factors
    found: FloatArray = weighted / np.maximum(weighted.sum(axis=1, keepdims=True), SMALLEST)
    return found


def _likeliest(ratios: FloatArray, start: FloatArray) -> FloatArray:
    """The likeliest shares, by expectation maximisation with squared steps (Varadhan and Roland 2008)."""

    def step(shares: FloatArray) -> FloatArray:
        found: FloatArray = _posteriors(ratios, shares).mean(axis=0)
        return found

    shares = start
    for _ in range(MOST_ROUNDS):
        first = step(shares)
        second = step(first)
        change, bend = first - shares, second - 2.0 * first + shares
        length = float(np.linalg.norm(bend))
        stride = max(1.0, float(np.linalg.norm(change)) / length) if length > 0.0 else 1.0
        leap = shares + 2.0 * stride * change + stride**2 * bend
        is_better = (leap > 0.0).all() and _likelihood(ratios, leap) >= _likelihood(ratios, second)
        following = step(leap if is_better else second)
        if np.abs(following - shares).max() < TOLERANCE:
            return following
        shares = following
    return shares


def _likelihood(ratios: FloatArray, shares: FloatArray) -> float:
    return float(np.log(np.maximum(ratios @ shares, SMALLEST)).mean())


def _errors(ratios: FloatArray, after: FloatArray, before: FloatArray, bias: FloatArray) -> FloatArray:
    """Standard errors (L,) of shares that sum to 1; infinite where the likelihood is flat."""
    scores = ratios / np.maximum(ratios @ after, SMALLEST)[:, None]
    # Directions in which shares may move.
    basis = np.linalg.svd(np.ones((1, after.size)))[2][1:].T
    curvature = basis.T @ (scores.T @ scores / len(scores)) @ basis
    if np.linalg.eigvalsh(curvature)[0] <= SMALLEST:
        return np.full(after.size, np.inf)
    inverse = basis @ np.linalg.inv(curvature) @ basis.T
    moved = inverse @ (bias / np.outer(before, before)) @ inverse
    found: FloatArray = np.sqrt(np.maximum(np.diag(inverse / len(ratios) + moved), 0.0))
    return found
