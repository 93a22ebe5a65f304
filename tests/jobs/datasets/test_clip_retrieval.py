"""Embeddings in clip-retrieval's layout: parts in the order of their numbers, rows mapped and never mixed up."""

import numpy as np
import pandas as pd
import pytest

from jobs import datasets
from jobs.datasets import described
from jobs.datasets.vector_files import VectorFiles, numbered, open_files
from jobs.errors import UsageError
from tests.jobs.datasets.layouts import write_clip_retrieval


def load(folder, **changes):
    return datasets.load(described(write_clip_retrieval(folder) | changes), folder, "embedding")


def test_vectors_belong_to_their_ids_across_ten_and_two(tmp_path):
    catalogue = load(tmp_path, text="{caption}")
    ids, rows = (catalogue.items[name].to_pylist() for name in ("item_id", "vector_row"))
    assert ids == [f"pictures/{number}.jpg" for number in range(36)]
    vectors = VectorFiles(**catalogue.summaries[0].vector_files).take(np.array(rows))
    assert vectors.dtype == np.float16
    assert vectors[:, 0].tolist() == list(range(36))
    assert catalogue.items["text"].to_pylist()[10] == "person 10"
    assert (catalogue.vector_width, "vector" in catalogue.items.column_names) == (8, False)


def test_rows_are_taken_in_the_order_asked_for(tmp_path):
    write_clip_retrieval(tmp_path)
    files, sizes = open_files(list(numbered(tmp_path / "img_emb", ".npy").values()))
    assert (files.rows, files.width, sizes) == (36, 8, [3] * 12)
    rows = np.array([35, 0, 17, 18, 3])
    assert files.take(rows)[:, 0].tolist() == rows.tolist()
    assert files.take(np.array([], dtype=int)).shape == (0, 8)


def test_dropped_and_reordered_items_keep_their_vectors(tmp_path):
    block = write_clip_retrieval(tmp_path)
    for part in range(12):
        path = tmp_path / f"metadata/metadata_{part}.parquet"
        table = pd.read_parquet(path)
        table.loc[0, "gender"] = None
        table.assign(caption="odd" if part % 2 else "even").to_parquet(path)
    block |= {"missing": "drop", "text": "{caption}"}
    catalogue = datasets.load(described(block), tmp_path, "embedding")
    assert catalogue.size == 24
    numbers = [
        int(item.removeprefix("pictures/").removesuffix(".jpg")) for item in catalogue.items["item_id"].to_pylist()
    ]
    assert numbers != sorted(numbers)
    files = VectorFiles(**catalogue.summaries[0].vector_files)
    assert files.take(catalogue.items["vector_row"].to_numpy())[:, 0].tolist() == numbers


def test_another_column_names_the_items(tmp_path):
    assert load(tmp_path, id="caption").items["item_id"].to_pylist()[2] == "person 2"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda folder: (folder / "metadata/metadata_3.parquet").unlink(),
            "part 3 in one of img_emb and metadata only",
        ),
        (lambda folder: (folder / "img_emb/img_emb_11.npy").unlink(), "part 11 in one of"),
        (lambda folder: np.save(folder / "img_emb/img_emb_4.npy", np.ones((2, 8))), "has 2 rows and .*_4.parquet 3"),
        (lambda folder: np.save(folder / "img_emb/img_emb_4.npy", np.ones((3, 9))), "vectors of 9 numbers, .* of 8"),
        (lambda folder: np.save(folder / "img_emb/img_emb_4.npy", np.ones(3)), "rows of floats are expected"),
        (lambda folder: np.save(folder / "img_emb/img_emb_4.npy", np.array([{}] * 3)), "img_emb_4.npy cannot be read"),
        (lambda folder: (folder / "img_emb/img_emb_4.npy").write_bytes(b"text"), "img_emb_4.npy cannot be read"),
        (lambda folder: (folder / "metadata/metadata_0.parquet").write_bytes(b"text"), "cannot read .*_0.parquet"),
        (lambda folder: np.save(folder / "img_emb/again_4.npy", np.ones((3, 8))), "two parts of number 4"),
        (lambda folder: (folder / "img_emb").rename(folder / "text_emb"), "lacks embeddings: img_emb is expected"),
    ],
)
def test_parts_that_do_not_fit(tmp_path, spoil, words):
    block = write_clip_retrieval(tmp_path)
    spoil(tmp_path)
    with pytest.raises(UsageError, match=f"dataset items: .*{words}"):
        datasets.load(described(block), tmp_path, "embedding")


def test_columns_that_are_not_there(tmp_path):
    with pytest.raises(UsageError, match="lacks the column 'age'; it has image_path, caption, gender"):
        load(tmp_path / "a", attributes={"age": {}})
    block = write_clip_retrieval(tmp_path / "b")
    for part in range(12):
        path = tmp_path / f"b/metadata/metadata_{part}.parquet"
        pd.read_parquet(path).rename(columns={"image_path": "place"}).to_parquet(path)
    with pytest.raises(UsageError, match="none of the columns image_path, key"):
        datasets.load(described(block), tmp_path, "embedding")


@pytest.mark.parametrize("dtypes", [("f2", "f4"), ("f4", "f2"), ("f2", "f8"), ("f4", "f8"), (">f4", "f2")])
def test_a_vector_does_not_depend_on_the_parts_beside_it(tmp_path, dtypes):
    vectors = np.random.default_rng(0).standard_normal((4, 8)) * 1e5
    paths = []
    for part, dtype in enumerate(dtypes):
        paths.append(tmp_path / f"img_emb_{part}.npy")
        scale = 1e-5 if dtype == "f2" else 1.0
        np.save(paths[-1], (vectors[2 * part : 2 * part + 2] * scale).astype(dtype))
    files, _ = open_files(paths)
    alone = np.concatenate([files.take(np.array([row])).astype(np.float64) for row in range(4)])
    for rows in ([0, 1, 2, 3], [3, 0], [1, 2, 3], [2, 1]):
        together = files.take(np.array(rows)).astype(np.float64)
        assert np.isfinite(together).all()
        np.testing.assert_array_equal(together, alone[rows])


def test_categories_beside_texts_and_numbers_beside_texts(tmp_path):
    block = write_clip_retrieval(tmp_path)
    for part in range(12):
        path = tmp_path / f"metadata/metadata_{part}.parquet"
        table = pd.read_parquet(path).assign(code=[1.0, None, 2.0] if part % 3 else ["1", None, "2"])
        table.astype({"gender": "category", "image_path": "category"} if part % 2 else {}).to_parquet(path)
    catalogue = datasets.load(described(block | {"attributes": {"gender": {}, "code": {}}}), tmp_path, "embedding")
    assert catalogue.items["item_id"].to_pylist() == [f"pictures/{number}.jpg" for number in range(36)]
    assert catalogue.levels["code"] == ("1", "2", "unknown")


def test_columns_that_a_probe_predicts_are_not_looked_for(tmp_path):
    block = write_clip_retrieval(tmp_path)
    block["attributes"] = block["attributes"] | {"age": {"probe": "age"}}
    assert list(datasets.load(described(block), tmp_path, "embedding").levels) == ["gender"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda good: good[:-4], "cannot be read: mmap length is greater than file size"),
        (lambda good: good + b"more", "holds 100 bytes of numbers, and its header says 96"),
        (lambda good: good.replace(b"(3, 8)", b"(3, 4)"), "holds 96 bytes of numbers, and its header says 48"),
        (lambda good: good.replace(b"(3, 8), }", b"(3, 8         "), "img_emb_4.npy cannot be read"),
        (lambda good: good.replace(b"(3, 8)", b"(-3,8)"), "img_emb_4.npy cannot be read"),
        (lambda good: b"", "img_emb_4.npy cannot be read: EOF"),
        (lambda good: b"PK" + good, "img_emb_4.npy cannot be read: the magic string"),
    ],
)
def test_vectors_that_are_not_what_their_header_says(tmp_path, content, words):
    block = write_clip_retrieval(tmp_path)
    path = tmp_path / "img_emb/img_emb_4.npy"
    np.save(path, np.ones((3, 8), np.float32))
    path.write_bytes(content(path.read_bytes()))
    with pytest.raises(UsageError, match=words):
        datasets.load(described(block), tmp_path, "embedding")


def test_vectors_of_no_numbers_and_numbers_of_no_use(tmp_path):
    block = write_clip_retrieval(tmp_path)
    for array, words in ((np.ones((3, 0)), "vectors of no numbers"), (np.ones((3, 8), complex), "rows of floats")):
        np.save(tmp_path / "img_emb/img_emb_4.npy", array)
        with pytest.raises(UsageError, match=words):
            datasets.load(described(block), tmp_path, "embedding")
