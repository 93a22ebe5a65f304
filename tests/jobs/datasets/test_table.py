import numpy as np
import pandas as pd
import pytest

from jobs import datasets
from jobs.datasets import described
from jobs.datasets.catalogue import attribute_columns
from jobs.datasets.table import Table
from jobs.errors import UsageError
from mprlib.level_names import bin_names

BLOCK = {
    "path": "people.parquet",
    "id": "id",
    "text": "{name}, {age}",
    "attributes": {"gender": {}, "age": {"bins": [30, 60]}},
}


def table(**changes) -> pd.DataFrame:
    columns = {
        "id": ["a", "b", "c", "d"],
        "name": ["Ann", "Bob", "Ann", None],
        "age": [30.0, 29.0, 30.0, 61.0],
        "gender": ["f", "m", "f", None],
        "weight": [1.0, 2.0, 3.0, 4.0],
        "vector": [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.6, 0.8]],
    }
    return pd.DataFrame(columns | changes)


def load(folder, frame=None, column=None, **changes):
    (table() if frame is None else frame).to_parquet(folder / "people.parquet")
    return datasets.load(described(BLOCK | changes), folder, column)


def test_texts_levels_and_canonical_order(tmp_path):
    catalogue = load(tmp_path)
    assert catalogue.items["item_id"].to_pylist() == ["a", "c", "b", "d"]
    assert catalogue.items["text"].to_pylist() == ["Ann, 30", "Ann, 30", "Bob, 29", "unknown, 61"]
    assert attribute_columns(catalogue.items) == {
        "gender": ["f", "f", "m", "unknown"],
        "age": ["30 to under 60", "30 to under 60", "under 30", "60 and over"],
    }
    assert catalogue.levels["age"] == ("under 30", "30 to under 60", "60 and over")
    assert catalogue.levels["gender"] == ("f", "m", "unknown")


def test_bins_are_closed_on_the_left():
    assert bin_names((1500.0, 1800.5)) == ["under 1500", "1500 to under 1800.5", "1800.5 and over"]


def test_drops_and_counts_items_with_missing_values(tmp_path):
    catalogue = load(tmp_path, missing="drop")
    assert catalogue.items["item_id"].to_pylist() == ["a", "c", "b"]
    assert catalogue.dropped == {"missing attribute value": 1}
    assert "60 and over" not in catalogue.levels["age"]


def test_csv_and_folder_give_the_same_items(tmp_path):
    whole = load(tmp_path, column=None).items
    parts = tmp_path / "parts"
    parts.mkdir()
    table().drop(columns="vector").iloc[:2].to_csv(parts / "1.csv", index=False)
    table().drop(columns="vector").iloc[2:].to_csv(parts / "2.csv", index=False)
    catalogue = datasets.load(described(BLOCK | {"path": "parts"}), tmp_path)
    assert catalogue.items.equals(whole)


def test_identical_texts_stay_in_one_shard(tmp_path):
    frame = pd.DataFrame(
        {"id": range(9), "name": list("xyxyxyxyx"), "age": 1, "gender": ["f", "m", "f"] * 3, "weight": 1.0}
    )
    catalogue = load(tmp_path, frame, text="{name}", attributes={"gender": {}})
    assert catalogue.items["text"].to_pylist() == ["x"] * 5 + ["y"] * 4
    assert catalogue.shards(2) == [(0, 5), (5, 9)]
    assert catalogue.shards(100) == [(0, 9)]


def test_shards_cover_items_without_texts(tmp_path):
    catalogue = load(tmp_path, text=None)
    assert catalogue.shards(3) == [(0, 3), (3, 4)]


def test_fingerprint_follows_the_content(tmp_path):
    first = load(tmp_path).fingerprint
    assert load(tmp_path).fingerprint == first
    assert load(tmp_path, table(age=[31.0, 29.0, 30.0, 61.0])).fingerprint != first


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"path": "absent.parquet"}, ["absent.parquet", "does not exist"]),
        ({"id": "key"}, ["id", "'key'", "lacks", "gender"]),
        ({"text": "{nam}"}, ["text", "'nam'"]),
        ({"text": "no columns"}, ["names no column"]),
        ({"text": "{name"}, ["template"]),
        ({"text": "{age:d}"}, ["without a format"]),
        ({"attributes": {"gender": {"map": {"femal": "x"}}}}, ["attributes.gender.map", "'femal'"]),
        ({"attributes": {"vector": {}}}, ["attributes.vector", "text or numbers"]),
        ({"id": "vector"}, ["id", "text or numbers"]),
        ({"weight": "mass"}, ["weight", "'mass'"]),
        ({"relevance": "truth"}, ["relevance", "'truth'"]),
        ({"attributes": {"sex": {}}}, ["attributes.sex", "'sex'"]),
        ({"attributes": {"gender": {"bins": [3]}}}, ["'gender'", "numbers"]),
        ({"attributes": {"age": {"bins": [200]}}}, ["'age'", "one value", "under 200"]),
    ],
)
def test_bad_settings_name_the_place(tmp_path, changes, words):
    with pytest.raises(UsageError) as caught:
        load(tmp_path, **changes)
    for word in ["dataset items", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (table(id=["a", "b", "a", "d"]), ["'a'", "2 times", "distinct"]),
        (table(id=["a", None, "c", "d"]), ["row 2"]),
        (table(gender=["f"] * 4), ["'gender'", "one value, 'f'"]),
        (table().iloc[:0], ["no rows"]),
        (table(weight=[1.0, -2.0, 3.0, 4.0]), ["'weight'", "non-negative"]),
        (table(weight=[1.0, np.nan, 3.0, 4.0]), ["'weight'", "finite"]),
        (table(weight=[1e308, 1e308, 3.0, 4.0]), ["'weight'", "finite"]),
        (table(id=["a", "b", "c", "d\0"]), ["NUL"]),
    ],
)
def test_bad_data_names_the_place(tmp_path, frame, words):
    with pytest.raises(UsageError) as caught:
        load(tmp_path, frame, weight="weight")
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([[1.0, 0.0], [np.nan, 1.0], [1.0, 0.0], [0.0, 1.0]], ["not finite", "'b'"]),
        ([[1.0, 0.0], [0.0, 1.0], [np.inf, 0.0], [0.0, 1.0]], ["not finite", "'c'"]),
        ([[1.0, 0.0], [0.0], [1.0, 0.0], [0.0, 1.0]], ["different lengths"]),
        ([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], ["only zeros", "'b'"]),
        ([[], [], [], []], ["empty vectors"]),
        ([[1.0, 0.0], None, [1.0, 0.0], [0.0, 1.0]], ["no vector", "'b'"]),
        ([1.0, 2.0, 3.0, 4.0], ["lists of numbers"]),
    ],
)
def test_bad_vectors_name_the_item(tmp_path, vectors, words):
    with pytest.raises(UsageError) as caught:
        load(tmp_path, table(vector=vectors), column="vector")
    for word in ["'vector'", *words]:
        assert word in str(caught.value)


def test_ids_of_a_csv_keep_their_zeros(tmp_path):
    (tmp_path / "people.csv").write_text("id,gender\n001,f\n01,m\n", encoding="utf-8")
    block = Table(path="people.csv", id="id", attributes={"gender": {}})
    assert datasets.load(block, tmp_path).items["item_id"].to_pylist() == ["001", "01"]


def test_files_of_a_folder_have_the_same_columns(tmp_path):
    (tmp_path / "parts.parquet").mkdir()
    for number, frame in enumerate([table(), table().drop(columns="gender")]):
        frame.to_parquet(tmp_path / "parts.parquet" / f"{number}.parquet")
    with pytest.raises(UsageError, match="1.parquet lacks the column 'gender'"):
        datasets.load(described(BLOCK | {"path": "."}), tmp_path)


def test_a_file_that_is_no_table(tmp_path):
    (tmp_path / "people.parquet").write_bytes(b"not a table")
    with pytest.raises(UsageError, match="cannot read"):
        datasets.load(described(BLOCK), tmp_path)
