"""Embedding pictures on Ray: the same vectors whatever the actors, whatever is killed, whatever folders hold."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
import yaml

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.config.runtime import Runtime
from jobs.encoders import load
from jobs.run.dispatch import UnitEnded, UnitRetried, UnitStarted
from jobs.run.ray import Cluster
from jobs.stages.embed import open_shard
from jobs.stages.execute import commit, execute
from jobs.store import Store, unit_file
from tests.data_files import HERE
from tests.jobs.images.hostile import write_hostile_folder

FAIRFACE = HERE / "faces"
FACES = 600


def write_picture_audit(folder: Path, tiny_clip: tuple[Path, Path], dataset: dict, **changes) -> Path:
    """An audit of pictures by the tiny model, whose files are named relative to the configuration."""
    model, weights = tiny_clip
    raw = {
        "name": "pictures",
        "dataset": dataset,
        "encoder": {"kind": "open_clip", "model": os.path.relpath(model, folder), "pretrained": str(weights)},
        "queries": {"list": ["nurse", "chief executive officer"]},
        "prefilter": {"top": 200},
        "shard_items": 150,
        "k": [20],
        "methods": ["top_k"],
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(raw | changes))
    return path


def started(path: Path, output: Path):
    """Inputs, plan and store of an audit whose catalogues are written."""
    inputs, plan = prepare(read_config(path))
    store = Store(str(output))
    for unit in plan.stages["items"]:
        commit(unit, store, plan.made[unit.key](), 0.0)
    return inputs, plan, store


def embedded_on(actors: int, path: Path, output: Path):
    """Plan and store after embedding on so many actors of the running cluster."""
    inputs, plan, store = started(path, output)
    units = plan.stages["embed"]
    with Cluster(Runtime(encoder_actors=actors)) as cluster:
        events = list(cluster.run_on_encoders(units, store, inputs.item_encoder.loading))
    assert {event.outcome.message for event in events if isinstance(event, UnitEnded)} == {""}
    return plan, store


def vectors_of(plan, store) -> tuple[list[str], np.ndarray]:
    """Ids and vectors of all items, in the catalogue's order."""
    shards = [open_shard(store, unit.key) for unit in plan.stages["embed"]]
    return [item for shard in shards for item in shard.ids.to_pylist()], np.concatenate([s.vectors for s in shards])


def skipped_of(plan, store) -> dict[str, str]:
    """Reason by item."""
    tables = [store.read_table(unit_file("embed", unit.key, "skipped")).to_pylist() for unit in plan.stages["embed"]]
    return {row["item_id"]: row["reason"] for rows in tables for row in rows}


faces = {
    "kind": "images",
    "path": str(FAIRFACE),
    "labels": "labels.csv",
    "attributes": {"gender": {}, "race": {}, "age": {}},
}


@pytest.mark.system
@pytest.mark.usefixtures("cluster")
class TestFaces:
    def test_a_full_audit_with_the_true_labels_and_the_vectors_of_one_actor(self, tiny_clip, tmp_path, capsys):
        methods = [
            "top_k",
            {"mopr": {"points": 5}},
            {"pbm": {"prompts": ["a photo of a woman", "a photo of a man"], "values": [0.5]}},
            {"paths": {}},
            {"clip_clip": {"values": [1, 4]}},
        ]
        people = {"name": "people", "kind": "dataset", "dataset": faces, "query_conditioned": True}
        path = write_picture_audit(
            tmp_path, tiny_clip, faces, methods=methods, reference=[{"name": "population"}, people]
        )
        output = tmp_path / "run"
        assert main(["run", str(path), "--output", str(output)]) == 0
        said = capsys.readouterr()
        assert (
            said.out.count("no GPU in the cluster: encoder open_clip runs on CPUs")
            + said.err.count("no GPU in the cluster: encoder open_clip runs on CPUs")
            == 1
        )
        rows = pd.read_parquet(output / "results")
        assert set(rows["method"]) == {"top_k", "mopr", "pbm", "paths", "clip_clip"}
        assert (rows["n_pool"] == 200).all()
        assert set(rows["n_reference"][rows["reference"] == "population"]) == {FACES}
        labels = pd.read_csv(FAIRFACE / "labels.csv")
        groups = pd.read_parquet(output / "groups").query("method == 'top_k' and reference == 'population'")
        female = groups[groups["group"] == "gender=Female"]
        assert female["share_reference"].tolist() == pytest.approx([(labels["gender"] == "Female").mean()] * 2)
        assert not pd.read_parquet(output / "skipped").shape[0]
        two = vectors_of(prepare(read_config(path))[1], Store(str(output)))
        one = vectors_of(*embedded_on(1, path, tmp_path / "one"))
        assert len(one[0]) == FACES
        assert one[0] == two[0] and np.array_equal(one[1], two[1])
        assert np.abs(np.linalg.norm(one[1], axis=1) - 1).max() < 1e-6
        assert len(np.unique(one[1], axis=0)) > 590


@pytest.mark.parametrize("executor", ["local", pytest.param("ray", marks=pytest.mark.system)])
def test_weights_that_do_not_fit_end_the_run_before_any_unit_fails(tiny_clip, tmp_path, capsys, executor):
    folder = write_hostile_folder(tmp_path / "pictures", 30, bad_share=0)
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(tiny_clip[1].read_bytes()[:1000])
    path = write_picture_audit(tmp_path, (tiny_clip[0], broken), folder.block)
    arguments = ["run", str(path), "--output", str(tmp_path / "run"), "--set", f"runtime.executor={executor}"]
    assert main(arguments) == 2
    [line] = [line for line in capsys.readouterr().err.splitlines() if "broken" in line]
    assert "encoder.pretrained" in line and "broken.safetensors" in line


@pytest.mark.system
@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.full)])
def test_a_hostile_folder_while_actors_and_decoders_are_killed(count, tiny_clip, tmp_path, cluster):
    folder = write_hostile_folder(tmp_path / "pictures", count)
    path = write_picture_audit(tmp_path, tiny_clip, folder.block, shard_items=count // 5)
    inputs, plan, store = started(path, tmp_path / "undisturbed")
    encoder = load(dict(inputs.item_encoder.loading))
    for unit in plan.stages["embed"]:
        assert execute(unit, store, lambda: encoder).message == ""
    encoder.close()
    expected = vectors_of(plan, store)
    assert set(expected[0]) == set(folder.good)
    assert skipped_of(plan, store) == {item: str(reason) for item, reason in folder.bad.items()}

    _, plan, store = started(path, tmp_path / "disturbed")
    killed, retried = [], 0
    with Cluster(Runtime(encoder_actors=1)) as connection:
        for event in connection.run_on_encoders(plan.stages["embed"], store, inputs.item_encoder.loading):
            if isinstance(event, UnitStarted) and len(killed) < 3:
                victim = event.pid if len(killed) < 2 else decoder_of(event.pid)
                if victim is not None:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
            retried += isinstance(event, UnitRetried)
            if isinstance(event, UnitEnded):
                assert event.outcome.message == ""
    assert len(killed) == 3 and retried >= 2
    found = vectors_of(plan, store)
    assert found[0] == expected[0] and np.array_equal(found[1], expected[1])
    assert skipped_of(plan, store) == {item: str(reason) for item, reason in folder.bad.items()}


def decoder_of(actor: int) -> int | None:
    """The decoding process of an actor, once it has one."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        for child in psutil.Process(actor).children(recursive=True):
            if "jobs.images.decode_worker" in child.cmdline():
                return child.pid
        time.sleep(0.01)
    return None
