"""The cone programme of a unit ball on Clarabel: an interior-point solution, independent of `ball_path`.

    minimise  -s . a    subject to  sum a = k,  0 <= a <= 1,  |M' counts(a)| <= rho

over the items of the reduced pool: one cone of dimension r + 1, r the rank of the features, where
the paper's has n + m. From one rho to the next counts change little, so that most items are
settled: those around the last optimum's counts are open, and more where an optimum touches their
edge. With t in the place of rho, minimised, it gives rho_min. The cone's multipliers z price the
cells, price_g = z . M_g, and give the dual bound whatever their accuracy.

Source:  MPR paper, Appendix D.1.
"""

from __future__ import annotations

import clarabel
import numpy as np
import scipy

from mprlib.arrays import FloatArray
from mprlib.errors import SolverError
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.linear_model import FIRST_MARGIN, Window
from mprlib.optimisers.relaxation import Relaxation, SmallestRho, rho_bound, similarity_bound, unpriced

# Interior-point iterations: the method converges in a few dozen or not at all.
LARGEST_STEPS = 200
# Duality gap and infeasibility: bounds are compared to 1e-6 of a mean over k items, a sum needs two digits more.
TOLERANCE = 1e-10
# Distance from the edge of the open items at which an interior point touches it.
EDGE = 1e-3
USABLE = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)


class ConeProgramme:
    """The programme of one problem; rho is all that changes."""

    def __init__(self, features: FloatArray, pool: CellPool) -> None:
        self._features = features
        self._pool = pool
        # The multiplier of rho may be thousands of times the scores' range; lengths near 1 balance the programme.
        self._unit = float(np.abs(features).max(initial=0.0)) or 1.0
        self._smallest: SmallestRho | None = None
        self._last: FloatArray | None = None

    def relaxation(self, rho: float) -> Relaxation:
        """The optimum at one rho."""
        if self._smallest is not None and rho < self._smallest.rho_min:
            return self._smallest.infeasible(rho)
        window, solution = self._solved_near(rho)
        if solution.status not in USABLE:
            smallest = self._smallest_rho()
            if rho < smallest.rho_min:
                return smallest.infeasible(rho)
            # Above rho_min by less than the solver's tolerance, so that it gave no multipliers.
            return unpriced(self._pool, smallest.counts, rho, smallest.rho_min)
        counts = self._last = _counts(window, solution)
        price, multiplier = self._prices(solution)
        bound = similarity_bound(self._pool, price, multiplier, rho)
        return Relaxation(
            rho=rho,
            counts=counts,
            price=price,
            multiplier=multiplier,
            bound=bound,
            rho_min=None,
            steps=int(solution.iterations),
        )

    def _solved_near(self, rho: float) -> tuple[Window, clarabel.DefaultSolution]:
        """The optimum over the items near the last one's counts, as many as it takes."""
        margin = self._pool.k if self._last is None else FIRST_MARGIN
        while True:
            window = self._all_items() if self._last is None else Window.around(self._pool, self._last, margin)
            solution = self._solve(rho, window)
            is_usable = solution.status in USABLE
            if not window.is_partial(self._pool):
                return window, solution
            if is_usable and not window.is_touched(self._pool, _counts(window, solution), EDGE):
                return window, solution
            margin = 2 * margin if is_usable else self._pool.k

    def _all_items(self) -> Window:
        return Window.of(self._pool, np.zeros_like(self._pool.capacity), self._pool.capacity)

    def _smallest_rho(self) -> SmallestRho:
        """The smallest rho, solved once; its multipliers prove that no selection has a smaller one."""
        if self._smallest is None:
            window = self._all_items()
            solution = self._solve(None, window)
            # Short of its tolerance, any finite multipliers still give a valid bound.
            if not (np.isfinite(solution.x).all() and np.isfinite(solution.z).all()):
                raise SolverError(f"Clarabel ended with status {solution.status} on the smallest rho")
            counts = _counts(window, solution)
            price, multiplier = self._prices(solution)
            self._smallest = SmallestRho(
                counts=counts,
                price=price,
                multiplier=multiplier,
                rho_min=rho_bound(self._pool, price, multiplier),
                is_converged=solution.status in USABLE,
            )
        return self._smallest

    def _prices(self, solution: clarabel.DefaultSolution) -> tuple[FloatArray, float]:
        """Prices (G,) of the cells by the cone's multipliers z, and |z|."""
        rank = self._features.shape[1]
        z: FloatArray = -np.asarray(solution.z)[-rank:] / self._unit if rank else np.zeros(0)
        price = self._features @ z
        return price, float(np.linalg.norm(z))

    def _solve(self, rho: float | None, window: Window) -> clarabel.DefaultSolution:
        """The programme in the open items' weights and t, with t = rho; None minimises t."""
        rank, n = self._features.shape[1], window.cell.size
        items = scipy.sparse.csc_matrix(self._features[window.cell].T / self._unit)
        settled = window.low @ self._features / self._unit
        last = scipy.sparse.csc_matrix(([1.0], ([0], [n])), shape=(1, n + 1))
        total = scipy.sparse.csc_matrix(np.append(np.ones(n), 0.0))
        box = scipy.sparse.identity(n + 1, format="csc")[:n]
        cone = scipy.sparse.vstack([-last, scipy.sparse.hstack([-items, scipy.sparse.csc_matrix((rank, 1))])])
        rows = [total, -box, box, cone]
        right = [np.array([float(window.open_count)]), np.zeros(n), np.ones(n), np.append(0.0, settled)]
        if rho is not None:
            rows.insert(0, last)
            right.insert(0, np.array([rho / self._unit]))
        cost: FloatArray = np.append(np.zeros(n), 1.0) if rho is None else np.append(-window.scores, 0.0)
        matrix = scipy.sparse.vstack(rows, format="csc")
        zeros = 1 if rho is None else 2
        return solved(cost, matrix, np.concatenate(right), zeros=zeros, nonnegatives=2 * n, cone=rank + 1)


def _counts(window: Window, solution: clarabel.DefaultSolution) -> FloatArray:
    """Counts (G,) of a solution."""
    return window.counts(np.clip(np.asarray(solution.x)[:-1], 0.0, 1.0))


def solved(
    cost: FloatArray, matrix: scipy.sparse.csc_matrix, right: FloatArray, *, zeros: int, nonnegatives: int, cone: int
) -> clarabel.DefaultSolution:
    """Minimise cost . x over right - matrix x in zeros, then non-negatives, then one second-order cone."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    settings.max_threads = 1
    settings.max_iter = LARGEST_STEPS
    cones = [clarabel.ZeroConeT(zeros), clarabel.NonnegativeConeT(nonnegatives), clarabel.SecondOrderConeT(cone)]
    quadratic = scipy.sparse.csc_matrix((cost.size, cost.size))
    return clarabel.DefaultSolver(quadratic, cost, matrix, right, cones, settings).solve()
