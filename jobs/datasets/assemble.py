"""What a loader has read to a catalogue: ids, texts, pictures, weights and levels, each checked."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.datasets.block import Dataset
from jobs.datasets.catalogue import ATTRIBUTE, Catalogue, embedded_column
from jobs.datasets.columns import numbers, strings
from jobs.datasets.given_vectors import vectors
from jobs.datasets.labels import UNKNOWN, labels_of
from jobs.datasets.source import Source
from jobs.datasets.template import filled, template_columns
from jobs.datasets.values import first_ambiguous_id, holds_texts
from jobs.errors import UsageError
from jobs.store.schema import SKIPPED_ITEMS

# Longer than any path of a file, and short enough that ids of a whole pool fit into memory side by side.
LONGEST_ID = 4_096


def assemble(block: Dataset, source: Source, embedding_column: str | None = None) -> Catalogue:
    """The catalogue of what was read, in canonical order.

    Raises:  UsageError for a missing column, an id that is null or repeats, an attribute with one value, weights
             or vectors that are not finite, and where nothing is left.
    """
    source = _with_numbers(block, source)
    table = source.table
    ids = _ids(block, source)
    labels = labels_of(block, source)
    items = {
        "item_id": pa.array(ids, pa.string()),
        "text": _texts(block, table),
        "image": _optional(block, table, source.image, "image"),
        "relevance": _optional(block, table, block.relevance or source.relevance, "relevance"),
        "weight": pa.array(_weights(block, source, labels.is_kept)),
        **{ATTRIBUTE + name: rows for name, rows in labels.of_rows.items()},
    }
    if source.vectors is not None:
        items["vector_row"] = pa.array(np.arange(table.num_rows))
    elif embedding_column is not None:
        items["vector"] = vectors(block, table, embedding_column, ids)
    kept, dropped = pa.table(items), {}
    if not labels.is_kept.all():
        dropped["missing attribute value"] = int((~labels.is_kept).sum())
        kept = kept.filter(pa.array(labels.is_kept))
    if kept.num_rows == 0:
        raise UsageError(f"{block.path} has no items left to audit")
    return Catalogue(
        name=block.name,
        items=_identical_adjacent(kept),
        levels=labels.levels,
        missing=labels.missing,
        fingerprint=hashlib.sha256(f"{source.labels} {source.files}".encode()).hexdigest(),
        files=source.files,
        dropped=dropped,
        root=source.root,
        vector_files=source.vectors,
        skipped=pa.Table.from_pylist([skip.to_row() for skip in source.skipped], SKIPPED_ITEMS),
        remarks=tuple(f"dataset {block.name}: {remark}" for remark in source.remarks),
    )


def _with_numbers(block: Dataset, source: Source) -> Source:
    """Columns that are numbers to every setting that names them, as numbers: in a template 30.0 reads 30.

    A column that is also a level, an id or a term keeps its text.
    """
    binned = {one.column or name: f"attributes.{name}" for name, one in block.attributes.items() if one.bins}
    asked = binned | ({block.weight: "weight"} if block.weight else {})
    named = {one.column or name for name, one in block.attributes.items() if not one.bins and one.probe is None}
    kept = named | {source.id, source.image, block.relevance or source.relevance}
    table = source.table
    for name, setting in asked.items():
        if name in table.column_names and name not in kept and holds_texts(table[name].type):
            values = pa.array(numbers(block, source, name, setting), from_pandas=True)
            table = table.set_column(table.column_names.index(name), name, values)
    return replace(source, table=table)


def _optional(block: Dataset, table: pa.Table, name: str | None, setting: str) -> pa.Array:
    return strings(block, table, name, setting) if name else pa.nulls(table.num_rows, pa.string())


def _ids(block: Dataset, source: Source) -> list[str]:
    name = source.id
    column = strings(block, source.table, name, "id")
    start = f"column {name!r}"
    ambiguous = first_ambiguous_id(source.table[name])
    if ambiguous is not None:
        raise UsageError(
            f"{start} holds the id {ambiguous.value:.0f} as a float in {source.place_of(ambiguous.row, block.path)}, "
            "too large to tell it from its neighbours: store ids as text or whole numbers"
        )
    absent = pc.index(pc.fill_null(pc.equal(column, ""), True), True).as_py()
    if absent >= 0:
        raise UsageError(f"{start} has no id in {source.place_of(absent, block.path)}")
    if pc.any(pc.match_substring(column, "\0")).as_py():
        raise UsageError(f"{start} of {block.path} holds an id with a NUL character")
    long = pc.index(pc.greater(pc.utf8_length(column), LONGEST_ID), True).as_py()
    if long >= 0:
        raise UsageError(
            f"{start} holds an id of more than {LONGEST_ID:,} characters in {source.place_of(long, block.path)}"
        )
    counts = pc.value_counts(column)
    repeated = counts.filter(pc.greater(pc.struct_field(counts, "counts"), 1))
    if len(repeated):
        raise UsageError(
            f"id {repeated[0]['values'].as_py()!r} occurs {repeated[0]['counts'].as_py()} times "
            f"in column {name!r} of {block.path}: ids must be distinct"
        )
    return [str(one) for one in column.to_pylist()]


def _texts(block: Dataset, source: pa.Table) -> pa.Array:
    if block.text is None:
        return pa.nulls(source.num_rows, pa.string())
    columns = {}
    for name in template_columns(block):
        values = strings(block, source, name, "text").to_pylist()
        columns[name] = [UNKNOWN if value is None else value for value in values]
    return pa.array(filled(block, columns), pa.string())


def _weights(block: Dataset, source: Source, is_kept: np.ndarray) -> np.ndarray:
    """Weights of all rows; those that stay must have a positive, finite sum."""
    if block.weight is None:
        return np.ones(source.table.num_rows)
    weights = numbers(block, source, block.weight, "weight")
    with np.errstate(over="ignore"):
        total = weights[is_kept].sum()
    is_bad = ~(np.isfinite(weights) & (weights >= 0))
    if is_bad.any() or not 0 < total < np.inf:
        row = int(is_bad.argmax())
        what = "no number" if np.isnan(weights[row]) else f"{weights[row]:.15g}"
        found = f", and has {what} in {source.place_of(row, block.path)}" if is_bad.any() else ""
        raise UsageError(
            f"weight column {block.weight!r} of {block.path} must hold finite, "
            f"non-negative numbers with a positive sum{found}"
        )
    return weights


def _identical_adjacent(table: pa.Table) -> pa.Table:
    """Rows by the first sight of what is embedded; the order stays where all differ or some have none."""
    seen = embedded_column(table)
    if seen.null_count:
        return table
    first_sight = seen.combine_chunks().dictionary_encode().indices.to_numpy()
    return table.take(pa.array(np.argsort(first_sight, kind="stable")))
