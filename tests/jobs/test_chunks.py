"""Columns in one piece: right for any chunks, and no copy of a single one."""

import pyarrow as pa
import pytest

from jobs.store.chunks import in_one, table_in_one
from tests.sources import ROOT

LEVELS = pa.array(["a", None, "b", "a"]).dictionary_encode()


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([[1, 2], [3]]),
        pa.chunked_array([[1, 2]]),
        pa.chunked_array([], pa.float16()),
        pa.chunked_array([LEVELS]).slice(1, 2),
        pa.chunked_array([pa.array([[1.0], [2.0], [3.0]], pa.list_(pa.float32(), 1)).slice(1)]),
    ],
)
def test_values_stay(column):
    whole = in_one(column)
    assert isinstance(whole, pa.Array)
    assert whole.to_pylist() == column.to_pylist()
    assert whole.type == column.type
    assert in_one(whole) is whole
    table = table_in_one(pa.table({"x": column}).replace_schema_metadata({b"a": b"b"}))
    assert table["x"].num_chunks == 1
    assert (table["x"].to_pylist(), table.schema.metadata) == (column.to_pylist(), {b"a": b"b"})


def test_a_single_chunk_is_not_copied():
    column = pa.chunked_array([pa.array(range(1000))])
    assert in_one(column).buffers()[1].address == column.chunk(0).buffers()[1].address


def test_nobody_else_combines_chunks():
    """What copies a mapped file does so wherever it is written."""
    found = {path.name for path in (ROOT / "jobs").rglob("*.py") if "combine_chunks(" in path.read_text()}
    assert found == {"chunks.py"}
