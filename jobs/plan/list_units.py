"""Pools that are an engine's lists: their tables come with reading the inputs, and nothing is searched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pyarrow as pa

from ..datasets.catalogue import ATTRIBUTE, Catalogue
from ..queries import Query
from ..stages.pool import TABLE, Pool
from ..stages.unit import Tables
from ..store.chunks import table_in_one
from .listed import Listed, QueryList
from .search_units import Embedded, Search

Made = Iterator[tuple[str, Callable[[], Tables]]]


def list_search(embedded: Embedded, lists: Listed, queries: Sequence[Query]) -> Search:
    """The lists of a data set in the place of a search."""
    pools = {query: _pool_unit(embedded, lists.of_query[query.text], query) for query in queries if lists.has(query)}
    return Search(shards=[], parts=[], merges=[], scored=[], pools=pools, vectors=())


def list_tables(search: Search, catalogue: Catalogue, lists: Listed) -> Made:
    """The tables of a list's pools, by the units' keys."""
    for query, pool in search.pools.items():
        yield pool.key, partial(_pool_tables, catalogue, lists.of_query[query.text])


def _pool_unit(embedded: Embedded, shown: QueryList, query: Query) -> Pool:
    return Pool(
        title=f"{embedded.catalogue.name}: {query.text}",
        catalogue=embedded.unit.key,
        vectors="",
        encoder=shown.content,
        search=(),
        prompt=query.prompt,
        top=shown.rows.size,
        items=shown.rows.size,
    )


def _pool_tables(catalogue: Catalogue, shown: QueryList) -> Tables:
    """The columns of a pool, and the place at which each item was shown."""
    names = [
        "item_id",
        "relevance",
        "weight",
        *(one for one in catalogue.items.column_names if one.startswith(ATTRIBUTE)),
    ]
    known = table_in_one(catalogue.items.select(names).take(pa.array(shown.rows)))
    columns = {
        "item_id": known["item_id"],
        "row": pa.array(shown.rows.astype("int64")),
        "score": pa.array(shown.similarities.astype("float64")),
        **{name: known[name] for name in names[1:]},
        "place": pa.array(shown.places.astype("float64")),
    }
    # The pool's order: best first, ties by id.
    return {TABLE: pa.table(columns).sort_by([("score", "descending"), ("item_id", "ascending")])}
