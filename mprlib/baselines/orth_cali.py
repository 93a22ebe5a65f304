"""Orth-Cali: rank by a query that was projected off the directions of an attribute's prompts.

Prompts that name an attribute ("a photo of a man", "a photo of a woman") span a subspace, and P0 projects onto what is
orthogonal to it. Calibration moves P0 so that pairs of prompts which differ in the attribute alone ("a photo of a male
nurse", "a photo of a female nurse") agree: the matrix P nearest to P0 in

    |P - P0|^2 + (lambda / |pairs|) sum over pairs of |P z - P z'|^2

is P = P0 (I + lambda M)^-1 with M the mean of (z - z')(z - z')^T. Without pairs P is P0. The query is P q; pictures are
compared with it as they are.

>>> import mprlib
>>> problem = mprlib.Problem(scores=[0.9, 0.8], labels=[[1], [0]], reference=[[1], [0]], k=1,
...                          embeddings=[[0.8, 0.6], [0.6, 0.8]], query=[0.6, 0.4])
>>> mprlib.select(problem, "orth_cali", attribute_prompts=[[1.0, 0.0]]).items.tolist()
[1]

Source: Chuang et al. 2023, "Debiasing Vision-Language Models via Biased Prompts", Lemma 4.1 (lambda is 1000 there).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.baselines.directions import NOTHING_LEFT, scaled, spanned, vectors_of, without
from mprlib.baselines.ranking import best_by
from mprlib.errors import InputError
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings, query_vector
from mprlib.settings import Number
from mprlib.spelling import numbered


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class OrthCali(FixedBaseline):
    """Similarity to the query without the directions of an attribute's prompts."""

    name: ClassVar[str] = "orth_cali"
    reads_reference: ClassVar[bool] = False
    needs_embeddings: ClassVar[bool] = True
    needs_query: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = False

    attribute_prompts: Annotated[
        ArrayLike | None, "required: vectors (prompts, d) of texts that name the attribute"
    ] = None
    pairs: Annotated[
        ArrayLike | None, "vectors (2 pairs, d) of texts that differ in the attribute alone, two and two in turn"
    ] = None
    calibration: Annotated[float, Number(least=0), "lambda, the weight of the agreement of pairs"] = 1000.0

    def choose(self, problem: Problem) -> Chosen:
        """The best items by the projected query.

        Raises:  InputError without embeddings, a query or attribute_prompts, and for vectors of another width.
        """
        embeddings, query = pool_embeddings(problem, self.name), query_vector(problem, self.name)
        width = embeddings.shape[1]
        prompts = vectors_of(
            "attribute_prompts", self.attribute_prompts, width, self.name, "the embeddings of prompts that name it"
        )
        debiased = without(self._calibrated(scaled(query), width), spanned(prompts))
        # Not a BLAS product: equal rows must give equal bits at every position, as ties go by id.
        merits = np.einsum("ij,j->i", scaled(embeddings), debiased)
        return Chosen(items=best_by(problem, merits, problem.k), message="" if debiased.any() else NOTHING_LEFT)

    def _calibrated(self, query: FloatArray, width: int) -> FloatArray:
        """(I + lambda M)^-1 q, by a system of as many unknowns as there are pairs (Woodbury)."""
        if self.pairs is None:
            return query
        texts = vectors_of("pairs", self.pairs, width, self.name, "")
        if len(texts) % 2:
            raise InputError(
                f"pairs has {numbered(len(texts), 'row')}: an even number is expected, two and two in turn"
            )
        differences = (texts[0::2] - texts[1::2]) * np.sqrt(2 * self.calibration / len(texts))
        inner = np.eye(len(differences)) + differences @ differences.T
        calibrated: FloatArray = query - differences.T @ np.linalg.solve(inner, differences @ query)
        return calibrated
