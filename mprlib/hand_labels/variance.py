"""How much a hand label narrows the corrected shares of selections, by the level that was predicted.

P_h is the share of items with predicted level h, C_h[g] the probability that the true level of such an item is g, and
hence M[g, h] = P_h C_h[g], pi_g = sum of M[g, .], T[g, h] = M[g, h] / pi_g. A selection with shares p~ of predicted
levels has corrected shares p = T^-T p~. Two kinds of noise are left, and each is smaller with hand labels:

1. T is estimated. Errors dC_h of the estimated C_h move p by the sum over h of P_h A_h dC_h, where
   A_h = diag(r) - b_h r', r_g = p_g / pi_g, and b_h is row h of T^-1. Where the reference's labels are predicted with
   the same errors its shares pi move too, and the gap p - pi has A_h - I in the place of A_h. With inclusion
   probabilities f_i, dC_h has the covariance (diag C_h - C_h C_h') times the sum over the level's items of
   1 / (f_i N_h^2), so that each item adds tr[A_h (diag C_h - C_h C_h') A_h'] / (f_i N^2).
2. The k items of a selection are these and no others: one without a hand label adds (1 - sum of C_h[g]^2) / k^2, one
   with a hand label nothing.

Worked example: one selection with the data set's own shares has A_h = diag(1) - b_h 1', and since the errors of C_h
sum to 0 only diag(1) counts: both levels below weigh 2 * 0.9 * 0.1.

>>> import numpy as np
>>> truth = assumed_truth(np.array([0.5, 0.5]), error=0.1)
>>> truth.round(3).tolist()
[[0.9, 0.1], [0.1, 0.9]]
>>> spread = spread_of(np.array([0.5, 0.5]), truth, Selections(shares=np.array([[0.5, 0.5]])))
>>> spread.estimation.round(3).tolist(), spread.own.round(3).tolist()
([0.18, 0.18], [0.18, 0.18])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import BoolArray, FloatArray

# Above it labels would be noise: a share of wrong labels that is assumed is no larger.
LARGEST_REPLACED = 0.9
# Smaller singular values of a confusion, relative to the largest, are taken for none.
RANK_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Selections:
    """Shares (selections, levels) of predicted levels in selections, and of which of them the reference's labels are
    predicted with the same errors; by default of none."""

    shares: FloatArray
    has_predicted_reference: BoolArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Spread:
    """By predicted level (levels,): what an item adds to the mean variance of selections' corrected shares, summed
    over true levels.

    estimation: times N^2 f, through the estimated confusion; own: times k^2, through being in a selection unlabelled.
    """

    estimation: FloatArray
    own: FloatArray


def assumed_truth(shares: FloatArray, error: float) -> FloatArray:
    """C (levels, levels), by predicted and then true level, where that share of all labels is wrong and no more is
    known: some labels are replaced by those of items drawn by lot.

    Shapes:  shares (levels,) of predicted levels.
    Returns: rows that sum to one; true levels have the same shares as predicted ones.
    """
    differing = 1.0 - float(np.sum(shares**2))
    replaced = min(error / differing, LARGEST_REPLACED) if differing > 0 else 0.0
    return (1.0 - replaced) * np.eye(shares.size) + replaced * shares


def truth_of(shares: FloatArray, confusion: FloatArray) -> FloatArray:
    """C (levels, levels), by predicted and then true level, that a known confusion implies.

    Shapes:  shares (levels,) of predicted levels; confusion (levels, levels): T, by true and then predicted level.
    Returns: rows that sum to one; a level that nobody would be predicted to have is taken to be right.
    """
    true_shares = np.clip(shares @ np.linalg.pinv(confusion, rcond=RANK_TOLERANCE), 0.0, None)
    joint = (true_shares[:, None] * confusion).T
    sums = joint.sum(axis=1, keepdims=True)
    found: FloatArray = np.divide(joint, sums, out=np.eye(shares.size), where=sums > 0)
    return found


def spread_of(shares: FloatArray, truth: FloatArray, selections: Selections) -> Spread:
    """What an item of each predicted level adds to the mean variance over selections.

    Shapes:  shares (levels,) of predicted levels in the data set; truth (levels, levels): C, by predicted and then
             true level.
    """
    joint = truth.T * shares
    true_shares = joint.sum(axis=1)
    is_present = true_shares > 0
    confusion = np.divide(joint, true_shares[:, None], out=np.eye(shares.size), where=is_present[:, None])
    inverse = np.linalg.pinv(confusion, rcond=RANK_TOLERANCE)
    corrected = np.clip(selections.shares @ inverse, 0.0, None)
    corrected /= np.maximum(corrected.sum(axis=1, keepdims=True), RANK_TOLERANCE)
    ratio = np.divide(corrected, true_shares, out=np.zeros_like(corrected), where=is_present)
    is_shared = selections.has_predicted_reference
    shared = np.zeros(len(ratio)) if is_shared is None else is_shared.astype(float)
    return Spread(
        estimation=np.array([_mean_trace(ratio, shared, inverse[h], truth[h]) for h in range(shares.size)]),
        own=1.0 - np.sum(truth**2, axis=1),
    )


def _mean_trace(ratio: FloatArray, shared: FloatArray, row: FloatArray, truth: FloatArray) -> float:
    """The mean over selections of tr[A (diag C - C C') A'], A = diag(r - shared) - b r'.

    With D = diag(r - s): tr[D V D] - 2 b' D V r + (r' V r) |b|^2, since V is symmetric.
    """
    covariance = np.diag(truth) - np.outer(truth, truth)
    scaled, moved = ratio - shared[:, None], ratio @ covariance
    traces = (
        scaled**2 @ np.diag(covariance)
        - 2.0 * np.sum(row * scaled * moved, axis=1)
        + np.sum(moved * ratio, axis=1) * float(row @ row)
    )
    return float(np.mean(traces))
