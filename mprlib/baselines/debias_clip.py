"""DebiasCLIP: rank by a query whose embedding was debiased.

Tokens that were trained against a classifier of the attribute precede the query's text, so that
similarity reveals less of who is in an image. That embedding needs the text tower
(the job makes it, `jobs/encoders/prompt_training.py` trains the tokens); here it is an argument.
Similarity in the result is that of the original query.

Source: Berg et al. 2022, "A Prompt Array Keeps the Bias Away".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.baselines.ranking import best_by
from mprlib.errors import InputError
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings
from mprlib.settings import refuse_text


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class DebiasClip(FixedBaseline):
    """Similarity to the query behind tokens that were trained to hide an attribute.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     embeddings=[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]], query=[0.9, 0.3])
    >>> mprlib.select(problem, "debias_clip", debiased_query=[0.1, 0.9]).items.tolist()
    [2, 3]
    """

    name: ClassVar[str] = "debias_clip"
    reads_reference: ClassVar[bool] = False
    needs_embeddings: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = False

    debiased_query: Annotated[
        ArrayLike | None, "required: the query's embedding (d,) behind the tokens; only its direction matters"
    ] = None

    def choose(self, problem: Problem) -> Chosen:
        """The best items by the debiased query.

        Raises:  InputError without embeddings or debiased_query, or for one of another width, that is
                 not finite or has no direction.
        """
        embeddings = pool_embeddings(problem, self.name)
        query = _checked(self.debiased_query, embeddings.shape[1])
        # Not a BLAS product: equal rows must give equal bits at every position, as ties go by id.
        return Chosen(items=best_by(problem, np.einsum("ij,j->i", embeddings, query), problem.k))


def _checked(debiased_query: ArrayLike | None, width: int) -> FloatArray:
    if debiased_query is None:
        raise InputError("debias_clip needs debiased_query=, the embedding of the query behind its debiasing tokens")
    refuse_text("debiased_query", debiased_query)
    try:
        query = np.asarray(debiased_query, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"debiased_query cannot be read as numbers: {error}") from None
    if query.shape != (width,) or not np.isfinite(query).all() or not query.any():
        raise InputError(
            f"debiased_query has shape {query.shape}: {width} finite numbers that are not all 0 are expected"
        )
    return query
