"""Tar shards: whose members belong together, what is no member, and what a shard that is not whole says."""

import io
import json
import os
import tarfile

import pytest

from jobs import datasets
from jobs.datasets import described
from jobs.datasets.catalogue import attribute_columns
from jobs.datasets.webdataset_samples import samples
from jobs.errors import UsageError
from jobs.images.archive import members_of, read_member
from tests.jobs.datasets.layouts import write_tar

COUNT = 10
PICTURE = b"picture" * 100


def people(*names):
    """Members of people with these names, whose sexes alternate."""
    members = {}
    for place, name in enumerate(names):
        members[f"{name}.jpg"] = PICTURE
        members[f"{name}.json"] = json.dumps({"sex": "fm"[place % 2]}).encode()
    return members


PLAIN = people(*(f"{number:03d}" for number in range(COUNT)))
# A header and the picture's two blocks, a header and the labels' block.
ITEM_BYTES = 512 * 5


def load(folder, members=None, cut=None, **changes):
    if members is not None:
        write_tar(folder / "d/0.tar", members)
    if cut is not None:
        (folder / "d/0.tar").write_bytes((folder / "d/0.tar").read_bytes()[:cut])
    block = {"kind": "webdataset", "path": "d", "attributes": {"sex": {}}} | changes
    return datasets.load(described(block), folder)


def skipped(catalogue):
    return {row["item_id"]: (row["reason"], row["detail"]) for row in catalogue.skipped.to_pylist()}


def test_names_with_points_of_their_own_are_items_with_their_labels(tmp_path):
    catalogue = load(tmp_path, PLAIN | people("img.0", "img.1", "img.2", "v1.0/a", "b.JPEG copy"))
    assert (catalogue.size, catalogue.levels["sex"]) == (COUNT + 5, ("f", "m"))
    assert {"0.tar::img.0", "0.tar::img.1", "0.tar::img.2", "0.tar::v1.0/a", "0.tar::b.JPEG copy"} < set(
        catalogue.items["item_id"].to_pylist()
    )
    assert "0.tar::img.2.jpg" in catalogue.items["image"].to_pylist()
    assert (skipped(catalogue), catalogue.remarks) == ({}, ())


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["0.jpg", "0.json", "0.txt", "0.cls"], [("0", "0.jpg", [".cls", ".json", ".txt"], ())]),
        (["0.jpg", "0.seg.png", "0.json"], [("0", "0.jpg", [".json"], ("0.seg.png",))]),
        (["0.seg.png", "0.json"], [("0", "0.seg.png", [".json"], ())]),
        (["0.jpg", "0.caption.txt"], [("0", "0.jpg", [".txt"], ())]),
        (["0.jpg", "0.jpg.json"], [("0", "0.jpg", [".json"], ())]),
        (["0.jpg", "0.png"], [("0", "0.jpg", [], ("0.png",))]),
        (["0.left.jpg", "0.right.jpg", "0.json"], [("0", None, [".json"], ())]),
        (["i.0.jpg", "i.1.jpg"], [("i.0", "i.0.jpg", [], ()), ("i.1", "i.1.jpg", [], ())]),
        (["i.0.jpg", "i.0.json", "i.1.json"], [("i.0", "i.0.jpg", [".json"], ()), ("i.1", None, [".json"], ())]),
        (["a.b.c.JPG", "a.b.c.JSON"], [("a.b.c", "a.b.c.JPG", [".json"], ())]),
        (["d.x/0.jpg", "d.x/0.json"], [("d.x/0", "d.x/0.jpg", [".json"], ())]),
        (["._0.jpg", "__MACOSX/._0.jpg", "a/.b/0.jpg", ".jpg", "./.0.json"], []),
        (["../0.jpg"], [("../0", "../0.jpg", [], ())]),
        (["noending", "0.mp4"], [("noending", None, [], ()), ("0", None, [], ())]),
    ],
)
def test_which_members_are_a_sample(names, expected):
    found = [(one.key, one.image, sorted(one.labels), one.beside) for one in samples(names)]
    assert found == expected


def test_several_pictures_without_a_plain_one_are_left_out_with_a_reason(tmp_path):
    catalogue = load(tmp_path, PLAIN | {"0.left.jpg": PICTURE, "0.right.jpg": PICTURE, "0.json": b"{}"})
    detail = "several pictures, none of them plain: .left.jpg, .right.jpg"
    assert skipped(catalogue) == {"0.tar::0": ("malformed name", detail)}


def test_pictures_beside_another_are_told_of(tmp_path):
    catalogue = load(tmp_path, PLAIN | {f"{number:03d}.seg.png": PICTURE for number in range(COUNT)})
    assert catalogue.size == COUNT
    [remark] = catalogue.remarks
    assert "10 pictures not read" in remark and "0.tar::000.seg.png" in remark


def test_files_of_macos_are_no_items(tmp_path):
    junk = {f"{folder}._{name}": b"x" for name in PLAIN for folder in ("", "__MACOSX/")}
    catalogue = load(tmp_path, junk | {f"./{name}": data for name, data in PLAIN.items()})
    assert (catalogue.size, catalogue.levels["sex"], skipped(catalogue)) == (COUNT, ("f", "m"), {})


@pytest.mark.parametrize(
    ("cut", "items", "words"),
    [
        (5 * ITEM_BYTES, 5, "cut off, perhaps between two members"),
        (5 * ITEM_BYTES + 100, 5, "cut off, perhaps between two members"),
        (5 * ITEM_BYTES + 512, 5, "unexpected end of data"),
        (5 * ITEM_BYTES + 700, 5, "unexpected end of data"),
        (5 * ITEM_BYTES + 3 * 512, 5, "cut off, perhaps between two members"),
        (COUNT * ITEM_BYTES, COUNT, "cut off, perhaps between two members"),
    ],
)
def test_a_shard_that_was_cut_off_says_so(tmp_path, cut, items, words):
    catalogue = load(tmp_path, PLAIN, cut)
    assert (catalogue.size, catalogue.levels["sex"]) == (items, ("f", "m"))
    reason, detail = skipped(catalogue)["0.tar"]
    assert reason == "damaged archive" and words in detail
    assert "1 damaged shard" in catalogue.remarks[0] and words in catalogue.remarks[0]
    assert ("005 is left out, whose labels are lost" in detail) == (5 * ITEM_BYTES + 100 < cut < COUNT * ITEM_BYTES)


def test_a_shard_with_one_block_of_zeros_at_its_end_is_whole(tmp_path):
    catalogue = load(tmp_path, PLAIN, COUNT * ITEM_BYTES + 512)
    assert (catalogue.size, skipped(catalogue), catalogue.remarks) == (COUNT, {}, ())


def test_a_damaged_header_ends_a_shard_and_says_so(tmp_path):
    load(tmp_path, PLAIN)
    data = bytearray((tmp_path / "d/0.tar").read_bytes())
    data[5 * ITEM_BYTES + 10] ^= 1
    (tmp_path / "d/0.tar").write_bytes(data)
    catalogue = load(tmp_path)
    assert catalogue.size == 5
    assert f"the member after byte {5 * ITEM_BYTES:,} has a damaged header" in skipped(catalogue)["0.tar"][1]


def test_shards_that_were_joined_are_told_of(tmp_path):
    load(tmp_path, PLAIN)
    path = tmp_path / "d/0.tar"
    path.write_bytes(path.read_bytes() * 2)
    catalogue = load(tmp_path)
    assert catalogue.size == COUNT
    assert "more follows the mark of the archive's end" in skipped(catalogue)["0.tar"][1]


def test_a_member_of_negative_size_ends_a_shard(tmp_path):
    load(tmp_path, PLAIN)
    data = bytearray((tmp_path / "d/0.tar").read_bytes())
    header = data[2 * ITEM_BYTES : 2 * ITEM_BYTES + 512]
    header[124:136] = b"\xff" * 11 + b"\x00"
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    data[2 * ITEM_BYTES : 2 * ITEM_BYTES + 512] = header
    (tmp_path / "d/0.tar").write_bytes(data)
    assert "negative size" in members_of(str(tmp_path / "d/0.tar")).damage


def test_labels_are_the_texts_that_stand_in_the_json(tmp_path):
    texts = ["1E2", "100.0", "007", "true", '"true"', "NaN", "null", "[1]", '""', '"unknown"']
    members = {}
    for place, text in enumerate(texts):
        members |= {f"{place}.jpg": PICTURE, f"{place}.json": f'\ufeff{{"sex": {text}}}'.encode()}
    members["2.json"] = b'{"sex": "007"}'
    catalogue = load(tmp_path, members)
    levels = attribute_columns(catalogue.items)["sex"]
    assert levels == ["1E2", "100.0", "007", "true", "true", "missing", "missing", "missing", "missing", "unknown"]


def test_a_label_that_stands_twice_is_malformed(tmp_path):
    twice = {"x.jpg": PICTURE, "x.json": b'{"sex": "f", "sex": "m", "n": 1, "n": 2}'}
    other = {"y.jpg": PICTURE, "y.json": b'{"n": 1, "sex": "m", "n": 2}'}
    catalogue = load(tmp_path, PLAIN | twice | other)
    assert skipped(catalogue) == {"0.tar::x": ("malformed label", ".json: 'sex' occurs twice")}


def test_hidden_linked_and_compressed_shards(tmp_path):
    load(tmp_path, PLAIN)
    (tmp_path / "d/._0.tar").write_bytes(b"x")
    (tmp_path / "d/.cache").mkdir()
    (tmp_path / "d/.cache/1.tar").write_bytes(b"x")
    (tmp_path / "d/more").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "d/pipe.tar")
    reasons = {name: reason for name, (reason, _) in skipped(load(tmp_path)).items()}
    assert reasons == {"more": "outside the root", "pipe.tar": "unreadable file"}
    for name in ("a.tar.gz", "a.tgz"):
        (tmp_path / "d" / name).write_bytes(b"x")
        with pytest.raises(UsageError, match=f"{name} is compressed: unpack it"):
            load(tmp_path)
        (tmp_path / "d" / name).unlink()


def test_an_audit_that_damage_makes_impossible_names_the_damage(tmp_path):
    with pytest.raises(UsageError, match="one value, 'f', in d: .*; 1 damaged shard.*0.tar: .*cut off"):
        load(tmp_path, PLAIN, ITEM_BYTES)


def test_a_member_is_read_with_or_without_a_dot_before_its_name(tmp_path):
    write_tar(tmp_path / "a.tar", {f"./{name}": data for name, data in PLAIN.items()})
    for name in ("000.jpg", "./000.jpg"):
        assert read_member(str(tmp_path / "a.tar"), name, 1e6) == PICTURE


def test_archives_of_every_format_are_whole(tmp_path):
    (tmp_path / "d").mkdir()
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        with tarfile.open(tmp_path / f"d/{form}.tar", "w", format=form) as archive:
            for name, data in people("é" * 20, "a/" * 40 + "x").items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    catalogue = load(tmp_path)
    assert (catalogue.size, skipped(catalogue), catalogue.remarks) == (6, {}, ())
