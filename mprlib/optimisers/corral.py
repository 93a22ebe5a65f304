"""The relaxation of a ball where each item is a cell of its own: labels that are embeddings.

The walk of `ball_path` passes thousands of events in hundreds of dimensions. Here a corral of top-k
sets is kept instead. With v_j the centred gap and f_j the similarity of set j, the master

    maximise  sum_j w_j f_j - penalty * e    subject to  |sum_j w_j v_j| <= rho + e,  w in the simplex

is a cone programme in a few variables. Its multipliers z price the items, the top-k set at those
prices is the next member, and the same prices bound every selection. Members stay from one rho to
the next. The rounds are limited: what is left between the two bounds shows in the row's gap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from mprlib.errors import SolverError
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.cone import solved
from mprlib.optimisers.relaxation import Relaxation, rho_bound, similarity_bound
from mprlib.problem import FloatArray, IntArray

# Relative distance of the bounds at which a rho is done: far below what whole items lose here.
ENCLOSURE = 1e-4
LARGEST_ROUNDS = 40
# Members lighter than this leave the corral when a rho is done.
SMALLEST_WEIGHT = 1e-6
# Similarity a unit of excess over rho costs, in multiples of the range of scores times k over the
# longest feature: above what any rho is worth except next to rho_min.
PENALTY = 10.0
# Excess over rho that counts as none, beside the longest gap.
SMALLEST_EXCESS = 1e-7


class Corral:
    """Members found so far for one pool with centred features (G, r) per item."""

    def __init__(self, features: FloatArray, pool: CellPool) -> None:
        self._pool = pool
        self._features = features
        self._items = features[pool.cell]
        self._members: list[IntArray] = []
        self._gaps: list[FloatArray] = []
        self._similarities: list[float] = []
        self._add(np.zeros(features.shape[1]))
        self._unit = float(np.linalg.norm(self._gaps[0])) or 1.0
        # The direction away from the top-k set's gap: the first step towards MPR 0.
        self._add(self._gaps[0] * (float(np.ptp(pool.scores)) * 1e3 / self._unit**2))
        self._penalty = PENALTY * pool.k * (float(np.ptp(pool.scores)) or 1.0) / self._unit

    def walk(self, rhos: Sequence[float]) -> list[Relaxation]:
        """The relaxation for each rho."""
        return [self.solve(rho) for rho in rhos]

    def solve(self, rho: float) -> Relaxation:
        """The best bound and point within the limit of rounds."""
        pool = self._pool
        best_bound, best, rho_min = np.inf, None, 0.0
        is_converged = False
        for _ in range(LARGEST_ROUNDS):
            weights, multipliers, excess = self._master(rho)
            price = self._features @ multipliers
            length = float(np.sqrt(multipliers @ multipliers))
            bound = similarity_bound(pool, price, length, rho)
            rho_min = max(rho_min, rho_bound(pool, price, length))
            if bound < best_bound or best is None:
                best_bound, best = bound, (price, length)
            attained = float(weights @ np.array(self._similarities))
            if rho < rho_min:
                break
            if excess <= SMALLEST_EXCESS * self._unit and best_bound - attained <= ENCLOSURE * abs(best_bound):
                is_converged = True
                break
            if not self._add(multipliers):
                break
        counts = np.zeros(pool.cell_count)
        for weight, member in zip(weights, self._members):
            counts[pool.cell[member]] += weight
        self._keep(np.flatnonzero(weights > SMALLEST_WEIGHT))
        price, length = best
        is_infeasible = rho < rho_min
        return Relaxation(
            rho=rho,
            counts=counts,
            price=price,
            multiplier=length,
            bound=None if is_infeasible else best_bound,
            rho_min=rho_min if is_infeasible else None,
            is_converged=is_converged or is_infeasible,
        )

    def _keep(self, positions: IntArray) -> None:
        """The first member, which is top-k, and those at these positions."""
        kept = np.union1d([0], positions)
        self._members = [self._members[position] for position in kept]
        self._gaps = [self._gaps[position] for position in kept]
        self._similarities = [self._similarities[position] for position in kept]

    def _add(self, multipliers: FloatArray) -> bool:
        """The top-k set at these prices; whether it is new."""
        # No BLAS: its sums over long rows may depend on the number of threads.
        value = self._pool.scores - np.einsum("ij,j->i", self._items, multipliers)
        member = np.sort(np.argsort(-value, kind="stable")[: self._pool.k])
        if any(np.array_equal(member, other) for other in self._members):
            return False
        self._members.append(member)
        self._gaps.append(self._items[member].sum(axis=0))
        self._similarities.append(float(self._pool.scores[member].sum()))
        return True

    def _master(self, rho: float) -> tuple[FloatArray, FloatArray, float]:
        """Weights of the members, multipliers (r,) of the ball, and the excess over rho."""
        gaps = np.array(self._gaps)
        size, rank = gaps.shape
        unit = self._unit
        # Gaps lie in the span of few members: in its basis the cone is as small as the corral.
        basis = np.linalg.qr(gaps.T)[0]
        inner = gaps @ basis / unit
        width = inner.shape[1]
        cost = np.append(-np.array(self._similarities), self._penalty * unit)
        rows = sparse.csc_matrix(
            np.vstack(
                [
                    np.append(np.ones(size), 0.0),
                    -np.eye(size + 1),
                    np.append(np.zeros(size), -1.0),
                    np.column_stack([-inner.T, np.zeros(width)]),
                ]
            )
        )
        right = np.concatenate([[1.0], np.zeros(size + 1), [rho / unit], np.zeros(width)])
        solution = solved(cost, rows, right, zeros=1, nonnegatives=size + 1, cone=width + 1)
        weights = np.maximum(np.asarray(solution.x), 0.0)
        if not np.isfinite(weights).all() or weights[:-1].sum() <= 0:
            raise SolverError(f"Clarabel ended with status {solution.status} on a master of {size} sets")
        multipliers = -basis @ np.asarray(solution.z)[-width:] / unit
        return weights[:-1] / weights[:-1].sum(), multipliers, float(weights[-1]) * unit
