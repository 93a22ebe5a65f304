"""Mutual information between each column of an embedding and a discrete label.

Ross's estimator, as scikit-learn's `mutual_info_classif` computes it: for an item, the distance to
its k-th neighbour among items of its own label, and the number m of items of any label within that
distance; then psi(n) + mean psi(k) - mean psi(label's count) - mean psi(m). Columns have one number
per item, so neighbours are found by sorting instead of a tree for each column and label; the values
are scikit-learn's (same scaling, same noise against ties), in a tenth of the time.

Source: Ross 2014, "Mutual Information between Discrete and Continuous Data Sets".
"""

from __future__ import annotations

import numpy as np
import scipy

from mprlib.arrays import FloatArray, IntArray
from mprlib.scikit_learn import scikit_learn_for

NEIGHBOURS = 10
SEED = 1
# Noise on a column scaled to unit deviation, so that no two values are equal; scikit-learn's size.
NOISE = 1e-10


def mutual_information(embeddings: FloatArray, labels: IntArray, part: slice = slice(None)) -> FloatArray:
    """Nats that each column of embeddings (n, d) tells about labels (n,); 0 where none.

    part: the columns asked for; each has the value that it has among all.
    """
    with scikit_learn_for("mutual information, by which clip_clip orders columns unless order= is given,"):
        from sklearn.preprocessing import scale

    columns = scale(np.asarray(embeddings[:, part], dtype=np.float64), with_mean=False)
    means = np.maximum(1.0, np.mean(np.abs(columns), axis=0))
    columns += NOISE * means * np.random.RandomState(SEED).standard_normal(embeddings.shape)[:, part]
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    # An item that is alone with its label has no neighbour to measure by.
    is_counted = counts[codes] > 1
    if not is_counted.any():
        return np.zeros(columns.shape[1])
    columns, codes = np.ascontiguousarray(columns[is_counted].T), codes[is_counted]
    constant = scipy.special.digamma(codes.size) - np.mean(scipy.special.digamma(counts[codes]))
    constant += np.mean(scipy.special.digamma(np.minimum(NEIGHBOURS, counts - 1))[codes])
    psi = scipy.special.digamma(np.arange(1, codes.size + 1))
    return np.array([max(0.0, constant - np.mean(psi[_items_within(column, codes) - 1])) for column in columns])


def _items_within(column: FloatArray, codes: IntArray) -> IntArray:
    """For each item, how many are closer than its k-th neighbour of the same label, itself included."""
    order = np.argsort(column)
    ascending, code = column[order], codes[order]
    radius = np.empty(column.size)
    for label in np.unique(codes):
        members = np.flatnonzero(code == label)
        radius[members] = _neighbour_distance(ascending[members], min(NEIGHBOURS, members.size - 1))
    radius = np.nextafter(radius, 0.0)
    low = np.searchsorted(ascending, ascending - radius, side="left")
    high = np.searchsorted(ascending, ascending + radius, side="right")
    # Sums round; differences decide whether the items at both ends are inside.
    low += ascending - ascending[low] > radius
    low -= (low > 0) & (ascending - ascending[np.maximum(low - 1, 0)] <= radius)
    high -= ascending[high - 1] - ascending > radius
    high += (high < ascending.size) & (ascending[np.minimum(high, ascending.size - 1)] - ascending <= radius)
    within = np.empty(column.size, dtype=np.intp)
    within[order] = high - low
    return within


def _neighbour_distance(ascending: FloatArray, k: int) -> FloatArray:
    """Distance of each value to its k-th nearest other: the tightest of k + 1 windows around it."""
    distance = np.full(ascending.size, np.inf)
    last = ascending.size - k
    for place in range(k + 1):
        # Windows of k + 1 values in which this one has that place.
        own = ascending[place : place + last]
        reach = np.maximum(own - ascending[:last], ascending[k : k + last] - own)
        np.minimum(distance[place : place + last], reach, out=distance[place : place + last])
    return distance


def order_of(information: FloatArray) -> IntArray:
    """Columns (d,) by falling information (d,).

    Columns that tell nothing are tied at 0. They come as numpy's default sort leaves them, as in the
    authors' code; that is fixed for a numpy and a kind of processor, so an order that is to be the
    same everywhere has to be computed once and passed on.
    """
    return np.argsort(information)[::-1]
