"""Many regression trees at once, on labels whose columns have two values each.

CART grows a tree by the split that leaves the least squared error, which is the split with the
largest sum over both sides of (sum of targets)^2 / weight. Where a column has two values it splits
in one way whatever rows were drawn, so a level of all trees is a product of the nodes' weighted
targets with the columns: the trees that scikit-learn grows one by one. Where two splits are equally
good scikit-learn draws at random; such trees are reported, to be grown by scikit-learn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mprlib.arrays import FloatArray

# Entries of a level's nodes (trees x leaves, G): 80 MB. Deeper forests are grown tree by tree.
LARGEST_LEVEL = 10_000_000
# Splits whose worth differs by less than this part are equally good: sums round differently elsewhere.
TIE = 1e-10


def two_valued_sides(labels: FloatArray) -> FloatArray | None:
    """The lower side (S, G) of each column's one split, as 0 and 1; None when a column has more values."""
    lowest, highest = labels.min(axis=0), labels.max(axis=0)
    if not ((labels == lowest) | (labels == highest)).all():
        return None
    return np.ascontiguousarray((labels == lowest)[:, lowest < highest].T, dtype=float)


def grown_together(
    sides: FloatArray, weights: FloatArray, targets: FloatArray, depth: int
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Predictions (T, G) of one tree a row of weights and targets (T, G), and which trees (T,) had ties."""
    trees, size = weights.shape
    is_tied = np.zeros(trees, dtype=bool)
    nodes = np.ones((trees, 1, size))
    # Labels that never vary are split by nothing: each tree is its root.
    for _ in range(depth if sides.size else 0):
        own = nodes * weights[:, None, :]
        aimed = own * targets[:, None, :]
        mass, total = own @ sides.T, aimed @ sides.T
        rest = own.sum(axis=2, keepdims=True) - mass
        rest_total = aimed.sum(axis=2, keepdims=True) - total
        # A split needs rows on both sides. Weights are numbers of rows, so differences of sums are exact.
        is_split = (mass > 0) & (rest > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(is_split, total**2 / mass + rest_total**2 / rest, -np.inf)
        best = worth.argmax(axis=2)
        # A node without a split goes on as it is, beside an empty one.
        lower = np.where(is_split.any(axis=2)[:, :, None], sides[best], 1.0)
        is_tied |= _has_tie(sides, nodes, lower, worth)
        nodes = np.concatenate([nodes * lower, nodes * (1.0 - lower)], axis=1)
    mass = np.einsum("tng,tg->tn", nodes, weights)
    total = np.einsum("tng,tg->tn", nodes, weights * targets)
    means = np.divide(total, mass, out=np.zeros_like(mass), where=mass > 0)
    return np.einsum("tn,tng->tg", means, nodes), is_tied


def _has_tie(sides: FloatArray, nodes: FloatArray, lower: FloatArray, worth: FloatArray) -> NDArray[np.bool_]:
    """Whether a tree (T,) has a node that two different splits part equally well."""
    highest = worth.max(axis=2, keepdims=True)
    is_level = np.isfinite(worth) & (worth >= highest * (1.0 - TIE))
    # Cells on which a split differs from the chosen one: none or all of the node's make it the same
    # split. Cells that were not drawn count too: the split decides their predictions.
    chosen = nodes * lower
    apart = nodes @ sides.T + chosen.sum(axis=2, keepdims=True) - 2.0 * (chosen @ sides.T)
    is_other = (apart > 0) & (apart < nodes.sum(axis=2, keepdims=True))
    is_repeated: NDArray[np.bool_] = (is_level & is_other).any(axis=(1, 2))
    return is_repeated
