"""A table of items: Parquet or CSV, one file or a folder of them.

Text is a template over columns, attributes are columns (binned where asked), ids must be distinct.
"""

from __future__ import annotations

import hashlib
import string
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from jobs.config import Attribute, Dataset
from jobs.datasets.catalogue import ATTRIBUTE, Catalogue
from jobs.errors import UsageError

UNKNOWN = "unknown"
SUFFIXES = (".parquet", ".csv")


def load(block: Dataset, folder: Path, embedding_column: str | None = None) -> Catalogue:
    """The catalogue of a `table` data set.

    Raises:  UsageError for a missing file or column, an id that is null or repeats, an attribute
             with one value, weights or vectors that are not finite.
    """
    path = folder / block.path
    files = _files(block, path)
    source = _read(block, files)
    ids = _ids(block, source)
    attributes, levels, is_kept = _attributes(block, source)
    items = {
        "item_id": pa.array(ids, pa.string()),
        "text": _texts(block, source),
        "relevance": _strings(block, source, block.relevance, "relevance")
        if block.relevance
        else pa.nulls(source.num_rows, pa.string()),
        "weight": pa.array(_weights(block, source, is_kept)),
        **{ATTRIBUTE + name: pa.array(column, pa.string()) for name, column in attributes.items()},
    }
    if embedding_column is not None:
        items["vector"] = _vectors(block, source, embedding_column, ids)
    table = pa.table(items)
    dropped = {}
    if not is_kept.all():
        dropped["missing attribute value"] = int((~is_kept).sum())
        table = table.filter(pa.array(is_kept))
    if table.num_rows == 0:
        raise UsageError(f"dataset {block.name}: {path} has no items left to audit")
    return Catalogue(
        name=block.name,
        items=_identical_texts_adjacent(table),
        levels=levels,
        fingerprint=_fingerprint(files),
        dropped=dropped,
    )


def _files(block: Dataset, path: Path) -> list[Path]:
    try:
        is_there = path.exists()
    except OSError as error:
        raise UsageError(f"dataset {block.name}: path {str(path)[:200]}: {error.strerror}") from None
    if not is_there:
        raise UsageError(f"dataset {block.name}: path {path} does not exist")
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    files = [file for file in found if file.suffix.lower() in SUFFIXES and file.is_file()]
    if not files:
        raise UsageError(f"dataset {block.name}: {path} is neither a .parquet or .csv file nor a folder of them")
    return files


def _read(block: Dataset, files: list[Path]) -> pa.Table:
    try:
        tables = [
            pyarrow.parquet.read_table(file)
            if file.suffix.lower() == ".parquet"
            # An id such as 007 is a name, not a number.
            else pyarrow.csv.read_csv(
                file,
                convert_options=pyarrow.csv.ConvertOptions(
                    strings_can_be_null=True, column_types={block.id: pa.string()}
                ),
            )
            for file in files
        ]
        for file, part in zip(files, tables):
            missing = sorted(set(tables[0].column_names) - set(part.column_names))
            if missing:
                raise UsageError(f"dataset {block.name}: {file} lacks the column {missing[0]!r} that {files[0]} has")
        table = pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowException, OSError) as error:
        names = ", ".join(str(file) for file in files[:3])
        raise UsageError(f"dataset {block.name}: cannot read {names}: {' '.join(str(error).split())[:200]}") from None
    if table.num_rows == 0:
        raise UsageError(f"dataset {block.name}: {files[0]} has no rows")
    return table


def _fingerprint(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _column(block: Dataset, source: pa.Table, name: str, setting: str) -> pa.ChunkedArray:
    if name not in source.column_names:
        raise UsageError(
            f"dataset {block.name}: {setting} names column {name!r}, which {block.path} lacks; "
            f"it has {', '.join(source.column_names)}"
        )
    return source[name]


def _ids(block: Dataset, source: pa.Table) -> list[str]:
    column = _strings(block, source, block.id, "id")
    if column.null_count:
        row = int(pc.index(pc.is_null(column), True).as_py())
        raise UsageError(f"dataset {block.name}: column {block.id!r} has no id in row {row + 1} of {block.path}")
    if pc.any(pc.match_substring(column, "\0")).as_py():
        raise UsageError(f"dataset {block.name}: column {block.id!r} of {block.path} holds an id with a NUL character")
    counts = pc.value_counts(column)
    repeated = counts.filter(pc.greater(pc.struct_field(counts, "counts"), 1))
    if len(repeated):
        raise UsageError(
            f"dataset {block.name}: id {repeated[0]['values'].as_py()!r} stands {repeated[0]['counts'].as_py()} times "
            f"in column {block.id!r} of {block.path}: ids must be distinct"
        )
    return column.to_pylist()


def _texts(block: Dataset, source: pa.Table) -> pa.Array:
    if block.text is None:
        return pa.nulls(source.num_rows, pa.string())
    try:
        fields = [field for field in string.Formatter().parse(block.text) if field[1] is not None]
    except ValueError as error:
        raise UsageError(f"dataset {block.name}: text is not a template ({error}): {block.text!r}") from None
    if any(style or conversion for _, _, style, conversion in fields):
        raise UsageError(f"dataset {block.name}: text takes columns as {{name}}, without a format: {block.text!r}")
    names = dict.fromkeys(name for _, name, _, _ in fields)
    columns = {name: _strings(block, source, name, "text").to_pylist() for name in names}
    if not columns:
        raise UsageError(f"dataset {block.name}: text names no column, as {{name}}: {block.text!r}")
    rows = ([UNKNOWN if value is None else value for value in values] for values in zip(*columns.values()))
    return pa.array([block.text.format(**dict(zip(columns, row))) for row in rows], pa.string())


def _strings(block: Dataset, source: pa.Table, name: str, setting: str) -> pa.Array:
    """A column's values as text; whole floats without a point, NaN as null."""
    column = _column(block, source, name, setting).combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        values = column.to_numpy(zero_copy_only=False)
        return pa.array([None if value != value else f"{value:.15g}" for value in values], pa.string())
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        raise UsageError(
            f"dataset {block.name}: {setting} names column {name!r} of {block.path}, which holds {column.type}: "
            "text or numbers are expected"
        ) from None


def _weights(block: Dataset, source: pa.Table, is_kept: np.ndarray) -> np.ndarray:
    """Weights of all rows; those that stay must have a positive, finite sum."""
    if block.weight is None:
        return np.ones(source.num_rows)
    weights = _numbers(block, _column(block, source, block.weight, "weight"), block.weight)
    with np.errstate(over="ignore"):
        total = weights[is_kept].sum()
    if not np.isfinite(weights).all() or (weights < 0).any() or not 0 < total < np.inf:
        raise UsageError(
            f"dataset {block.name}: weight column {block.weight!r} of {block.path} must hold finite, "
            "non-negative numbers with a positive sum"
        )
    return weights


def _numbers(block: Dataset, column: pa.ChunkedArray, name: str) -> np.ndarray:
    try:
        return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowException, TypeError):
        raise UsageError(f"dataset {block.name}: column {name!r} of {block.path} does not hold numbers") from None


def _attributes(
    block: Dataset, source: pa.Table
) -> tuple[dict[str, np.ndarray], dict[str, tuple[str, ...]], np.ndarray]:
    """Each attribute's level a row, its levels in reading order, and which rows stay."""
    columns: dict[str, np.ndarray] = {}
    orders: dict[str, list[str]] = {}
    is_kept = np.ones(source.num_rows, dtype=bool)
    for name, attribute in block.attributes.items():
        levels, order = _levels(block, attribute, source, attribute.column or name, f"attributes.{name}")
        if block.missing == "drop":
            is_kept &= levels != UNKNOWN
        columns[name], orders[name] = levels, order
    found = {}
    for name, levels in columns.items():
        present = set(np.unique(levels[is_kept]).tolist())
        found[name] = tuple(level for level in orders[name] if level in present)
        if len(found[name]) < 2:
            only = f"has one value, {found[name][0]!r}" if found[name] else "has no value"
            raise UsageError(
                f"dataset {block.name}: attribute {name!r} {only}, in {block.path}: "
                "at least two are needed to compare shares"
            )
    return columns, found, is_kept


def _levels(
    block: Dataset, attribute: Attribute, source: pa.Table, name: str, setting: str
) -> tuple[np.ndarray, list[str]]:
    if attribute.bins is None:
        found = _strings(block, source, name, setting).to_pylist()
        absent = sorted(set(attribute.map) - set(found) - {None})
        if absent:
            raise UsageError(
                f"dataset {block.name}: {setting}.map renames {absent[0]!r}, "
                f"which column {name!r} of {block.path} lacks"
            )
        values = (attribute.map.get(value, value) for value in found)
        levels = np.array([UNKNOWN if value is None or value == "" else value for value in values])
        return levels, sorted(set(levels.tolist()) - {UNKNOWN}) + [UNKNOWN]
    values = _numbers(block, _column(block, source, name, setting), name)
    names = bin_names(attribute.bins)
    position = np.searchsorted(attribute.bins, values, side="right")
    levels = np.where(np.isnan(values), UNKNOWN, np.array(names)[np.minimum(position, len(names) - 1)])
    return levels, [*names, UNKNOWN]


def bin_names(bins: tuple[float, ...]) -> list[str]:
    """Names of (-inf, a), [a, b), ..., [z, inf): "under 30", "30 to under 45", "45 and over"."""
    between = [f"{low:.15g} to under {high:.15g}" for low, high in zip(bins, bins[1:])]
    return [f"under {bins[0]:.15g}", *between, f"{bins[-1]:.15g} and over"]


def _vectors(block: Dataset, source: pa.Table, name: str, ids: list[str]) -> pa.Array:
    """Vectors as float32 lists of one length."""
    column = _column(block, source, name, "encoder.column").combine_chunks()
    where = f"dataset {block.name}: column {name!r} of {block.path}"
    if not (
        pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type) or pa.types.is_large_list(column.type)
    ):
        raise UsageError(f"{where} holds {column.type}: lists of numbers are expected")
    if column.null_count:
        row = int(pc.index(pc.is_null(column), True).as_py())
        raise UsageError(f"{where} has no vector for item {ids[row]!r}")
    lengths = pc.unique(pc.list_value_length(column))
    if len(lengths) != 1:
        raise UsageError(f"{where} holds vectors of different lengths: {sorted(lengths.to_pylist())[:5]}")
    width = lengths[0].as_py()
    if width == 0:
        raise UsageError(f"{where} holds empty vectors")
    try:
        flat = column.flatten().cast(pa.float32(), safe=False).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise UsageError(f"{where} does not hold numbers") from None
    matrix = flat.reshape(-1, width)
    bad = ~np.isfinite(matrix).all(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise UsageError(f"{where} holds a value that is not finite, in the vector of item {ids[row]!r}")
    empty = ~matrix.any(axis=1)
    if empty.any():
        row = int(np.flatnonzero(empty)[0])
        raise UsageError(f"{where} holds only zeros in the vector of item {ids[row]!r}: it has no direction")
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), width)


def _identical_texts_adjacent(table: pa.Table) -> pa.Table:
    """Rows by the first sight of their text; the order stays where texts differ or are absent."""
    texts = table["text"].combine_chunks()
    if texts.null_count:
        return table
    first_sight = texts.dictionary_encode().indices.to_numpy()
    return table.take(pa.array(np.argsort(first_sight, kind="stable")))
