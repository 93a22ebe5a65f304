r"""What could prove more of sets over embeddings than `mopr` does: items that its bound leaves open, and whether any
semidefinite relaxation has a lower bound.

With x in [0, 1]^n for a set and X for the products x x', every bound of that kind (the diagonal terms of quadratic
convex reformulation among them) is at least the largest s.x over

    X_ii = x_i,   X 1 = k x,   X - x x' positive semidefinite,   <M M', X> <= rho^2.

Where M'Z = 0 and 1'Z = 0 for Z = X - x x', the last condition is |M'x| <= rho alone: then X says nothing that x does
not. Such a Z is P diag(b) P, with P the projector on what is orthogonal to the r columns of M and to 1, for any b >= 0
that solves  diag(Z) = (P o P) b = x - x^2.  Off its diagonal P is small as long as n is much larger than r, and b is
then nearly x - x^2, but for a part of about r / (n - r) that items with x = 0 lack. So x is spread a little over all
items: the optimum of  s.x + mu H(x)  over the ball, H the entropy of each x_i, for the smallest mu whose b is not
negative. Its s.x is a similarity below which no such bound comes.

Source:  Shor 1987; Billionnet, Elloumi and Lambert 2012 (quadratic convex reformulation).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from mprlib import Problem, Selection
from mprlib.arrays import FloatArray
from mprlib.optimisers.ball_region import centred_features
from mprlib.optimisers.cell_pool import CellPool, cell_pool_of
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.smooth_path import SmoothPath
from mprlib.registry import function_class

# Entropies that are tried, in ranges of scores, from nearly none to half of what scores differ by.
ENTROPIES = 0.003 * 2.0 ** np.arange(8)
# Newton steps, the decrement at which they end, and the least damping, as a part of the mean curvature.
LARGEST_STEPS, DECREMENT, SMALLEST_DAMPING = 80, 1e-10, 1e-12
# A share of rho, of k and of the largest x - x^2 that is rounding.
ACCURACY = 1e-5
# Steps towards b; with n much larger than r a few suffice.
SWEEPS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """What a row's bound leaves open.

    free: of the pool's items, those that reduced costs neither rule out nor prove to be in every better set.
    floor: a similarity that no semidefinite relaxation's bound is below; None where none was found.
    """

    items: int
    columns: int
    free: int
    similarity: float
    floor: float | None

    def line(self) -> str:
        """For the problem's line of the table."""
        told = f"{self.free} of {self.items} items free beside {self.columns} columns"
        if self.floor is None:
            return told
        return f"{told}, a semidefinite gap is at least {(self.floor - self.similarity) / abs(self.floor):.1%}"


def room_of(problem: Problem, row: Selection, *, is_semidefinite: bool) -> Room:
    """What the bound of a row of `linear` that has a set leaves open."""
    oracle = function_class("linear").bind(problem)
    pool, features = cell_pool_of(problem, oracle.cells), centred_features(oracle, problem.k)
    assert features is not None and row.rho is not None
    [relaxation] = SmoothPath(features, pool).solve([row.rho])
    found = np.flatnonzero(np.isin(pool.items, row.items))
    gap = relaxation.bound - float(pool.scores[found].sum())
    floor = semidefinite_floor(pool, features[pool.cell], relaxation) if is_semidefinite else None
    return Room(
        items=pool.scores.size,
        columns=features.shape[1],
        free=free_items(pool, relaxation, gap),
        similarity=float(row.similarity),
        floor=None if floor is None else pool.scale.mean(floor, problem.k),
    )


def free_items(pool: CellPool, relaxation: Relaxation, gap: float) -> int:
    """How many items reduced costs leave open: to take one, or to do without it, costs less than the gap."""
    value = pool.scores - relaxation.price[pool.cell]
    if value.size == pool.k:
        return 0
    out, last = np.partition(value, [value.size - pool.k - 1, value.size - pool.k])[-pool.k - 1 :][:2]
    return int(np.count_nonzero((last - value <= gap) & (value - out <= gap)))


def semidefinite_floor(pool: CellPool, items: FloatArray, relaxation: Relaxation) -> float | None:
    """A total similarity that no semidefinite bound at the relaxation's rho is below; None where none was found."""
    unit = float(np.sqrt(np.einsum("ij,ij->i", items, items).max()))
    extended = np.column_stack([items / unit, np.ones(pool.scores.size)])
    gap = relaxation.counts[pool.cell] @ extended[:, :-1]
    prices = np.append(relaxation.multiplier * unit * gap / (float(np.linalg.norm(gap)) or 1.0), 0.0)
    prices[-1] = np.sort(pool.scores - extended @ prices)[-pool.k]
    basis, _ = np.linalg.qr(extended)
    for entropy in ENTROPIES:
        prices, weights = spread(pool.scores, extended, pool.k, relaxation.rho / unit, entropy, prices)
        length = float(np.linalg.norm(weights @ extended[:, :-1]))
        is_inside = abs(weights.sum() - pool.k) <= ACCURACY * pool.k and length * unit <= relaxation.rho * (
            1 + ACCURACY
        )
        if is_inside and has_products(basis, weights):
            return float(pool.scores @ weights)
    return None


def spread(
    scores: FloatArray, extended: FloatArray, k: int, rho: float, entropy: float, prices: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Multipliers (r + 1,) and weights (n,) of the optimum with an entropy, by Newton's method on the dual."""

    def dual(at: FloatArray) -> tuple[float, FloatArray]:
        value = (scores - extended @ at) / entropy
        total = entropy * np.logaddexp(0.0, value).sum() + k * at[-1] + rho * np.linalg.norm(at[:-1])
        return float(total), value

    total, value = dual(prices)
    damping = SMALLEST_DAMPING
    for _ in range(LARGEST_STEPS):
        weights, length = expit(value), float(np.linalg.norm(prices[:-1])) or 1.0
        gradient = -extended.T @ weights + k * np.eye(prices.size)[-1]
        direction = prices[:-1] / length
        gradient[:-1] += rho * direction
        curved = (extended * (weights * (1.0 - weights) / entropy)[:, None]).T @ extended
        curved[:-1, :-1] += rho / length * (np.eye(direction.size) - np.outer(direction, direction))
        # Levenberg's damping: far from the optimum the dual is nearly flat in some directions.
        curved += damping * np.trace(curved) / prices.size * np.eye(prices.size)
        step = np.linalg.solve(curved, -gradient)
        decrement = -float(gradient @ step)
        if decrement < DECREMENT:
            break
        after, value_after = dual(prices + step)
        if after > total - 1e-4 * decrement:
            damping = 10.0 * damping
            continue
        prices, total, value = prices + step, after, value_after
        damping = max(0.1 * damping, SMALLEST_DAMPING)
    return prices, expit(value)


def has_products(basis: FloatArray, weights: FloatArray) -> bool:
    """Whether b >= 0 with (P o P) b = x - x^2 exists, P the projector off an orthonormal basis (n, r + 1)."""
    wanted = weights - weights**2
    own = 1.0 - np.einsum("ij,ij->i", basis, basis)
    found = wanted / np.maximum(own, ACCURACY)
    for _ in range(SWEEPS):
        image = (basis * found[:, None]).T @ basis
        left = wanted - (2.0 * own - 1.0) * found - np.einsum("ij,ij->i", basis @ image, basis)
        found = found + left / np.maximum(own**2, ACCURACY)
        if np.abs(left).max() <= 1e-3 * ACCURACY * wanted.max():
            return bool(found.min() >= 0.0)
    return False
