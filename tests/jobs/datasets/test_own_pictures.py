"""Folders of pictures, tables that name them, and tar shards."""

import shutil
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from jobs import datasets
from jobs.datasets import described
from jobs.errors import UsageError
from tests.jobs.datasets.layouts import write, write_tar


def load(block, **changes):
    return datasets.load(described(block | changes), Path(block["path"]))


def test_a_folder_with_the_same_names_in_two_folders_keeps_both(tmp_path):
    catalogue = load(write("images", tmp_path))
    assert catalogue.size == 30
    assert {"chile/0.jpg", "ghana/0.jpg", "nepal/0.jpg"} <= set(catalogue.items["item_id"].to_pylist())


def test_folders_are_labels_where_there_is_no_table(tmp_path):
    write("images", tmp_path)
    (tmp_path / "metadata.csv").unlink()
    block = {"kind": "images", "path": str(tmp_path)}
    assert load(block).levels == {"folder": ("chile", "ghana", "nepal")}
    assert load(block, attributes={"folder_1": {}}).levels == {"folder_1": ("chile", "ghana", "nepal")}


def test_pictures_without_labels_are_skipped_and_labels_without_a_picture_stay(tmp_path):
    block = write("images", tmp_path)
    shutil.copy(tmp_path / "chile/0.jpg", tmp_path / "chile/extra.jpg")
    (tmp_path / "ghana/0.jpg").unlink()
    (tmp_path / "nepal/notes.txt").write_text("no picture")
    (tmp_path / "nepal/.hidden.jpg").write_text("no picture")
    (tmp_path / "elsewhere").symlink_to(tmp_path.parent)
    (tmp_path / "chile/\udcff.jpg").write_bytes(b"")
    catalogue = load(block)
    assert catalogue.size == 30
    assert "ghana/0.jpg" in catalogue.items["item_id"].to_pylist()
    assert {(row["item_id"], row["reason"]) for row in catalogue.skipped.to_pylist()} == {
        ("chile/extra.jpg", "no label"),
        ("elsewhere", "outside the root"),
        ("chile/\\udcff.jpg", "malformed name"),
    }


@pytest.mark.parametrize(
    "written",
    [
        lambda path, root: f"./{path}",
        lambda path, root: path.replace("/", "//"),
        lambda path, root: path.replace("/", "/./"),
        lambda path, root: path.replace("/", "\\"),
        lambda path, root: ".\\" + path.replace("/", "\\"),
        lambda path, root: f"{root}/{path}",
        lambda path, root: f"elsewhere/../{path}",
    ],
)
def test_a_picture_has_its_labels_however_its_path_is_written(tmp_path, written):
    block = write("images", tmp_path)
    plain = load(block)
    table = pd.read_csv(tmp_path / "metadata.csv")
    table["file_name"] = [written(path, tmp_path) for path in table["file_name"]]
    table.to_csv(tmp_path / "metadata.csv", index=False)
    catalogue = load(block)
    assert catalogue.skipped.num_rows == 0
    assert catalogue.items.equals(plain.items)


def test_an_accent_of_two_characters_names_the_picture_of_one(tmp_path):
    block = write("images", tmp_path)
    (tmp_path / "chile").rename(tmp_path / "chil\u00e9")
    table = pd.read_csv(tmp_path / "metadata.csv")
    table["file_name"] = [path.replace("chile", "chile\u0301") for path in table["file_name"]]
    table.to_csv(tmp_path / "metadata.csv", index=False)
    catalogue = load(block)
    assert (catalogue.size, catalogue.skipped.num_rows) == (30, 0)
    assert "chil\u00e9/0.jpg" in catalogue.items["item_id"].to_pylist()


def test_two_rows_of_one_picture_are_one_id_twice(tmp_path):
    block = write("images", tmp_path)
    table = pd.read_csv(tmp_path / "metadata.csv")
    pd.concat([table, table.head(1).assign(file_name="./" + table["file_name"][0])]).to_csv(
        tmp_path / "metadata.csv", index=False
    )
    with pytest.raises(UsageError, match="occurs 2 times"):
        load(block)


def test_labels_in_json_lines(tmp_path):
    block = write("images", tmp_path)
    plain = load(block)
    pd.read_csv(tmp_path / "metadata.csv").to_json(tmp_path / "metadata.jsonl", orient="records", lines=True)
    (tmp_path / "metadata.csv").unlink()
    assert load(block).items.equals(plain.items)


def test_a_table_takes_its_pictures_from_another_root(tmp_path):
    block = write("table", tmp_path / "pictures")
    shutil.move(tmp_path / "pictures/people.parquet", tmp_path / "people.parquet")
    block["path"] = str(tmp_path / "people.parquet")
    with pytest.raises(UsageError, match="none of the pictures .* such as chile/0.jpg and ghana/0.jpg"):
        load(block)
    assert load(block, root=str(tmp_path / "pictures")).root == str(tmp_path / "pictures")


def test_identical_pictures_stay_in_one_shard(tmp_path):
    block = write("table", tmp_path)
    table = pd.read_parquet(tmp_path / "people.parquet")
    table["file_name"] = ["chile/0.jpg", "ghana/0.jpg"] * 15
    table.to_parquet(tmp_path / "people.parquet")
    catalogue = load(block)
    assert catalogue.items["image"].to_pylist() == ["chile/0.jpg"] * 15 + ["ghana/0.jpg"] * 15
    assert catalogue.shards(4) == [(0, 15), (15, 30)]


def test_webdataset_members_belong_together(tmp_path):
    block = write("webdataset", tmp_path)
    catalogue = load(block, text="{txt}, {age}", attributes={"gender": {}, "age": {"bins": [25]}})
    assert catalogue.size == 30
    row = catalogue.items.slice(16, 1).to_pylist()[0]
    assert (row["item_id"], row["text"]) == ("shard-00001.tar::000001", "person 1, 21")
    assert row["image"] == "shard-00001.tar::000001.jpg"
    assert load(block, path=str(tmp_path / "shard-00000.tar"), attributes={"gender": {}}).size == 15


def test_webdataset_leaves_out_what_it_cannot_take(tmp_path):
    block = write("webdataset", tmp_path)
    good = {"a.jpg": b"x", "a.json": b'{"gender": "woman"}'}
    bad = {"b.jpg": b"x", "b.json": b"{not json", "c.txt": b"alone", "d.jpg": b"x", "d.json": b"[1]"}
    write_tar(tmp_path / "shard-2.tar", good | bad)
    (tmp_path / "shard-3.tar").write_bytes(b"no archive at all" * 100)
    whole = (tmp_path / "shard-00000.tar").read_bytes()
    (tmp_path / "shard-4.tar").write_bytes(whole[: len(whole) // 2 + 100])
    catalogue = load(block, attributes={"gender": {}})
    reasons = dict(zip(catalogue.skipped["item_id"].to_pylist(), catalogue.skipped["reason"].to_pylist()))
    assert reasons.pop("shard-4.tar") == "damaged archive"
    assert reasons == {
        "shard-2.tar::b": "malformed label",
        "shard-2.tar::c": "no image named",
        "shard-2.tar::d": "malformed label",
        "shard-3.tar": "damaged archive",
    }
    assert 31 < catalogue.size < 46


def test_links_in_archives_are_not_followed(tmp_path):
    block = write("webdataset", tmp_path)
    with tarfile.open(tmp_path / "shard-00000.tar", "a") as archive:
        link = tarfile.TarInfo("evil.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "../../etc/passwd"
        archive.addfile(link)
    catalogue = load(block, attributes={"gender": {}})
    assert "shard-00000.tar::evil.jpg" in catalogue.items["image"].to_pylist()
