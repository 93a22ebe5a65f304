"""Determinantal point process: the set whose vectors, stretched by their relevance, span most.

With unit vectors x_i and qualities q_i the kernel is L_ij = q_i q_j x_i . x_j, and a set is worth
log det L of it: the sum of log q_i^2 and the log of the squared volume that the vectors span.
Greedy MAP takes the item with the largest gain at each step, which is its residual
q_i^2 * (squared distance of x_i to the span of the chosen). An incremental Cholesky factor keeps
the residuals, so k items cost O(n k (d + k)) at most and no n x n kernel is formed; residuals only fall, so that
those of items whose last one was too small already are left as they were (`dpp_kernel`).

q_i = exp(weight * z_i / 2) with z the pool's standardised similarities, so that weight is free of
the scale of the similarities: 0 is diversity alone, large values approach top-k. When the chosen
items span the space, no item adds volume and the rest is filled by similarity.

Source: Kulesza and Taskar 2012; Chen, Zhang, Zhou 2018, "Fast Greedy MAP Inference for DPP".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray, summable
from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.pool_order import ranks
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings
from mprlib.settings import Number

# A squared distance to the span below this share of the vector's own is rounding of the factor:
# such an item repeats what is chosen.
SMALLEST_RESIDUAL = 1e-10
# Far below this the most similar item wins every step; far above it, exponents of qualities overflow.
WEIGHT = Number(least=0, most=1e9)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dpp(FixedBaseline):
    """Determinantal point process: relevance and the volume that the items span, by greedy MAP.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     embeddings=[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]], query=[0.9, 0.3])
    >>> mprlib.select(problem, "dpp").items.tolist()
    [0, 2]
    """

    name: ClassVar[str] = "dpp"
    reads_reference: ClassVar[bool] = False
    needs_embeddings: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = False

    weight: Annotated[float, WEIGHT, "weight of similarity; 0 is diversity alone"] = 2.0

    def choose(self, problem: Problem) -> Chosen:
        """The set; the message says how many items only fill it.

        Raises:  InputError without embeddings.
        """
        items, filled = _greedy(problem, pool_embeddings(problem, self.name), float(self.weight))
        message = f"{filled} items add no volume and are the most similar of the rest" if filled else ""
        return Chosen(items=items, message=message)


def _greedy(problem: Problem, embeddings: FloatArray, weight: float) -> tuple[IntArray, int]:
    """k items, and how many of them are filled by similarity."""
    from mprlib.baselines import dpp_kernel as kernel

    n, k = problem.n, problem.k
    squares, residual, gain = np.empty((3, n))
    volumes = kernel.Volumes(
        vectors=np.ascontiguousarray(embeddings),
        quality=0.5 * weight * _standardised(problem.scores),
        rank=ranks(problem.best_first),
        squares=squares,
        residual=residual,
        known=np.zeros(n, dtype=np.int64),
        gain=gain,
        factor=np.empty((n, k)),
        root=np.empty(k),
        smallest=SMALLEST_RESIDUAL,
    )
    chosen = np.empty(k, dtype=np.int64)
    found = kernel.greedy(volumes, chosen)
    is_free = np.ones(n, dtype=bool)
    is_free[chosen[:found]] = False
    rest = problem.best_first[is_free[problem.best_first]][: k - found]
    return np.concatenate([chosen[:found].astype(np.intp), rest]), k - found


def _standardised(scores: FloatArray) -> FloatArray:
    """Scores (n,) with mean 0 and deviation 1; all 0 where they are equal."""
    scores = summable(scores)
    below = scores - scores.max()
    span = -below.min()
    if span == 0:
        return np.zeros_like(scores)
    # Within [-1, 0] no square overflows or vanishes, whatever the unit of the scores.
    below = below / span
    standardised: FloatArray = (below - below.mean()) / below.std()
    return standardised
