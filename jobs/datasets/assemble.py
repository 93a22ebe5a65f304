"""What a loader has read to a catalogue: ids, texts, pictures, weights and levels, each checked."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.config.datasets import Dataset
from jobs.datasets.catalogue import ATTRIBUTE, Catalogue, embedded_column
from jobs.datasets.columns import column, numbers, strings
from jobs.datasets.given_vectors import vectors
from jobs.datasets.labels import UNKNOWN, attributes
from jobs.datasets.source import Source
from jobs.datasets.template import filled, template_columns
from jobs.errors import UsageError
from jobs.schema import SKIPPED_ITEMS


def assemble(block: Dataset, source: Source, embedding_column: str | None = None) -> Catalogue:
    """The catalogue of what was read, in canonical order.

    Raises:  UsageError for a missing column, an id that is null or repeats, an attribute with one value, weights
             or vectors that are not finite, and where nothing is left.
    """
    table = source.table
    ids = _ids(block, table, source.id)
    levels_of, levels, is_kept = attributes(block, table, source.orders)
    items = {
        "item_id": pa.array(ids, pa.string()),
        "text": _texts(block, table),
        "image": _optional(block, table, source.image, "image"),
        "relevance": _optional(block, table, block.relevance or source.relevance, "relevance"),
        "weight": pa.array(_weights(block, table, is_kept)),
        **{ATTRIBUTE + name: pa.array(one, pa.string()) for name, one in levels_of.items()},
    }
    if source.vectors is not None:
        items["vector_row"] = pa.array(np.arange(table.num_rows))
    elif embedding_column is not None:
        items["vector"] = vectors(block, table, embedding_column, ids)
    kept, dropped = pa.table(items), {}
    if not is_kept.all():
        dropped["missing attribute value"] = int((~is_kept).sum())
        kept = kept.filter(pa.array(is_kept))
    if kept.num_rows == 0:
        raise UsageError(f"dataset {block.name}: {block.path} has no items left to audit")
    return Catalogue(
        name=block.name,
        items=_identical_adjacent(kept),
        levels=levels,
        fingerprint=hashlib.sha256(f"{source.labels} {source.files}".encode()).hexdigest(),
        files=source.files,
        dropped=dropped,
        root=source.root,
        vector_files=source.vectors,
        skipped=pa.Table.from_pylist([skip.to_row() for skip in source.skipped], SKIPPED_ITEMS),
    )


def _optional(block: Dataset, table: pa.Table, name: str | None, setting: str) -> pa.Array:
    return strings(block, table, name, setting) if name else pa.nulls(table.num_rows, pa.string())


def _ids(block: Dataset, source: pa.Table, name: str) -> list[str]:
    column = strings(block, source, name, "id")
    if column.null_count:
        row = int(pc.index(pc.is_null(column), True).as_py())
        raise UsageError(f"dataset {block.name}: column {name!r} has no id in row {row + 1} of {block.path}")
    if pc.any(pc.match_substring(column, "\0")).as_py():
        raise UsageError(f"dataset {block.name}: column {name!r} of {block.path} holds an id with a NUL character")
    counts = pc.value_counts(column)
    repeated = counts.filter(pc.greater(pc.struct_field(counts, "counts"), 1))
    if len(repeated):
        raise UsageError(
            f"dataset {block.name}: id {repeated[0]['values'].as_py()!r} stands {repeated[0]['counts'].as_py()} times "
            f"in column {name!r} of {block.path}: ids must be distinct"
        )
    return column.to_pylist()


def _texts(block: Dataset, source: pa.Table) -> pa.Array:
    if block.text is None:
        return pa.nulls(source.num_rows, pa.string())
    columns = {}
    for name in template_columns(block):
        if name not in source.column_names and re.search("[:!]", name):
            raise UsageError(f"dataset {block.name}: text takes columns as {{name}}, without a format: {block.text!r}")
        values = strings(block, source, name, "text").to_pylist()
        columns[name] = [UNKNOWN if value is None else value for value in values]
    return pa.array(filled(block, columns), pa.string())


def _weights(block: Dataset, source: pa.Table, is_kept: np.ndarray) -> np.ndarray:
    """Weights of all rows; those that stay must have a positive, finite sum."""
    if block.weight is None:
        return np.ones(source.num_rows)
    weights = numbers(block, column(block, source, block.weight, "weight"), block.weight)
    with np.errstate(over="ignore"):
        total = weights[is_kept].sum()
    if not np.isfinite(weights).all() or (weights < 0).any() or not 0 < total < np.inf:
        raise UsageError(
            f"dataset {block.name}: weight column {block.weight!r} of {block.path} must hold finite, "
            "non-negative numbers with a positive sum"
        )
    return weights


def _identical_adjacent(table: pa.Table) -> pa.Table:
    """Rows by the first sight of what is embedded; the order stays where all differ or some have none."""
    seen = embedded_column(table)
    if seen.null_count:
        return table
    first_sight = seen.combine_chunks().dictionary_encode().indices.to_numpy()
    return table.take(pa.array(np.argsort(first_sight, kind="stable")))
