"""Vectors in clip-retrieval's files go through the job without the catalogue holding them."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.stages.embed import open_shard
from jobs.stages.execute import commit, execute
from jobs.store import Store, unit_file
from tests.jobs.datasets.layouts import write_clip_retrieval

WIDTH = 8


@pytest.fixture
def embedded(tmp_path):
    """An audit over 36 items whose vectors lie in twelve files; one is zero, one is not finite."""
    block = write_clip_retrieval(tmp_path / "embedded", width=WIDTH)
    generator = np.random.default_rng(2)
    whole = generator.standard_normal((36, WIDTH))
    whole /= np.linalg.norm(whole, axis=1, keepdims=True)
    whole[7], whole[8, 3] = 0, np.nan
    for part in range(12):
        np.save(tmp_path / f"embedded/img_emb/img_emb_{part}.npy", whole[3 * part : 3 * part + 3].astype(np.float16))
    vectors = list(generator.standard_normal((2, WIDTH)).astype(np.float32))
    pd.DataFrame({"query": ["nurse", "chef"], "vector": vectors}).to_parquet(tmp_path / "queries.parquet")
    settings = {
        "dataset": block | {"path": "embedded"},
        "encoder": {"kind": "precomputed"},
        "queries": {"vectors": "queries.parquet"},
        "shard_items": 10,
        "k": [5],
        "runtime": {"executor": "local"},
    }
    path = tmp_path / "audit.yaml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return path, whole.astype(np.float16)


def test_a_shard_holds_the_vectors_of_its_own_ids(embedded, tmp_path):
    path, whole = embedded
    _, plan = prepare(read_config(path))
    store = Store(str(tmp_path / "store"))
    [items] = plan.stages["items"]
    commit(items, store, plan.made[items.key](), 0.0)
    assert "vector" not in store.read_table(unit_file("items", items.key, "items")).column_names
    seen = {}
    for unit in plan.stages["embed"]:
        assert len(unit.files["paths"]) <= 5
        assert execute(unit, store).receipt is not None
        shard = open_shard(store, unit.key)
        seen |= dict(zip(shard.ids.to_pylist(), shard.vectors))
    for number in set(range(36)) - {7, 8}:
        np.testing.assert_array_equal(seen.pop(f"pictures/{number}.jpg"), whole[number].astype(np.float32))
    assert seen == {}


def test_where_the_files_lie_makes_no_other_unit(embedded, tmp_path):
    path, _ = embedded
    before = prepare(read_config(path))[1].fingerprint
    (tmp_path / "embedded").rename(tmp_path / "elsewhere")
    assert prepare(read_config(path, ("dataset.path=elsewhere",)))[1].fingerprint == before


def test_vectors_of_another_length_than_the_queries(embedded, capsys):
    path, _ = embedded
    vectors = list(np.ones((2, 3), dtype=np.float32))
    pd.DataFrame({"query": ["nurse", "chef"], "vector": vectors}).to_parquet(path.parent / "queries.parquet")
    assert main(["plan", str(path)]) == 2
    assert "vectors have 3 numbers, those of dataset items have 8" in capsys.readouterr().err


def test_an_audit_of_files(embedded, tmp_path, capsys):
    path, whole = embedded
    output = tmp_path / "run"
    assert main(["run", str(path), "--output", str(output), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert summary["skipped_items"]["items"] == {
        "vector is zero": {"items": 1, "first": ["pictures/7.jpg"]},
        "vector is not finite": {"items": 1, "first": ["pictures/8.jpg"]},
    }
    results = pd.read_parquet(output / "results").set_index("query")
    assert (results["n_pool"] == 34).all() and (results["n_reference"] == 36).all()
    queries = pd.read_parquet(tmp_path / "queries.parquet").set_index("query")["vector"]
    for query, ids in results["item_ids"].items():
        vector = queries[query] / np.linalg.norm(queries[query])
        scores = {number: float(whole[number].astype(float) @ vector) for number in set(range(36)) - {7, 8}}
        best = sorted(scores, key=lambda number: -scores[number])[:5]
        assert list(ids) == [f"pictures/{number}.jpg" for number in best]
