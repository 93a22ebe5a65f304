"""BEND-VLM: debiasing that is made for each query, from its neighbours.

Two steps make the query's vector neutral. First the directions of an attribute's prompts are projected off it, and with
them half the differences between variants of this query that name a level ("a photo of a female nurse" beside "a photo
of a male nurse"). Then, for each level, the mean of its labelled items that are nearest to the projected query is
found, and the query becomes the unit vector nearest to it that is as similar to all of these means. Those unit vectors
are a subspace's, so the nearest is the projection onto it: no solver is needed.

**Deviations**: the authors let a language model write the variants, and minimise by SLSQP, whose solution this is; the
labelled items are the pool's, where theirs are a reference data set.

>>> import mprlib
>>> problem = mprlib.Problem(scores=[0.9, 0.8, 0.7, 0.1], labels=[[1, 0], [1, 0], [0, 1], [0, 1]],
...                          reference=[[1, 0], [0, 1]], k=2, attributes={"sex": [0, 1]},
...                          embeddings=[[0.8, 0.6], [0.7, 0.7], [-0.8, 0.6], [-0.9, 0.4]], query=[0.5, 0.8])
>>> mprlib.select(problem, "bend_vlm", neighbours=1).items.tolist()  # one of each sex is as near
[1, 2]

Source: Gerych et al. 2024, "BendVLM: Test-Time Debiasing of Vision-Language Embeddings", NeurIPS 2024 (100 neighbours
a level for gender, 10 for race).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray
from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.baselines.directions import NOTHING_LEFT, level_codes, scaled, spanned, unit, vectors_of, without
from mprlib.baselines.ranking import best_by
from mprlib.problem import Problem
from mprlib.requirements import pool_embeddings, query_vector
from mprlib.settings import Whole


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class BendVlm(FixedBaseline):
    """Similarity to a query that is equally near to the nearest items of every level."""

    name: ClassVar[str] = "bend_vlm"
    reads_reference: ClassVar[bool] = False
    needs_embeddings: ClassVar[bool] = True
    needs_query: ClassVar[bool] = True

    attribute_prompts: Annotated[
        ArrayLike | None, "vectors (prompts, d) of texts that name the attribute, which are projected off the query"
    ] = None
    variants: Annotated[
        ArrayLike | None, "vectors (levels, d) of the query with each level named, whose differences are projected off"
    ] = None
    attributes: Annotated[Sequence[str] | None, "names of attributes whose levels are made alike; default: all"] = None
    neighbours: Annotated[int, Whole(least=1), "most items per level, the nearest ones, whose mean is taken"] = 100

    def choose(self, problem: Problem) -> Chosen:
        """The best items by the neutral query.

        Raises:  InputError without embeddings or a query, for vectors of another width, and for an attribute that the
                 problem does not have.
        """
        embeddings = scaled(pool_embeddings(problem, self.name))
        query = unit(without(scaled(query_vector(problem, self.name)), self._projected_directions(embeddings.shape[1])))
        neutral = unit(without(query, spanned(self._level_differences(problem, embeddings, query))))
        merits = np.einsum("ij,j->i", embeddings, neutral)
        return Chosen(items=best_by(problem, merits, problem.k), message="" if neutral.any() else NOTHING_LEFT)

    def _projected_directions(self, width: int) -> FloatArray:
        """Directions (r, d) that the first step takes off."""
        taken: list[FloatArray] = [np.zeros((0, width))]
        if self.attribute_prompts is not None:
            taken.append(vectors_of("attribute_prompts", self.attribute_prompts, width, self.name, ""))
        if self.variants is not None:
            variants = vectors_of("variants", self.variants, width, self.name, "")
            taken.append((variants[1:] - variants[0]) / 2)
        return spanned(np.concatenate(taken))

    def _level_differences(self, problem: Problem, embeddings: FloatArray, query: FloatArray) -> FloatArray:
        """Differences (r, d) between the means of each attribute's levels near the query."""
        nearest = best_by(problem, np.einsum("ij,j->i", embeddings, query), problem.n)
        differences: list[FloatArray] = [np.zeros((0, embeddings.shape[1]))]
        for codes in level_codes(problem, self.attributes, self.name).values():
            ranked = codes[nearest]
            means = [
                embeddings[nearest[ranked == level][: self.neighbours]].mean(axis=0) for level in np.unique(ranked)
            ]
            differences.append(np.array(means[1:]).reshape(-1, embeddings.shape[1]) - means[0])
        return np.concatenate(differences)
