"""Pictures are known by their bytes: touched, moved and renamed ones are not embedded again."""

import json
import os
import shutil
import time

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from jobs.cache.pictures import Pictures
from jobs.cache.place import CachePlace
from jobs.cache.vectors import RememberingEncoder
from jobs.cli import main
from jobs.encoders.encoded import EncodedImages
from jobs.images.errors import ImageError, Reason
from jobs.images.limits import ImageLimits
from jobs.store import Store

COUNT = 12
KEY = {"kind": "counted", "weights": "1"}


class CountedTower:
    """A vector of each picture's colour; counts what it embeds, and cannot see what is no picture."""

    def __init__(self):
        self.seen = []
        self.before = lambda: None

    def encode_images(self, root, locators, limits):
        self.before()
        self.seen += locators
        vectors, positions, faults = [], [], {}
        for place, locator in enumerate(locators):
            try:
                with Image.open(os.path.join(root, locator)) as picture:
                    vectors.append([1.0, *picture.convert("RGB").getpixel((0, 0))])
                positions.append(place)
            except (OSError, TypeError):
                faults[place] = ImageError(Reason.NO_IMAGE if locator is None else Reason.MISSING, str(locator))
        return EncodedImages(
            vectors=np.array(vectors, dtype=np.float32).reshape(-1, 4),
            positions=np.array(positions, dtype=np.int64),
            faults=faults,
        )


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(COUNT):
        Image.new("RGB", (8, 8), (number, 2 * number, 255 - number)).save(folder / f"{number}.png")
    settle(folder)
    return folder


def settle(folder, names=None):
    """The files changed long enough ago for their times to tell."""
    for path in folder.iterdir() if names is None else (folder / name for name in names):
        os.utime(path, (time.time() - 100, time.time() - 100))


@pytest.fixture
def tower():
    return CountedTower()


def names():
    return [f"{number}.png" for number in range(COUNT)]


def embed(tmp_path, root, tower, locators, told_by="listing", limits=None):
    place = CachePlace(address=str(tmp_path / "cache"))
    encoder = RememberingEncoder(lambda: tower, place, encoder=KEY, version=1, told_by=told_by)
    found = encoder.encode_images(str(root), locators, limits or ImageLimits())
    assert encoder.fault == ""
    return found, encoder.reused


def same(found, expected):
    assert np.array_equal(found.vectors, expected.vectors)
    assert np.array_equal(found.positions, expected.positions)
    assert {at: str(fault) for at, fault in found.faults.items()} == {
        at: str(fault) for at, fault in expected.faults.items()
    }


@pytest.mark.parametrize("told_by", ["listing", "content", "names"])
def test_nothing_is_embedded_twice(tmp_path, root, tower, told_by):
    expected = tower.encode_images(str(root), names(), None)
    tower.seen.clear()
    for reused in (0, COUNT):
        found, known = embed(tmp_path, root, tower, names(), told_by)
        same(found, expected)
        assert known == reused
    assert tower.seen == names()


def test_half_are_touched_some_change_and_one_is_new(tmp_path, root, tower):
    embed(tmp_path, root, tower, names())
    tower.seen.clear()
    for name in names()[: COUNT // 2]:
        os.utime(root / name, (time.time() - 50, time.time() - 50))
    Image.new("RGB", (8, 8), (200, 0, 0)).save(root / "7.png")
    Image.new("RGB", (8, 8), (201, 0, 0)).save(root / "new.png")
    asked = ["new.png", *reversed(names())]
    found, reused = embed(tmp_path, root, tower, asked)
    assert sorted(tower.seen) == ["7.png", "new.png"]
    assert reused == COUNT - 1
    same(found, tower.encode_images(str(root), asked, None))


def test_renamed_and_moved_pictures_are_known(tmp_path, root, tower):
    embed(tmp_path, root, tower, names())
    tower.seen.clear()
    moved = tmp_path / "elsewhere"
    shutil.copytree(root, moved)
    for name in names():
        (moved / name).rename(moved / f"renamed {name}")
    _, reused = embed(tmp_path, moved, tower, [f"renamed {name}" for name in names()])
    assert (reused, tower.seen) == (COUNT, [])


def test_what_cannot_be_read_has_its_reason_each_time(tmp_path, root, tower):
    (root / "bad.png").write_bytes(b"no picture")
    asked = ["bad.png", "0.png", None, "gone.png", "1.png"]
    for _ in range(2):
        found, _ = embed(tmp_path, root, tower, asked)
        same(found, tower.encode_images(str(root), asked, None))
        assert sorted(found.faults) == [0, 2, 3]


def test_a_file_that_changes_while_it_is_embedded_is_not_remembered(tmp_path, root, tower):
    def change():
        Image.new("RGB", (8, 8), (99, 99, 99)).save(root / "3.png")

    tower.before = change
    embed(tmp_path, root, tower, names())
    tower.before = lambda: None
    tower.seen.clear()
    # The old picture is put back: its key must not have the vector of the other.
    Image.new("RGB", (8, 8), (3, 6, 252)).save(root / "3.png")
    found, _ = embed(tmp_path, root, tower, names())
    assert tower.seen == ["3.png"]
    assert found.vectors[3].tolist() == [1, 3, 6, 252]


def test_another_limit_is_another_question(tmp_path, root, tower):
    embed(tmp_path, root, tower, names())
    _, reused = embed(tmp_path, root, tower, names(), limits=ImageLimits(max_megabytes=1.0))
    assert reused == 0


def test_files_that_have_just_changed_are_read_again(tmp_path, root):
    cache = CachePlace(address=str(tmp_path / "cache"))
    (root / "now.png").write_bytes((root / "0.png").read_bytes())
    pictures = Pictures(cache, str(root), ImageLimits(), "listing")
    pictures.keys(["0.png", "now.png"])
    known = Pictures(cache, str(root), ImageLimits(), "listing").keys(["0.png", "now.png"], is_reading=False)[1]
    assert known.tolist() == [True, False]


def write_audit(folder, root, tiny_clip, names, runtime):
    """An audit of pictures by a tiny model."""
    folder.mkdir()
    table = pd.DataFrame({"name": names, "picture": names, "gender": ["female", "male"] * (len(names) // 2)})
    table.to_parquet(folder / "pictures.parquet")
    model, weights = tiny_clip
    dataset = {"kind": "table", "path": "pictures.parquet", "id": "name", "image": "picture", "root": str(root)}
    raw = {
        "name": "pictures",
        "dataset": dataset | {"attributes": {"gender": {}}},
        "encoder": {"kind": "open_clip", "model": str(model), "pretrained": str(weights), "batch": 4},
        "queries": {"list": ["nurse"]},
        "shard_items": 5,
        "k": [3],
        "report": {"thumbnail_megabytes": 0},
        "runtime": runtime,
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(raw), encoding="utf-8")
    return path


@pytest.mark.parametrize("executor", ["local", pytest.param("ray", marks=pytest.mark.system)])
def test_an_audit_of_pictures_a_week_later(tmp_path, root, tiny_clip, capsys, executor, request):
    if executor == "ray":
        request.getfixturevalue("cluster")
    runtime = {"executor": executor}

    def asked(command, path, output, *options):
        assert main([command, str(path), "--output", str(tmp_path / output), "--json", *options]) == 0
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    cache = ["--set", f"cache={tmp_path / 'cache'}"]
    first = asked("run", write_audit(tmp_path / "one", root, tiny_clip, names(), runtime), "week 1", *cache)
    assert (first["items_embedded"], first["items_reused"]) == (COUNT, 0)
    for name in names()[: COUNT // 2]:
        os.utime(root / name, (time.time() - 50, time.time() - 50))
    Image.new("RGB", (8, 8), (200, 0, 0)).save(root / "7.png")
    Image.new("RGB", (8, 8), (201, 0, 0)).save(root / "new.png")
    settle(root, ["7.png", "new.png"])
    path = write_audit(tmp_path / "two", root, tiny_clip, ["new.png", *reversed(names()[1:])], runtime)
    bill = asked("plan", path, "week 2", *cache)["bill"]
    # Until the touched ones are read nobody knows that they are the same.
    assert (bill["items_to_embed"], bill["items_reused"]) == (COUNT // 2 - 1 + 2, COUNT // 2 - 1)
    second = asked("run", path, "week 2", *cache)
    assert (second["items_embedded"], second["items_reused"]) == (2, COUNT - 2)
    # What another executor embeds anew is the same.
    asked("run", path, "without", "--set", "runtime.executor=local")
    rows = [
        pd.concat(
            Store(str(tmp_path / output)).read_table(name).to_pandas()
            for name in Store(str(tmp_path / output)).list("results")
        ).drop(columns=["run_id", "unit", "solve_seconds"])
        for output in ("week 2", "without")
    ]
    pd.testing.assert_frame_equal(*rows)
