"""What a loader has read to a part of a catalogue: ids, texts, pictures, weights and levels, each checked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.level_names import UNKNOWN

from ..errors import UsageError
from ..store.chunks import in_one
from ..store.schema import SKIPPED_ITEMS
from .block import Dataset
from .columns import numbers, strings
from .given_vectors import lengths_of, vectors
from .labels import levels_of
from .part import ATTRIBUTE, Part, embedded_column
from .probabilities import probability_columns
from .source import Source
from .template import filled, template_columns
from .values import first_ambiguous_id, holds_texts

# Longer than any path of a file, and short enough that ids of a whole pool fit into memory side by side.
LONGEST_ID = 4_096
# Vectors in files that are looked at before a run.
SAMPLED_VECTORS = 1_000


def assemble(
    block: Dataset, source: Source, embedding_column: str | None = None, called_unknown: Collection[str] = ()
) -> Part:
    """The part of a catalogue that was read, in canonical order.

    called_unknown: attributes of which `unknown` is a level, though perhaps not in these rows.
    Raises:  UsageError for a missing column, an id that is null or repeats, and weights or vectors that are not finite.
    """
    source = _with_numbers(block, source)
    table = source.table
    ids = _ids(block, source)
    levels = levels_of(block, source, called_unknown)
    is_kept = _is_kept(block, [one.of_rows for one in levels.values()], table.num_rows)
    items = {
        "item_id": ids,
        "text": _texts(block, table),
        "image": _optional(block, table, source.image, "image"),
        "relevance": _optional(block, table, block.relevance or source.relevance, "relevance"),
        "weight": pa.array(_weights(block, source)),
        **{ATTRIBUTE + name: one.of_rows for name, one in levels.items()},
        **dict(probability_columns(block, source)),
    }
    lengths = None
    if source.vectors is not None:
        items["vector_row"] = pa.array(np.arange(table.num_rows))
        sample = np.linspace(0, table.num_rows - 1, min(table.num_rows, SAMPLED_VECTORS)).astype(np.intp)
        lengths = lengths_of(source.vectors.take(np.unique(sample)))
    elif embedding_column is not None and table.num_rows:
        items["vector"] = vectors(block, table, embedding_column, ids)
        lengths = lengths_of(items["vector"].flatten().to_numpy().reshape(table.num_rows, -1))
    kept = pa.table(items) if is_kept.all() else pa.table(items).filter(pa.array(is_kept))
    order = _identical_adjacent(kept)
    return Part(
        items=kept if order is None else kept.take(order),
        ids=ids,
        skipped=pa.Table.from_pylist([skip.to_row() for skip in source.skipped], SKIPPED_ITEMS),
        dropped=int((~is_kept).sum()),
        levels={name: tuple(one.names) for name, one in levels.items()},
        texts={name: one.texts for name, one in levels.items() if block.attributes[name].bins is None},
        order={name: one.order for name, one in levels.items()},
        files=source.files,
        is_whole=bool(is_kept.all()) and order is None,
        root=source.root,
        vector_files=source.vectors,
        lengths=lengths,
        lacks=source.lacks,
        remarks=source.remarks,
    )


def _is_kept(block: Dataset, levels: list[pa.DictionaryArray], rows: int) -> np.ndarray:
    """Which rows (n,) stay: where the settings drop missing values, those that have a level of every attribute."""
    is_kept = np.ones(rows, dtype=bool)
    for of_rows in levels if block.missing == "drop" else ():
        is_kept &= of_rows.is_valid().to_numpy(zero_copy_only=False)
    return is_kept


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


def _ids(block: Dataset, source: Source) -> pa.Array:
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
    return column


def _texts(block: Dataset, source: pa.Table) -> pa.Array:
    if block.text is None:
        return pa.nulls(source.num_rows, pa.string())
    columns = {}
    for name in template_columns(block):
        values = strings(block, source, name, "text").to_pylist()
        columns[name] = [UNKNOWN if value is None else value for value in values]
    return pa.array(filled(block, columns), pa.string())


def _weights(block: Dataset, source: Source) -> np.ndarray:
    """Weights (n,) of all rows: finite and not negative."""
    if block.weight is None:
        return np.ones(source.table.num_rows)
    weights = numbers(block, source, block.weight, "weight")
    is_bad = ~(np.isfinite(weights) & (weights >= 0))
    if is_bad.any():
        row = int(is_bad.argmax())
        what = "no number" if np.isnan(weights[row]) else f"{weights[row]:.15g}"
        raise bad_weights(block, f", and has {what} in {source.place_of(row, block.path)}")
    return weights


def bad_weights(block: Dataset, found: str = "") -> UsageError:
    """What is wrong with a column of weights."""
    return UsageError(
        f"weight column {block.weight!r} of {block.path} must hold finite, "
        f"non-negative numbers with a positive sum{found}"
    )


def _identical_adjacent(items: pa.Table) -> pa.Array | None:
    """Rows by the first sight of what is embedded; None where they stay: all differ, or some have nothing."""
    seen = embedded_column(items)
    if seen.null_count:
        return None
    first_sight = in_one(seen).dictionary_encode().indices.to_numpy()
    if first_sight.size < 2 or (np.diff(first_sight) >= 0).all():
        return None
    return pa.array(np.argsort(first_sight, kind="stable"))
