"""PATHS: diversity measured in the space that describing phrases span.

Adjective-noun phrases ("an elderly person", "a formal outfit") are embedded by the items' own
encoder. Items are projected onto the span of the phrases, which keeps what the phrases can tell
apart and forgets the rest, and a greedy walk there trades similarity against the distance to the
nearest chosen item. No code was published; the walk is that of `mmr`.

Source: Srinivasan et al. 2024, "Generalized People Diversity".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.baselines import mmr
from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings
from mprlib.selection import Selection
from mprlib.settings import Number, Whole, refuse_text

# Directions in which the phrases vary less than this share of the strongest are rounding of float32.
SMALLEST_SINGULAR_VALUE = 1e-5


def sweep(
    problem: Problem,
    oracle: Oracle,
    values: Sequence[None],
    subspace: ArrayLike | None = None,
    dimensions: Annotated[int | None, Whole(least=1)] = None,
    trade_off: Annotated[float, Number(least=0, most=1)] = 0.5,
) -> list[Selection]:
    """The same k items for every value: there is no parameter.

    Shapes:  subspace (phrases, d), vectors that span the space, in any number and length.
    dimensions: keep only the strongest directions of the phrases, by default all.
    trade_off: weight of the distance to the nearest chosen item, 1 minus that of similarity.
    Raises:  InputError without embeddings or subspace, and for vectors of another width.
    """
    embeddings = pool_embeddings(problem, "paths")
    watch = Stopwatch()
    basis = _basis(subspace, embeddings.shape[1], dimensions)
    projected = replace(problem, embeddings=embeddings.astype(np.float64) @ basis.T, query=None)
    [found] = mmr.sweep(projected, oracle, [trade_off], spread="nearest")
    seconds = watch.seconds() / len(values)
    return [
        selected(problem, oracle, found.items, method="paths", value=value, solve_seconds=seconds) for value in values
    ]


def _basis(subspace: ArrayLike | None, width: int, dimensions: int | None) -> FloatArray:
    """Orthonormal directions (r, d), the strongest first."""
    if subspace is None:
        raise InputError("paths needs subspace=, the embeddings of describing phrases, one a row")
    refuse_text("subspace", subspace)
    phrases = np.asarray(subspace, dtype=np.float64)
    if phrases.ndim != 2 or phrases.shape[1] != width or not np.isfinite(phrases).all() or not phrases.any():
        raise InputError(
            f"subspace has shape {phrases.shape}: rows of {width} finite numbers, not all zero, are expected"
        )
    _, strengths, directions = np.linalg.svd(phrases, full_matrices=False)
    return directions[strengths > SMALLEST_SINGULAR_VALUE * strengths[0]][:dimensions]
