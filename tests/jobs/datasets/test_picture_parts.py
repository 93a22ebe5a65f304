"""Folders of pictures and shards of them are read in parts, which hold what the whole holds."""

import os

import pytest

from jobs import datasets
from jobs.datasets import described, table_files
from jobs.errors import UsageError
from tests.jobs.datasets.layouts import write_webdataset
from tests.jobs.datasets.tables_in_parts import loaded, same_items, table, write


def write_pictures(folder):
    """Files that are named as pictures are, in folders of several depths, with what has to be left out."""
    names = [
        "a/x/1.jpg",
        "a/x/2.PNG",
        "a/3.jpg",
        "b/y/z/4.jpg",
        "b/y/5.jpg",
        "b/y/6.jpg",
        "7.jpg",
        "c/8.jpg",
        "c/9.jpg",
    ]
    names += [f"d/{number}.jpg" for number in range(10, 25)]
    for name in (*names, "a/note.txt", ".hidden/1.jpg", "a/.1.jpg"):
        (folder / "people" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "people" / name).write_bytes(name.encode())
    (folder / "people" / "b" / "link").symlink_to(folder / "people" / "a")
    (folder / "people" / "c" / "x.tar::1.jpg").write_bytes(b"")
    return folder


@pytest.mark.parametrize("pictures", [1, 4, 7])
def test_a_folder_of_pictures_is_listed_in_parts(tmp_path, small_parts, monkeypatch, pictures):
    write_pictures(tmp_path)
    changes = {"kind": "images", "attributes": {"folder": {}, "folder_1": {}, "folder_3": {}}, "weight": None}
    whole = loaded(tmp_path, **changes)
    assert small_parts == []
    monkeypatch.setattr("jobs.datasets.picture_parts.PART_PICTURES", pictures)
    parts = loaded(tmp_path, **changes)
    assert len(parts.parts) == -(-26 // pictures)
    assert parts.items["item_id"].to_pylist() == whole.items["item_id"].to_pylist()
    same_items(parts, whole)
    assert parts.skipped.equals(whole.skipped) and whole.skipped.num_rows == 2
    for fact in ("size", "levels", "missing", "root"):
        assert getattr(parts, fact) == getattr(whole, fact)
    with pytest.raises(UsageError, match=r"attributes.folder_4 names column 'folder_4', which people lacks"):
        loaded(tmp_path, **changes | {"attributes": {"folder_4": {}}})


def test_a_picture_that_changed_is_noticed_in_its_part_alone(tmp_path, small_parts, monkeypatch):
    write_pictures(tmp_path)
    monkeypatch.setattr("jobs.datasets.picture_parts.PART_PICTURES", 7)
    changes = {"kind": "images", "attributes": {"folder": {}}, "weight": None}
    before = loaded(tmp_path, **changes)
    (tmp_path / "people" / "d" / "20.jpg").write_bytes(b"another one")
    after = loaded(tmp_path, **changes)
    changed = [one.fingerprint != other.fingerprint for one, other in zip(before.summaries, after.summaries)]
    assert sum(changed) == 1


def test_folders_whose_names_are_no_text_are_read_at_once(tmp_path, small_parts, monkeypatch):
    write_pictures(tmp_path)
    folder = os.fsencode(tmp_path / "people") + b"/\xff"
    os.mkdir(folder)
    with open(folder + b"/1.jpg", "wb"):
        pass
    monkeypatch.setattr("jobs.datasets.picture_parts.PART_PICTURES", 7)
    found = loaded(tmp_path, kind="images", attributes={"folder": {}}, weight=None)
    assert (len(found.parts), found.skipped.num_rows) == (1, 3)


def test_many_small_shards_are_parts_that_processes_read(tmp_path, small_parts, monkeypatch):
    block = write_webdataset(tmp_path)
    monkeypatch.setattr("jobs.datasets.webdataset.PART_SHARDS", 1)
    parts = datasets.load(described(block), tmp_path)
    assert len(parts.parts) == len(small_parts) > 1
    small_parts.clear()
    monkeypatch.setattr("jobs.datasets.webdataset.PART_SHARDS", 100)
    monkeypatch.setattr("jobs.datasets.webdataset.SMALL_BYTES", 10.0)
    one = datasets.load(described(block), tmp_path)
    assert (len(one.parts), len(small_parts)) == (1, 1)
    same_items(parts, one)


def test_a_shard_that_leads_nowhere_is_skipped_in_parts_as_in_the_whole(tmp_path, small_parts, monkeypatch):
    block = write_webdataset(tmp_path)
    folder = tmp_path / block["path"]
    (folder / "zz.tar").symlink_to(tmp_path / "nowhere.tar")
    whole = datasets.load(described(block), tmp_path)
    assert small_parts == [] and whole.skipped["item_id"].to_pylist()[-1] == "zz.tar"
    monkeypatch.setattr("jobs.datasets.webdataset.PART_SHARDS", 1)
    parts = datasets.load(described(block), tmp_path)
    assert len(parts.parts) == len(small_parts) > 1
    same_items(parts, whole)
    assert parts.skipped.equals(whole.skipped)


def test_a_shard_that_was_not_there_is_looked_at_once_more(tmp_path, small_parts, monkeypatch):
    """It may be there again, as old as it was."""
    people = tmp_path / "people"
    block = described(write_webdataset(people))
    (people / "x.tar").symlink_to(people / "nowhere")
    monkeypatch.setattr("jobs.datasets.webdataset.PART_SHARDS", 1)
    assert datasets.load(block, tmp_path).size == 30
    assert len(small_parts) == 3
    (people / "x.tar").unlink()
    (people / "x.tar").symlink_to("shard-00000.tar")
    small_parts.clear()
    assert datasets.load(block, tmp_path).size == 45
    assert len(small_parts) == 1


@pytest.mark.parametrize("kind", ["webdataset", "images", "table"])
def test_what_goes_away_once_it_was_listed_is_no_traceback(tmp_path, small_parts, monkeypatch, kind):
    people = tmp_path / "people"
    monkeypatch.setattr("jobs.datasets.webdataset.PART_SHARDS", 1)
    monkeypatch.setattr("jobs.datasets.picture_parts.PART_PICTURES", 7)
    if kind == "webdataset":
        attributes, path = "gender", people / "x.tar"
        write_webdataset(people)
        path.write_bytes((people / "shard-00000.tar").read_bytes())
    elif kind == "images":
        attributes, path = "folder", people / "d"
        write_pictures(tmp_path)
    else:
        attributes, path = "sex", people / "1.csv"
        write(tmp_path, table(), table(item_id=[f"j{number}" for number in range(100)]), ending="csv")
    block = described({"kind": kind, "path": str(people), "attributes": {attributes: {}}})
    listing = type(block).listing

    def listed(self, folder, columns):
        found = listing(self, folder, columns)
        path.rename(tmp_path / "away")
        return found

    monkeypatch.setattr(type(block), "listing", listed)
    monkeypatch.setattr(table_files, "PART_BYTES", 1000)
    if kind == "table":
        with pytest.raises(UsageError, match=r"cannot read .*1\.csv: No such file"):
            datasets.load(block, tmp_path)
    else:
        assert datasets.load(block, tmp_path).size == {"webdataset": 30, "images": 9}[kind]
