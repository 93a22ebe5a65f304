"""People with given vectors in Parquet, as many as asked for, and an audit of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

ROWS_PER_FILE = 1_000_000
# Rows that are made together.
ROWS_AT_ONCE = 100_000
SHARD_ITEMS = 100_000
SEED = 7
REGIONS = ["Africa", "Americas", "Asia", "Europe", "Oceania"]


def write_people(folder: Path, items: int, width: int, numbers: str) -> None:
    """Parquet files of people with given vectors of length 1, a part of them after the other."""
    folder.mkdir()
    generator = np.random.default_rng(SEED)
    for first in range(0, items, ROWS_PER_FILE):
        rows = min(ROWS_PER_FILE, items - first)
        with pq.ParquetWriter(folder / f"part-{first // ROWS_PER_FILE:04d}.parquet", _schema(width, numbers)) as writer:
            for start in range(first, first + rows, ROWS_AT_ONCE):
                writer.write_table(_people(generator, start, min(ROWS_AT_ONCE, first + rows - start), width, numbers))


def _schema(width: int, numbers: str) -> pa.Schema:
    vector = pa.list_(pa.float16() if numbers == "float16" else pa.float32(), width)
    fields = [("item_id", pa.string()), ("gender", pa.string()), ("region", pa.string()), ("weight", pa.float64())]
    return pa.schema([*fields, ("embedding", vector), ("remark", pa.string())])


def _people(generator: np.random.Generator, start: int, rows: int, width: int, numbers: str) -> pa.Table:
    gender, region = generator.integers(0, 2, rows), generator.integers(0, len(REGIONS), rows)
    vectors = generator.standard_normal((rows, width), dtype=np.float32)
    vectors[:, 0] += gender - 0.5
    vectors[:, 1] += 0.3 * region
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    flat = pa.array(vectors.astype(numbers).reshape(-1))
    columns = [
        _numbered("person", start, rows),
        pa.array(["female", "male"]).take(pa.array(gender)),
        pa.array(REGIONS).take(pa.array(region)),
        pa.array(generator.uniform(0.5, 2.0, rows)),
        pa.FixedSizeListArray.from_arrays(flat, width),
        _numbered("a remark that nobody asks for,", start, rows),
    ]
    return pa.Table.from_arrays(columns, schema=_schema(width, numbers))


def _numbered(text: str, start: int, rows: int) -> pa.Array:
    """The text with a number of ten digits behind it."""
    digits = pc.utf8_lpad(pa.array(np.arange(start, start + rows)).cast(pa.string()), 10, "0")
    return pc.binary_join_element_wise(text, digits, " ")


def write_audit(folder: Path, people: Path, width: int, queries: int, numbers: str) -> Path:
    """The configuration of an audit of people, in a folder with the vectors of its queries."""
    generator = np.random.default_rng(SEED + 1)
    vectors = generator.standard_normal((queries, width)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = pa.array([f"query {number}" for number in range(queries)])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), width)
    pq.write_table(pa.table({"query": names, "vector": column}), folder / "queries.parquet")
    settings = {
        "name": "scale",
        "dataset": {"path": str(people), "weight": "weight", "attributes": {"gender": {}, "region": {}}},
        "encoder": {"kind": "precomputed", "column": "embedding"},
        "queries": {"vectors": "queries.parquet"},
        "prefilter": {"top": 10_000, "storage": numbers},
        "shard_items": SHARD_ITEMS,
        "k": [50],
        "function_classes": ["linear"],
        "methods": ["top_k", {"mopr": {"points": 20}}],
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return path
