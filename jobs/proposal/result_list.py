"""A configuration for what an engine showed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..words import numbered
from .attributes import attribute_lines, chosen_attributes
from .columns import Column, first
from .yaml_text import lines_of, path_of, quoted, with_comment

QUERIES = ("query", "queries", "search", "topic", "qid", "keyword", "prompt", "q")
RANKS = ("rank", "ranking", "order", "position", "place", "pos")
SCORES = ("score", "similarity", "sim")
ITEMS = ("item", "doc", "docid", "document", "docno", "url", "image", "file", "product", "id")
# The share of rows whose item is shown once for its query: exports repeat some.
LEAST_DISTINCT = 0.9
# As many as a page shows.
FIRST_PAGE = 20


def looks_like_a_list(columns: Sequence[Column]) -> bool:
    """Whether there are queries that repeat, and ranks or scores."""
    query, rank, score, _ = _roles(columns)
    return query is not None and (rank is not None or score is not None)


def list_proposal(name: str, path: str, columns: Sequence[Column]) -> str:
    """The configuration of a table that shows what was shown."""
    query, rank, score, item = _roles(columns)
    assert query is not None
    taken = [query, rank, score, item]
    others = [one for one in columns if one not in taken and one.levels and not one.follows(query)]
    if item is not None:
        others = [one for one in others if one.follows(item)]
    shortest = int(np.bincount(query.texts.indices.to_numpy()).min()) if query.texts is not None else 1
    has_labels = bool(chosen_attributes(others))
    labels = attribute_lines(others, "  ") if has_labels else []
    roles = (("query", query), ("item", item), ("rank", rank), ("score", score))
    items, queries = numbered(query.rows, "item"), numbered(query.levels, "query", "queries")
    return lines_of(
        f"# {items} that were shown for {queries}: nothing is embedded or searched.",
        _head(name),
        "results:",
        "  kind: table",
        f"  path: {path_of(path)}",
        *(f"  {role}: {quoted(column.name)}" for role, column in roles if column is not None),
        *(["  # no item: every row is an item of its own"] if item is None else []),
        labels,
        *([] if has_labels else _labels_elsewhere()),
        _tail(min(FIRST_PAGE, shortest)),
    )


def run_proposal(name: str, path: str) -> str:
    """The configuration of a TREC run, whose labels are elsewhere."""
    return lines_of(
        "# What was shown: nothing is embedded or searched. A run has no labels: name the table that has them.",
        _head(name),
        "results:",
        "  kind: trec",
        f"  path: {path_of(path)}",
        _labels_elsewhere(),
        _tail(FIRST_PAGE),
    )


def _roles(columns: Sequence[Column]) -> tuple[Column | None, Column | None, Column | None, Column | None]:
    """The columns of query, rank, score and item."""
    whole = [one for one in columns if one.texts is not None and one.levels and one.texts.null_count == 0]
    query = first([one for one in whole if not one.is_distinct], QUERIES)
    left = [one for one in whole if one is not query]
    measured = [one for one in left if one.numbers is not None]
    rank, score = first(measured, RANKS), first(measured, SCORES)
    item = first([one for one in left if one not in (rank, score) and _tells_rows_apart(one, query)], ITEMS)
    return query, rank, score, item


def _tells_rows_apart(column: Column, query: Column | None) -> bool:
    """Whether nearly every row of a query has a value of its own: `image_gender` is no image."""
    if column.texts is None or query is None or query.texts is None:
        return False
    own, of_query = (one.texts.indices.to_numpy().astype(np.int64) for one in (column, query) if one.texts is not None)
    return bool(np.unique(of_query * column.levels + own).size > LEAST_DISTINCT * column.rows)


def _head(name: str) -> list[str]:
    return [f"name: {quoted(name)}", f"output: runs/{name.replace(' ', '_')}"]


def _labels_elsewhere() -> list[str]:
    return [
        "dataset:                                      # the labels, by item id: complete this",
        "  kind: table",
        "  path: labels.csv",
        "  id: item_id",
        "  attributes:",
        "    gender: {}",
    ]


def _tail(k: int) -> list[str]:
    return [
        "reference: {kind: population}                 # all that was shown; better, whom each query should show:",
        "# reference: {kind: shares, path: targets.csv}   # columns query, attribute, level, share",
        with_comment(f"k: [{k}, all]", "the first page, and each query's whole list"),
        "function_classes: [groups]",
        with_comment(
            "methods: [as_shown, {mopr: {points: 10, values: [chance]}}]", "what fairer choices among it cost"
        ),
        "runtime: {executor: local}                    # without a cluster",
    ]
