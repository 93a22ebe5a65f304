"""Directions of an embedding space in which an attribute shows: their span, and vectors without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray, distinct_rows
from mprlib.errors import InputError
from mprlib.problem import Problem
from mprlib.settings import refuse_text

# Directions in which vectors vary less than this share of the strongest are rounding of float32.
SMALLEST_SINGULAR_VALUE = 1e-5
# The squares of larger numbers overflow.
LARGEST_NUMBER = 1e100
# What is left of a vector is rounding where it is shorter than this part of it.
LARGEST_ROUNDING = 1e-9
# More levels of an attribute than this are numbers, and no groups.
MOST_LEVELS = 100


def vectors_of(setting: str, given: ArrayLike | None, width: int, method: str, what: str) -> FloatArray:
    """A setting that holds vectors (count, d), in any number and length. what: what they are, for the message.

    Raises:  InputError where it is missing, of another width, not finite or nothing but zeros.
    """
    if given is None:
        raise InputError(f"{method} needs {setting}=, {what}")
    refuse_text(setting, given)
    try:
        vectors = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{setting} cannot be read as numbers: {error}") from None
    if vectors.ndim != 2 or vectors.shape[1] != width or not np.isfinite(vectors).all() or not vectors.any():
        raise InputError(
            f"{setting} has shape {vectors.shape}: rows of {width} finite numbers, not all zero, are expected"
        )
    if np.abs(vectors).max() > LARGEST_NUMBER:
        raise InputError(f"{setting} holds numbers above {LARGEST_NUMBER:g}, whose squares cannot be added")
    return vectors


def spanned(vectors: FloatArray, most: int | None = None) -> FloatArray:
    """Orthonormal directions (r, d) of the span of vectors (count, d), the strongest first; none of no vectors."""
    if not vectors.any():
        return np.zeros((0, vectors.shape[1]))
    _, strengths, directions = np.linalg.svd(vectors, full_matrices=False)
    strongest: FloatArray = directions[strengths > SMALLEST_SINGULAR_VALUE * strengths[0]][:most]
    return strongest


def coordinates(vectors: FloatArray, basis: FloatArray) -> FloatArray:
    """Coordinates (..., r) of vectors (..., d) in an orthonormal basis (r, d), equal rows to equal bits."""
    found: FloatArray = np.einsum("...j,rj->...r", vectors, basis)
    return found


def without(vectors: FloatArray, basis: FloatArray) -> FloatArray:
    """Vectors (..., d) without what they have in the span of an orthonormal basis (r, d); what is rounding is 0."""
    left: FloatArray = vectors - coordinates(vectors, basis) @ basis
    lengths, before = (np.linalg.norm(one, axis=-1, keepdims=True) for one in (left, vectors))
    return np.where(lengths > LARGEST_ROUNDING * before, left, 0.0)


def scaled(vectors: FloatArray) -> FloatArray:
    """Vectors (..., d) in double precision, divided by their largest number: directions stay, squares can be added."""
    largest = float(np.abs(vectors).max(initial=0.0))
    return vectors.astype(np.float64) / largest if largest else vectors.astype(np.float64)


def unit(vector: FloatArray) -> FloatArray:
    """The vector (d,) with length 1; zeros stay."""
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


# What a reader should know of a ranking by what is left of a query.
NOTHING_LEFT = "nothing is left of the query: the items are those of its own similarity"


def level_codes(problem: Problem, attributes: Sequence[str] | None, method: str) -> Mapping[str, IntArray]:
    """The level (n,) of every item of the pool, as a number from 0, for some attributes or for all.

    Raises:  InputError for an attribute that the problem does not have, or one of numbers.
    """
    is_list = isinstance(attributes, Sequence) and not isinstance(attributes, str)
    if attributes is not None and not (is_list and all(name in problem.attributes for name in attributes)):
        raise InputError(
            f"attributes is {attributes!r:.80}: a list of some of {', '.join(problem.attributes)} is expected"
        )
    found = {}
    for name in problem.attributes if attributes is None else attributes:
        levels, codes = distinct_rows(problem.labels[:, list(problem.attributes[name])])
        if len(levels) > MOST_LEVELS:
            raise InputError(
                f"{method} makes levels alike, and attribute {name!r} has {len(levels):,} in the pool: at most "
                f"{MOST_LEVELS} are expected"
            )
        found[name] = codes
    return found
