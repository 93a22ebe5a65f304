"""The unit that embeds the queries which are searched, and what decides each query's vector."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..queries import Query
from ..stages.queries import Queries, query_tables
from ..stages.unit import Tables
from ..store.keys import digest
from ..words import numbered
from .inputs import Inputs
from .search_units import AskedQueries

Vectors = Mapping[str, list[float]]


def asked_queries(inputs: Inputs, prompts: Collection[str] | None) -> AskedQueries:
    """All queries, of which those with these prompts are embedded and searched; all by default."""
    if inputs.lists:
        return AskedQueries(queries=inputs.queries, unit=Queries(title="no queries", prompts=()), contents={})
    searched = [query for query in inputs.queries if prompts is None or query.prompt in prompts]
    given, encoder = given_vectors(inputs), inputs.text_encoder
    unit = Queries(
        title=numbered(len(searched), "query", "queries"),
        prompts=tuple(query.prompt for query in searched),
        encoder=None if given is not None or encoder is None else dict(encoder.key),
        vectors=None if given is None else digest([given[query.text] for query in searched]),
        cache=None if given is not None or encoder is None else inputs.cache,
    )
    return AskedQueries(queries=inputs.queries, unit=unit, contents=_contents(inputs, given))


def given_vectors(inputs: Inputs) -> Vectors | None:
    """Vectors by query, where the configuration gives them."""
    given = inputs.query_vectors
    return None if given is None else dict(zip(*(given[name].to_pylist() for name in ("query", "vector"))))


def given_tables(inputs: Inputs, unit: Queries) -> Callable[[], Tables] | None:
    """The unit's tables, where the configuration gives the vectors."""
    given = given_vectors(inputs)
    if given is None:
        return None
    text_of = {query.prompt: query.text for query in inputs.queries}
    vectors = np.array([given[text_of[prompt]] for prompt in unit.prompts], dtype=np.float32)
    return partial(query_tables, unit.prompts, vectors)


def _contents(inputs: Inputs, given: Vectors | None) -> Mapping[Query, Any]:
    """What decides each query's vector: the encoder, or the vector itself, whatever else its file holds."""
    if given is None:
        return dict.fromkeys(inputs.queries, None if inputs.text_encoder is None else dict(inputs.text_encoder.key))
    return {query: digest(given[query.text]) for query in inputs.queries}
