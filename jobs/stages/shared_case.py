"""The case of a unit, kept for the next one: units of one query and k that differ in their method follow each other."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from mprlib import Problem, registry

from ..store import Store
from .asked import Asked
from .case import Case
from .kept_distances import kept_distances
from .pool import pool_vectors
from .queries import read_query_vector

if TYPE_CHECKING:
    from .solve import Solve

# Fields of a unit that say what chooses items, not from what or how that is measured.
OF_THE_METHOD = frozenset({"method", "target", "asked", "queries", "size", "vectors", "earlier"})


def case_of(unit: Solve, store: Store) -> Case:
    """The unit's case, with what has been measured in it by units of other methods.

    That of a class over embeddings holds the vectors of all items, and is not kept.
    """
    if unit.reference_vectors:
        return Case(unit, store)
    shared = {name: value for name, value in unit.spec.items() if name not in OF_THE_METHOD}
    return _kept(Asked(store, json.dumps(shared, sort_keys=True), unit))


def with_vectors(unit: Solve, store: Store, case: Case, problem: Problem) -> Problem:
    """A view of the case with the vectors that the unit's method reads, or distances that stand for them."""
    if not unit.vectors:
        return problem
    embeddings, distances = problem.embeddings, None
    if embeddings is None and registry.METHODS[unit.method.name].takes_distances:
        distances = kept_distances(store, unit.vectors, case.rows)
    if embeddings is None and distances is None:
        embeddings = pool_vectors(store, unit.vectors, case.rows)
    query = None if unit.queries is None else read_query_vector(store, unit.queries, unit.prompt)
    return problem.with_vectors(embeddings, query, distances)


@lru_cache(maxsize=1)
def _kept(asked: Asked[Solve]) -> Case:
    return Case(asked.what, asked.store)
