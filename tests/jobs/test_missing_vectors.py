"""Items without a vector: listed, in the reference by their labels, and never retrieved."""

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.encoders.encoded import EncodedImages
from jobs.images import ImageError, Reason
from jobs.stages.embed import open_shard
from jobs.stages.execute import execute
from jobs.stages.order import read_order
from jobs.stages.pool import pool_vectors
from jobs.store import unit_file
from mprlib import Problem, measure
from mprlib.baselines import group_labels
from mprlib.baselines.mutual_information import mutual_information, order_of

from .conftest import settings
from .units_in_process import WordEncoder, run_plan

PEOPLE, DIMENSION = 90, 8
METHODS = [
    "top_k",
    {"mopr": {"points": 3, "targets": ["linear"]}},
    {"clip_clip": {"values": [1, 3]}},
    {"paths": {}},
    {"pbm": {"prompts": ["a woman", "a man"], "values": [0.5]}},
]


class NameEncoder(WordEncoder):
    """A vector from each locator's letters; locators in `bad` cannot be read."""

    def __init__(self, bad=()):
        self.bad = set(bad)

    def encode_images(self, root, locators, limits):
        good = [place for place, locator in enumerate(locators) if locator not in self.bad]
        faults = {
            place: ImageError(Reason.TRUNCATED, "cut") for place, locator in enumerate(locators) if locator in self.bad
        }
        vectors = self.encode([locators[place] for place in good]) if good else np.empty((0, DIMENSION), np.float32)
        return EncodedImages(vectors=unit(vectors), positions=np.array(good, dtype=np.int64), faults=faults)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def names():
    return [f"{number:03d}.png" for number in range(PEOPLE)]


def write_pictures(folder, **changes):
    """The configuration of an audit over a folder of labelled pictures."""
    pictures, generator = folder / "pictures", np.random.default_rng(0)
    pictures.mkdir(parents=True)
    for name in names():
        Image.new("RGB", (4, 4)).save(pictures / name)
    table = {
        "file_name": names(),
        "gender": generator.choice(["female", "male"], PEOPLE),
        "age": generator.integers(18, 90, PEOPLE),
        "weight": generator.uniform(0.5, 2, PEOPLE),
    }
    pd.DataFrame(table).to_csv(pictures / "labels.csv", index=False)
    attributes = {"gender": {}, "age": {"bins": [40, 60]}}
    raw = (
        settings(
            dataset={
                "kind": "images",
                "path": "pictures",
                "weight": "weight",
                "attributes": attributes,
                "max_skipped_share": 1,
            },
            # Never loaded here: only what it is called stands in the plan.
            encoder={"kind": "open_clip", "model": "hf-hub:test/names"},
            queries={"list": ["nurse", "chef"]},
            prefilter={"top": 40},
            shard_items=25,
            k=[10],
            methods=METHODS,
            function_classes=["linear", {"linear": {"over": "embedding"}}],
        )
        | changes
    )
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(raw))
    return path


def bad_names():
    """Scattered ones, and the whole of the second shard."""
    return [f"{number:03d}.png" for number in [0, 7, 24, *range(25, 50), 89]]


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """The audit with some pictures that cannot be read."""
    encoder = NameEncoder(bad_names())
    return run_plan(write_pictures(tmp_path_factory.mktemp("damaged")), encoder)


def table_of(store, unit, name):
    return store.read_table(unit_file(unit.stage, unit.key, name))


def test_each_is_listed_once_with_its_reason(damaged):
    plan, store = damaged
    rows = [
        row
        for unit in plan.stages["embed"]
        for row in store.read_table(unit_file("embed", unit.key, "skipped")).to_pylist()
    ]
    assert [row["item_id"] for row in rows] == bad_names()
    assert {(row["reason"], row["detail"]) for row in rows} == {("truncated", "cut")}
    shards = [open_shard(store, unit.key) for unit in plan.stages["embed"]]
    assert [shard.extent for shard in shards] == [25, 25, 25, 15]
    assert [len(shard.vectors) for shard in shards] == [22, 0, 25, 14]
    assert [item for shard in shards for item in shard.ids.to_pylist()] == sorted(set(names()) - set(bad_names()))


def test_pools_are_the_best_of_the_others(damaged):
    plan, store = damaged
    good = sorted(set(names()) - set(bad_names()))
    vectors = unit(NameEncoder().encode(good)).astype(np.float64)
    labels = pd.read_csv(store.path("../pictures/labels.csv")).set_index("file_name")
    for one in plan.stages["pool"]:
        query = WordEncoder().encode([one.prompt])[0].astype(np.float64)
        scores = dict(zip(good, vectors @ query))
        pool = table_of(store, one, "pool")
        ids = pool["item_id"].to_pylist()
        assert ids == sorted(good, key=lambda item: (-scores[item], item))[:40]
        assert np.allclose(pool["score"], [scores[item] for item in ids], atol=1e-6)
        assert pool["attribute:gender"].to_pylist() == labels.loc[ids, "gender"].tolist()
        shards = [shard.key for shard in plan.stages["embed"]]
        assert np.allclose(pool_vectors(store, shards, pool["row"].to_numpy()), unit(NameEncoder().encode(ids)))


def test_they_count_in_the_reference_by_label_and_not_over_embeddings(damaged):
    plan, store = damaged
    labels = pd.read_csv(store.path("../pictures/labels.csv")).set_index("file_name")
    [one] = [unit for unit in plan.stages["solve"] if unit.title.endswith("nurse: top_k")]
    rows = table_of(store, one, "results").to_pylist()
    assert {row["n_reference"] for row in rows} == {PEOPLE}
    groups = table_of(store, one, "groups").to_pandas().set_index("group")
    share = labels["weight"][labels["gender"] == "female"].sum() / labels["weight"].sum()
    assert groups.loc["gender=female", "share_reference"] == pytest.approx(share)
    assert not set(rows[0]["item_ids"]) & set(bad_names())
    [seen] = [row["mpr"] for row in rows if "embedding" in row["function_class"]]
    good = sorted(set(names()) - set(bad_names()))
    [pool] = [table_of(store, unit, "pool") for unit in plan.stages["pool"] if unit.key == one.pool]
    problem = Problem(
        scores=pool["score"].to_numpy(),
        labels=pool_vectors(store, one.vectors, pool["row"].to_numpy()),
        reference=unit(NameEncoder().encode(good)),
        reference_weights=labels.loc[good, "weight"].to_numpy(),
        k=10,
    )
    assert seen == pytest.approx(measure(problem, np.arange(10), "linear").value, abs=1e-6)


def test_information_is_of_those_that_have_vectors(damaged):
    plan, store = damaged
    labels = pd.read_csv(store.path("../pictures/labels.csv")).set_index("file_name")
    good = sorted(set(names()) - set(bad_names()))
    bins = np.array(["under 40", "40 to under 60", "60 and over"])
    ages = bins[np.searchsorted([40, 60], labels.loc[good, "age"], side="right")]
    joint = group_labels.from_levels([f"{gender}&{age}" for gender, age in zip(labels.loc[good, "gender"], ages)])
    expected = order_of(mutual_information(unit(NameEncoder().encode(good)), joint, slice(0, DIMENSION)))
    found = read_order(store, plan.stages["order"][0].key)
    assert found.tolist() == expected.tolist()


def test_nothing_changes_where_all_can_be_read(tmp_path):
    plan, store = run_plan(write_pictures(tmp_path), NameEncoder())
    for one in plan.stages["embed"]:
        shard = open_shard(store, one.key)
        assert len(shard.vectors) == shard.extent == one.stop - one.start
        assert shard.places.tolist() == list(range(shard.extent))
        assert store.read_table(unit_file("embed", one.key, "skipped")).num_rows == 0


@pytest.mark.parametrize("readable", [7, 0])
def test_fewer_than_k_are_a_clear_failure(tmp_path, readable):
    _inputs, plan = prepare(read_config(write_pictures(tmp_path, methods=["top_k"], function_classes=["linear"])))
    encoder = NameEncoder(names()[readable:])
    messages = messages_of(plan, tmp_path, encoder)
    assert messages["pool"] == {""}
    [message] = messages["solve"]
    assert f"k is 10, but only {readable} items of dataset items have a vector: the others were skipped" in message


def messages_of(plan, folder, encoder):
    from jobs.stages.execute import commit
    from jobs.store import Store

    store, messages = Store(str(folder / "run")), {}
    for one in plan.units:
        if one.stage == "items":
            commit(one, store, plan.made[one.key](), 0.0)
        else:
            messages.setdefault(one.stage, set()).add(execute(one, store, lambda: encoder).message)
    return messages


def test_pictures_win_over_texts(tmp_path):
    path = write_pictures(tmp_path)
    raw = yaml.safe_load(path.read_text())
    raw["dataset"]["text"] = "{gender}"
    path.write_text(yaml.safe_dump(raw))
    _, plan = prepare(read_config(path))
    assert {one.column for one in plan.stages["embed"]} == {"image"}
    raw["encoder"] = {"kind": "sentence"}
    path.write_text(yaml.safe_dump(raw))
    _, plan = prepare(read_config(path))
    assert {one.column for one in plan.stages["embed"]} == {"text"}


def test_where_pictures_lie_is_in_no_key(tmp_path):
    first = write_pictures(tmp_path / "a", methods=["top_k"])
    raw = yaml.safe_load(first.read_text())
    raw["dataset"]["image_fingerprint"] = "content"
    first.write_text(yaml.safe_dump(raw))
    moved = tmp_path / "b"
    first.parent.rename(moved)
    before = [one.key for one in prepare(read_config(moved / "audit.yaml"))[1].stages["embed"]]
    moved.rename(tmp_path / "c")
    assert [one.key for one in prepare(read_config(tmp_path / "c" / "audit.yaml"))[1].stages["embed"]] == before
