"""Parquet of every writer: types that differ between parts, and columns that nobody asks for."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.errors import UsageError
from tests.jobs.datasets.tables import codes, load

IDS = [f"p{number}" for number in range(6)]
SEXES = ["f", "m"] * 3


def test_parquet_columns_that_nobody_asks_for_are_not_looked_at(tmp_path):
    (tmp_path / "d").mkdir()
    for place, extra in enumerate(
        [pa.array([1] * 6), pa.array(["x"] * 6), pa.array([[1]] * 6), pa.array([b"\xff"] * 6)]
    ):
        arrays = [pa.array([f"{place}{name}" for name in IDS]), pa.array(SEXES), extra, extra]
        table = pa.Table.from_arrays(arrays, ["item_id", "code", "note", "note"])
        pq.write_table(table, tmp_path / f"d/{place}.parquet")
    assert load(tmp_path, "d", text=None).size == 24
    with pytest.raises(UsageError, match="0.parquet: the column 'note' occurs 2 times"):
        load(tmp_path, "d")


def test_types_that_differ_between_parts_are_the_texts_of_their_files(tmp_path):
    (tmp_path / "d").mkdir()
    parts = [
        pa.array([1, 2]),
        pa.array([1.0, None]),
        pa.array(["1", "02"]),
        pa.array(["x", "1"]).dictionary_encode(),
        pa.array([True, False]),
        pa.array([1, 2], pa.int8()).dictionary_encode(),
    ]
    for place, column in enumerate(parts):
        ids = pa.array([f"{place}a", f"{place}b"])
        pq.write_table(pa.table({"item_id": ids, "code": column}), tmp_path / f"d/{place}.parquet")
    levels = codes(load(tmp_path, "d", text=None))
    assert levels == ["1", "2", "1", "unknown", "1", "02", "x", "1", "true", "false", "1", "2"]


@pytest.mark.parametrize("is_same", [True, False])
def test_a_categorical_beside_text_or_another_categorical(tmp_path, is_same):
    (tmp_path / "d").mkdir()
    for place, sexes in enumerate([["f", "m"], ["x", "f"]]):
        frame = pd.DataFrame({"item_id": [f"{place}a", f"{place}b"], "code": sexes})
        frame.astype({"code": "category"} if is_same or place else {}).to_parquet(tmp_path / f"d/{place}.parquet")
    assert codes(load(tmp_path, "d", text=None)) == ["f", "m", "x", "f"]


def test_vectors_in_different_numbers_and_lists(tmp_path):
    (tmp_path / "d").mkdir()
    vectors = np.array([[0.6, 0.8], [1.0, 1e-3]])
    kinds = [pa.list_(pa.float32()), pa.list_(pa.float64()), pa.list_(pa.float32(), 2), pa.large_list(pa.float64())]
    for place, kind in enumerate(kinds):
        columns = {
            "item_id": [f"{place}a", f"{place}b"],
            "code": ["f", "m"],
            "embedding": pa.array(vectors.tolist(), kind),
        }
        pq.write_table(pa.table(columns), tmp_path / f"d/{place}.parquet")
    found = load(tmp_path, "d", "embedding", text=None).items["vector"]
    assert np.array(found.to_pylist()).astype(np.float32).tolist() == vectors.astype(np.float32).tolist() * 4


def test_float_ids_keep_their_digits_or_are_refused(tmp_path):
    def write(ids):
        pq.write_table(pa.table({"item_id": ids, "code": ["f", "m"]}), tmp_path / "p.parquet")
        return load(tmp_path, "p.parquet", text=None).items["item_id"].to_pylist()

    assert write(pa.array([1.0, 2.0**53 - 1])) == ["1", "9007199254740991"]
    assert write(pa.array([12345678901234567, 12345678901234568])) == ["12345678901234567", "12345678901234568"]
    assert write(pa.array([0.1, 0.2])) == ["0.1", "0.2"]
    with pytest.raises(UsageError, match="the id 12345678901234568 as a float in row 1 .*store ids as text or whole"):
        write(pa.array([12345678901234567.0, 5.0]))


def test_float_ids_of_one_part_are_refused_beside_text(tmp_path):
    (tmp_path / "d").mkdir()
    for place, ids in enumerate([pa.array(["a", "b"]), pa.array([1.0, 2e17])]):
        pq.write_table(pa.table({"item_id": ids, "code": ["f", "m"]}), tmp_path / f"d/{place}.parquet")
    with pytest.raises(UsageError, match="column 'item_id' of .*1.parquet holds 2e.17 in row 2"):
        load(tmp_path, "d", text=None)


def test_integers_that_pandas_made_floats_for_a_missing_one(tmp_path):
    pd.DataFrame({"item_id": IDS, "code": [1, 2, None, 1, 2, 1]}).to_parquet(tmp_path / "p.parquet")
    assert load(tmp_path, "p.parquet", text="{code}").levels["code"] == ("1", "2", "unknown")


def test_an_index_of_pandas_is_a_column_by_its_name(tmp_path):
    pd.DataFrame({"code": SEXES}, index=pd.Index(IDS, name="item_id")).to_parquet(tmp_path / "p.parquet")
    assert load(tmp_path, "p.parquet", text=None).items["item_id"].to_pylist() == IDS


def test_bytes_that_are_no_text_in_a_parquet_that_calls_them_text(tmp_path):
    broken = pa.array([b"f", b"\xff"]).view(pa.string())
    pq.write_table(pa.table({"item_id": ["a", "b"], "code": broken}), tmp_path / "p.parquet")
    with pytest.raises(UsageError, match="cannot read .*p.parquet: .*UTF8"):
        load(tmp_path, "p.parquet", text=None)
