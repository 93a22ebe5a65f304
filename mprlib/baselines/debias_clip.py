"""DebiasCLIP: rank by a query whose embedding was debiased.

Tokens that were trained against a classifier of the attribute stand in front of the query's text, so
that similarity tells less of who is in an image. Whoever has the text tower makes that embedding
(the job does, `jobs/encoders/prompt_training.py` trains the tokens); here it is an argument.
Similarity in the result is that of the original query.

Source: Berg et al. 2022, "A Prompt Array Keeps the Bias Away".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.baselines.ranking import best_by
from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings
from mprlib.selection import Selection
from mprlib.settings import refuse_text


def sweep(
    problem: Problem, oracle: Oracle, values: Sequence[None], debiased_query: ArrayLike | None = None
) -> list[Selection]:
    """The same k items for every value: there is no parameter.

    Shapes:  debiased_query (d,), as wide as the pool's embeddings; only its direction matters.
    Raises:  InputError without embeddings or debiased_query, or for one of another width, that is
             not finite or has no direction.
    """
    embeddings = pool_embeddings(problem, "debias_clip")
    query = _checked(debiased_query, embeddings.shape[1])
    watch = Stopwatch()
    # Not a BLAS product: equal rows must give equal bits wherever they stand, as ties go by id.
    items = best_by(problem, np.einsum("ij,j->i", embeddings, query), problem.k)
    seconds = watch.seconds() / len(values)
    return [
        selected(problem, oracle, items, method="debias_clip", value=value, solve_seconds=seconds) for value in values
    ]


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
