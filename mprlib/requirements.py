"""What a method needs of a problem, and the message where that is missing."""

from __future__ import annotations

from mprlib.arrays import FloatArray
from mprlib.errors import InputError
from mprlib.problem import Problem


def pool_embeddings(problem: Problem, method: str) -> FloatArray:
    """The pool's embeddings (n, d).

    Raises:  InputError when the problem has none.
    """
    if problem.embeddings is None:
        raise InputError(f"{method} needs the pool's embeddings: pass embeddings= to Problem")
    return problem.embeddings


def query_vector(problem: Problem, method: str) -> FloatArray:
    """The query's embedding (d,).

    Raises:  InputError when the problem has none.
    """
    if problem.query is None:
        raise InputError(f"{method} needs the query's embedding: pass query= to Problem")
    return problem.query
