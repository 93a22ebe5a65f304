"""What hand labels of some items say of predicted labels: the confusion, as counts that carry its sampling error.

Items come with the probability f_i with which each was drawn, and weigh 1 / f_i. With N_h the number of items of
predicted level h in the whole data set, which is known, and C_h[g] the weighted share of true level g among its
labelled items (Hajek), M[g, h] = N_h C_h[g] and T[g, h] = M[g, h] / sum of M[g, .]. Items that nobody could label need
only be like the others of their predicted level.

Errors of T's row g: C_h has the effective number m_h = (sum of weights)^2 / sum of squared weights of labelled items,
and to first order dT[g, .] is the sum over h of N_h dC_h[g] (e_h - T[g, .]) / sum of M[g, .]. A multinomial with
(1 - |T[g, .]|^2) / E|dT[g, .]|^2 draws has the same mean squared error: that many counts the row gets. A predicted
level whose labelled items all have one true level would have no error: there each true level counts 1 / levels more,
and for the draws at every level.

Worked example: of 100 items of each level, drawn alike, 10 are the other one.

>>> import numpy as np
>>> predicted = np.repeat([0, 1], 100)
>>> true = np.concatenate([np.repeat([0, 1], [90, 10]), np.repeat([0, 1], [10, 90])])
>>> counts = effective_counts(true, predicted, np.ones(200), np.array([5_000, 5_000]))
>>> (counts / counts.sum(axis=1, keepdims=True)).round(3).tolist()
[[0.9, 0.1], [0.1, 0.9]]
>>> counts.sum(axis=1).round().tolist()
[123.0, 123.0]
"""

from __future__ import annotations

import numpy as np

from mprlib.arrays import FloatArray, IntArray


def effective_counts(true: IntArray, predicted: IntArray, probabilities: FloatArray, totals: FloatArray) -> FloatArray:
    """Counts (levels, levels), by true and then predicted level: their shares in a row are T's, and the row's sum is
    the number of independent draws with the same sampling error.

    Shapes:  true and predicted (n,): positions of levels; probabilities (n,) in (0, 1], with which each item was drawn;
             totals (levels,): items of the data set by predicted level.
    Returns: rows of zeros for true levels that no labelled item has.
    """
    levels, weights = totals.size, 1.0 / probabilities
    labelled = _crossed(true, predicted, weights, levels)
    of_level, squares = labelled.sum(axis=0), np.bincount(predicted, weights**2, levels).astype(float)
    sizes = np.divide(of_level**2, squares, out=np.zeros(levels), where=squares > 0)
    shares = np.divide(labelled, of_level, out=np.zeros_like(labelled), where=of_level > 0)
    doubted = (shares * sizes + 1.0 / levels) / (sizes + 1.0) * (sizes > 0)
    is_certain = (shares > 0).sum(axis=0) == 1
    is_seen = labelled.sum(axis=1, keepdims=True) > 0
    rows = _rows(np.where(is_certain, doubted, shares) * totals * is_seen)
    return rows * _draws(doubted, totals, sizes)[:, None]


def _draws(shares: FloatArray, totals: FloatArray, sizes: FloatArray) -> FloatArray:
    """Of each row (levels,), how many independent draws have its error."""
    joint = shares * totals
    rows, sums = _rows(joint), joint.sum(axis=1)
    spread = np.divide(shares * (1.0 - shares), sizes, out=np.zeros_like(shares), where=sizes > 0)
    lengths = np.sum(rows**2, axis=1)
    # |e_h - T_g|^2 by (g, h).
    moved = 1.0 - 2.0 * rows + lengths[:, None]
    errors = np.sum(totals**2 * spread * moved, axis=1)
    found: FloatArray = np.divide((1.0 - lengths) * sums**2, errors, out=np.zeros(sizes.size), where=errors > 0)
    return found


def _rows(joint: FloatArray) -> FloatArray:
    """Rows that sum to one, or to zero."""
    sums = joint.sum(axis=1, keepdims=True)
    found: FloatArray = np.divide(joint, sums, out=np.zeros_like(joint), where=sums > 0)
    return found


def _crossed(true: IntArray, predicted: IntArray, weights: FloatArray, levels: int) -> FloatArray:
    counted = np.bincount(true * levels + predicted, weights, levels * levels)
    return counted.astype(float).reshape(levels, levels)
