"""PATHS: diversity measured in the space that describing phrases span.

Adjective-noun phrases ("an elderly person", "a formal outfit") are embedded by the items' own
encoder. Items are projected onto the span of the phrases, which keeps what the phrases can tell
apart and drops the rest. A greedy choice there trades similarity against the distance to the
nearest chosen item. No code was published; the greedy choice is that of `mmr`.

Source: Srinivasan et al. 2024, "Generalized People Diversity".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.baselines.directions import spanned, vectors_of
from mprlib.baselines.distances import PoolDistances
from mprlib.baselines.mmr import walked
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings
from mprlib.settings import Number, Whole


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Paths(FixedBaseline):
    """Similarity against the distance to the nearest chosen item, in the span of describing phrases.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     embeddings=[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]], query=[0.9, 0.3])
    >>> mprlib.select(problem, "paths", subspace=[[1.0, 0.0], [0.0, 1.0]], trade_off=0.9).items.tolist()
    [0, 2]
    """

    name: ClassVar[str] = "paths"
    reads_reference: ClassVar[bool] = False
    needs_embeddings: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = False

    subspace: Annotated[
        ArrayLike | None, "required: vectors (phrases, d) that span the space, in any number and length"
    ] = None
    dimensions: Annotated[
        int | None, Whole(least=1), "how many of the phrases' strongest directions are kept; default: all"
    ] = None
    trade_off: Annotated[
        float,
        Number(least=0, most=1),
        "weight of the distance to the nearest chosen item; that of similarity is the rest to 1",
    ] = 0.5

    def choose(self, problem: Problem) -> Chosen:
        """The set.

        Raises:  InputError without embeddings or subspace, and for vectors of another width.
        """
        embeddings = pool_embeddings(problem, self.name)
        what = "the embeddings of describing phrases, one per row"
        phrases = vectors_of("subspace", self.subspace, embeddings.shape[1], self.name, what)
        basis = spanned(phrases, self.dimensions)
        distances = PoolDistances.of(embeddings.astype(np.float64) @ basis.T)
        [items] = walked(problem, distances, [self.trade_off], "nearest")
        return Chosen(items=items)
