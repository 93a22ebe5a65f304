"""Closed-form debiasing: query and items turned away from an attribute's directions, as far as meaning loses as much.

A prototype of each level of an attribute ("a photo of a man", "a photo of a woman"; the mean direction of several
texts) minus that of the first spans the attribute's subspace. A unit vector e has the length n inside and o outside of
it. Among all unit vectors of the plane of both parts, u keeps a share of e's part inside,

    u = sqrt(1 - alpha^2) orth + alpha par,  with orth and par the directions of the two parts,

and alpha makes two losses equal: what is left of the attribute, alpha / n, and the similarity to e that is lost,
(1 - u.e) / (1 - o), both as parts of the most there is to lose. That is the Chebyshev point of the two aims, and

    alpha = (E - o sqrt(E^2 - n^2)) / (E^2 + o^2),  E = n + (1 - o) / n.

Worked example: e = (0.6, 0.8) and the first axis as the attribute's direction: n = 0.6, o = 0.8, E = 0.933, alpha =
0.239; of the attribute 0.239 / 0.6 = 40% are left, and (1 - 0.920) / (1 - 0.8) = 40% of the similarity is lost.

**Deviation**: the authors let a language model write a level's texts; here they are given.

Source: Lian et al. 2026, "A Closed-Form Solution for Debiasing Vision-Language Models with Utility Guarantees Across
Modalities and Tasks", arXiv 2603.12998.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.baselines.directions import coordinates, scaled, spanned, unit, vectors_of, without
from mprlib.baselines.ranking import best_by
from mprlib.errors import InputError
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings, query_vector

# A part of a unit vector below this is rounding, and the vector stays as it is.
SMALLEST_PART = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ClosedFormDebias(FixedBaseline):
    """Similarity of query and items that were both turned away from an attribute's directions.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     embeddings=[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]], query=[0.9, 0.3])
    >>> mprlib.select(problem, "closed_form_debias", prototypes=[[1.0, 0.0], [0.0, 1.0]]).items.tolist()
    [0, 1]
    """

    name: ClassVar[str] = "closed_form_debias"
    reads_reference: ClassVar[bool] = False
    needs_embeddings: ClassVar[bool] = True
    needs_query: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = False

    prototypes: Annotated[
        ArrayLike | None, "required: a vector (levels, d) of each level of the attribute; only directions matter"
    ] = None

    def choose(self, problem: Problem) -> Chosen:
        """The best items by similarity of the turned vectors; only the direction of an item's vector matters.

        Raises:  InputError without embeddings, a query or prototypes, and for vectors of another width.
        """
        embeddings, query = pool_embeddings(problem, self.name), query_vector(problem, self.name)
        basis = self._basis(embeddings.shape[1])
        turned = _turned(scaled(query)[None, :], basis)[0]
        return Chosen(items=best_by(problem, _turned(scaled(embeddings), basis, turned), problem.k))

    def _basis(self, width: int) -> FloatArray:
        levels = vectors_of("prototypes", self.prototypes, width, self.name, "the embedding of a text for each level")
        if len(levels) < 2:
            raise InputError("prototypes has 1 row: one for each of two or more levels is expected")
        directions = np.array([unit(level) for level in levels])
        return spanned(directions[1:] - directions[0])


def attribute_weight(inside: FloatArray) -> FloatArray:
    """alpha (n,), for unit vectors with these lengths (n,) inside the attribute's subspace, all in (0, 1)."""
    outside = np.sqrt(1.0 - inside**2)
    reach = inside + (1.0 - outside) / inside
    weight: FloatArray = (reach - outside * np.sqrt(reach**2 - inside**2)) / (reach**2 + outside**2)
    return weight


def _turned(vectors: FloatArray, basis: FloatArray, other: FloatArray | None = None) -> FloatArray:
    """Turned unit vectors (n, d) of vectors (n, d); with another vector (d,) their products (n,) with it alone."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    inside = coordinates(vectors, basis)
    scale = np.divide(1.0, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    share = scale * np.sqrt(np.einsum("ir,ir->i", inside, inside))
    # What lies inside or outside altogether has one part only, and stays.
    is_turned = (share > SMALLEST_PART) & (share < 1.0 - SMALLEST_PART)
    part = np.where(is_turned, share, 0.5)
    kept = np.where(is_turned, attribute_weight(part) / part, 1.0)
    grown = np.where(is_turned, np.sqrt((1.0 - (kept * part) ** 2) / (1.0 - part**2)), 1.0)
    if other is None:
        outside = vectors - inside @ basis
        turned: FloatArray = scale[:, None] * (grown[:, None] * outside + kept[:, None] * (inside @ basis))
        return turned
    of_outside = np.einsum("ij,j->i", vectors, without(other, basis))
    of_inside = np.einsum("ir,r->i", inside, coordinates(other, basis))
    products: FloatArray = scale * (grown * of_outside + kept * of_inside)
    return products
