"""SPD: rank by vectors without the subspace in which an attribute can be read by linear classifiers.

An attribute is not in one direction but in several. Iterative null-space projection finds them: a linear classifier of
the attribute is fitted to the items' vectors, its directions are projected off, and so on until a classifier does no
better on items that it was not fitted to than their most frequent level, or `axes` directions are taken. What was
projected off is then replaced by what is neutral in it: the mean of the items of whose level the first classifier is
least sure. Query and items are compared by the cosine of what results.

**Deviations**: the classifier is that of least squares onto the levels (ridge), in closed form, where the authors fit a
logistic regression; the labels are the pool's; the query takes the items' neutral part; how many items count as neutral
is a setting, since the source names no number that fits every attribute.

Source: Zhao et al. 2025, "Bias Is a Subspace, Not a Coordinate", arXiv 2511.18123.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.baselines.directions import coordinates, level_codes, scaled, spanned, without
from mprlib.baselines.ranking import best_by
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings, query_vector
from mprlib.settings import SEED, Number, Whole

# Ridge, as a part of the vectors' mean variance: enough for more columns than items.
RIDGE = 1e-2
# A classifier reads an attribute where it beats the most frequent level by so many standard errors.
READS_ERRORS = 2.0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Spd(FixedBaseline):
    """Similarity without the subspace in which linear classifiers read an attribute.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     embeddings=[[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 0.9]], query=[0.9, 0.3])
    >>> mprlib.select(problem, "spd").items.size
    2
    """

    name: ClassVar[str] = "spd"
    reads_reference: ClassVar[bool] = False
    needs_embeddings: ClassVar[bool] = True
    needs_query: ClassVar[bool] = True

    attributes: Annotated[Sequence[str] | None, "names of attributes that are taken off; default: all"] = None
    axes: Annotated[int, Whole(least=1), "most directions that are removed per attribute"] = 10
    neutral_share: Annotated[
        float, Number(least=0, most=1), "share of the items, those of the least certain level, whose mean is added back"
    ] = 0.1
    seed: Annotated[int, SEED, "seed of the split into halves for training and testing the classifiers"] = 0

    def choose(self, problem: Problem) -> Chosen:
        """The best items by cosine of what is left.

        Raises:  InputError without embeddings or a query, and for an attribute that the problem does not have.
        """
        vectors, query = scaled(pool_embeddings(problem, self.name)), scaled(query_vector(problem, self.name))
        basis: FloatArray = np.zeros((0, vectors.shape[1]))
        neutral: FloatArray = np.zeros(vectors.shape[1])
        for codes in level_codes(problem, self.attributes, self.name).values():
            found, sure = self._directions_and_evidence(without(vectors, basis), codes)
            least_sure = np.argsort(sure, kind="stable")[: max(1, round(self.neutral_share * problem.n))]
            neutral = neutral + coordinates(vectors[least_sure].mean(axis=0), found) @ found
            basis = np.concatenate([basis, found])
        return Chosen(
            items=best_by(problem, _cosines(vectors, query, basis, neutral), problem.k),
            message=f"{len(basis)} of {vectors.shape[1]} directions taken off",
        )

    def _directions_and_evidence(self, vectors: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
        """Directions (r, d) in which an attribute is read, and how sure (n,) the first classifier is of each item."""
        order = np.random.default_rng(self.seed).permutation(codes.size)
        tried, fitted = np.array_split(order, 2)
        basis: FloatArray = np.zeros((0, vectors.shape[1]))
        sure: FloatArray = np.zeros(codes.size)
        # Of one item nothing can be fitted and tried.
        while len(basis) < self.axes and codes.size > 1:
            left = without(vectors, basis)
            weights, offset = _least_squares(left[fitted], codes[fitted], int(codes.max()) + 1)
            evidence = np.einsum("ij,lj->il", left, weights) + offset
            if not len(basis):
                sure = _lead(evidence)
            if not _is_read(evidence[tried], codes[tried]):
                break
            # Directions of a classifier lie in what is left but for rounding.
            basis = np.concatenate([basis, spanned(without(weights, basis), self.axes - len(basis))])
        return basis, sure


def _least_squares(vectors: FloatArray, codes: IntArray, levels: int) -> tuple[FloatArray, FloatArray]:
    """Weights (levels, d) and offsets (levels,) of the linear functions nearest to the levels' indicators."""
    targets = np.eye(levels)[codes]
    centre, means = vectors.mean(axis=0), targets.mean(axis=0)
    spread = vectors - centre
    products = spread.T @ spread
    ridge = RIDGE * max(float(np.trace(products)) / len(products), np.finfo(float).tiny)
    weights: FloatArray = np.linalg.solve(products + ridge * np.eye(len(products)), spread.T @ (targets - means)).T
    return weights, means - weights @ centre


def _lead(evidence: FloatArray) -> FloatArray:
    """How far (n,) the likeliest level is ahead of the next."""
    if evidence.shape[1] < 2:
        return np.zeros(len(evidence))
    ranked = np.sort(evidence, axis=1)
    lead: FloatArray = ranked[:, -1] - ranked[:, -2]
    return lead


def _is_read(evidence: FloatArray, codes: IntArray) -> bool:
    """Whether the evidence (n, levels) tells more of the items' levels (n,) than how frequent they are."""
    most_frequent = float(np.bincount(codes).max()) / codes.size
    error = np.sqrt(most_frequent * (1.0 - most_frequent) / codes.size)
    accuracy = float(np.mean(evidence.argmax(axis=1) == codes))
    return accuracy > most_frequent + READS_ERRORS * float(error)


def _cosines(vectors: FloatArray, query: FloatArray, basis: FloatArray, neutral: FloatArray) -> FloatArray:
    """Cosines (n,) of query and vectors without the basis and with the neutral part instead."""
    taken = coordinates(vectors, basis)
    shared = float(neutral @ neutral)
    asked = without(query, basis)
    products = np.einsum("ij,j->i", vectors, asked) + shared
    squares = np.einsum("ij,ij->i", vectors, vectors) - np.einsum("ir,ir->i", taken, taken) + shared
    lengths = np.sqrt(np.maximum(squares, 0.0) * float(asked @ asked + shared))
    cosines: FloatArray = np.divide(products, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    return cosines
