"""Vectors are made anew for what is embedded, never for the labels beside it."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from jobs import datasets
from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.datasets import described
from jobs.datasets.assemble import assemble
from jobs.datasets.source import Source
from jobs.datasets.table import Table
from tests.jobs.datasets.layouts import write_images

from .conftest import people, write_audit


def embed_keys(path, *overrides) -> list[str]:
    return [unit.key for unit in prepare(read_config(path, overrides))[1].stages["embed"]]


@pytest.mark.parametrize(
    ("override", "is_same"),
    [
        ("dataset.attributes.age.bins=[40]", True),
        ("dataset.attributes={gender: {}}", True),
        ("dataset.weight=null", True),
        ("dataset.relevance=null", True),
        ("dataset.name=staff", True),
        ("methods=[top_k]", True),
        ("prefilter.storage=float16", False),
        ("shard_items=60", False),
        ("dataset.id=age_id", False),
    ],
)
def test_settings(tmp_path, override, is_same):
    table = people()
    path = write_audit(tmp_path, table.assign(age_id=[f"a{number}" for number in range(len(table))]))
    assert (embed_keys(path, override) == embed_keys(path)) is is_same


def test_labels_and_vectors_of_a_table(tmp_path):
    table = people()
    before = embed_keys(write_audit(tmp_path, table))
    relabelled = table.assign(gender=np.where(table.index % 2 == 0, "female", "male"))
    assert embed_keys(write_audit(tmp_path, relabelled)) == before
    moved = list(table["embedding"])
    moved[70] = -moved[70]
    assert embed_keys(write_audit(tmp_path, table.assign(embedding=moved))) != before


def test_two_data_sets_of_the_same_items_share_their_vectors(tmp_path):
    path = write_audit(tmp_path)
    block = "{name: %s, path: people.parquet, id: person, attributes: {%s: {}}}"
    both = f"dataset=[{block % ('one', 'gender')}, {block % ('two', 'job')}]"
    plan = prepare(read_config(path, (both,)))[1]
    assert len(plan.stages["catalogue"]) == 2
    units = tuple(unit.key for unit in plan.stages["embed"])
    assert [plan.shards[part] for parts in plan.parts.values() for part in parts] == [units, units]


def content(folder, **changes) -> list[str]:
    """What is embedded of each part."""
    block = {"kind": "images", "path": str(folder), "attributes": {"gender": {}}} | changes
    return [part.contents["image"] for part in datasets.load(described(block), folder).summaries]


def test_pictures_and_their_labels(tmp_path):
    write_images(tmp_path / "a")
    before = content(tmp_path / "a")
    labels = tmp_path / "a" / "metadata.csv"
    table = pd.read_csv(labels)
    table.assign(gender=["man", "woman"] * 15, shoe=1).to_csv(labels, index=False)
    assert content(tmp_path / "a", attributes={"age": {"bins": [25]}}) == before
    (tmp_path / "a").rename(tmp_path / "b")
    assert content(tmp_path / "b") == before
    table.iloc[1:].to_csv(tmp_path / "b" / "metadata.csv", index=False)
    assert content(tmp_path / "b") != before
    table.to_csv(tmp_path / "b" / "metadata.csv", index=False)
    assert content(tmp_path / "b") == before
    by_name = content(tmp_path / "b", image_fingerprint="names")
    os.utime(tmp_path / "b" / "chile" / "0.jpg", (1, 1))
    assert content(tmp_path / "b") != before
    assert content(tmp_path / "b", image_fingerprint="names") == by_name


def test_nulls_and_empty_texts_are_told_apart():
    contents = []
    for texts in (["a", "", "bc"], ["a", None, "bc"], ["ab", "", "c"]):
        frame = pd.DataFrame({"item_id": ["x", "y", "z"], "text": texts, "gender": ["f", "m", "f"], "place": texts})
        contents.append(frame)
    block = Table(path="x", image="place", attributes={"gender": {}})
    made = [assemble(block, Source(table=pa.Table.from_pandas(one), id="item_id", image="place")) for one in contents]
    assert len({part.summary().contents["image"] for part in made}) == 3
