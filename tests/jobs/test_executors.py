"""One audit through both executors: the same units, events and files; and what `local` alone does and refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from jobs import audit, encoders, interruption
from jobs.cli import main
from jobs.config.file import read_config
from jobs.config.runtime import Runtime
from jobs.run.dispatch import UnitEnded, UnitStarted
from jobs.run.executor import executor_of
from jobs.run.local import InProcess
from jobs.run.progress import Silent
from jobs.stages.solve import Solve
from jobs.store import Store, failure_file, receipt_file
from tests.jobs.run_logs import read_log

from .conftest import write_audit

# What differs between two runs of one plan: which run it was, and how long it took.
VARYING_COLUMNS = ("run_id", "solve_seconds")
VARYING_FIELDS = ("seconds", "cpu_seconds")
# Texts through a real model, a search of two levels, every kind of solve: each stage has a unit.
WIDE: dict[str, Any] = {
    "dataset": {
        "path": "people.parquet",
        "id": "person",
        "text": "{job}, {age}",
        "relevance": "job",
        "weight": "weight",
        "attributes": {"gender": {}, "age": {"bins": [30, 60]}},
    },
    "encoder": {"kind": "sentence"},
    "function_classes": ["linear", {"tree": {"depth": 2}}, "rkhs", "groups"],
    "methods": ["top_k", {"mopr": {"points": 4, "targets": ["linear"]}}, {"mmr": {"values": [0.0, 0.5]}}],
}


def tables(output: Path) -> dict[str, pa.Table]:
    """Every table of a run, of units and collected, without what varies."""
    found = {}
    for path in sorted(output.rglob("*")):
        if path.suffix == ".parquet":
            table = pq.read_table(path)
        elif path.suffix == ".arrow":
            table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        else:
            continue
        varying = [name for name in VARYING_COLUMNS if name in table.column_names]
        found[str(path.relative_to(output))] = table.drop_columns(varying)
    return found


def receipts(output: Path) -> dict[str, dict[str, Any]]:
    """Every receipt without its times, and without the size and digest of the one table that holds times itself."""
    found = {}
    for path in sorted((output / "receipts").rglob("*.json")):
        receipt = json.loads(path.read_text(encoding="utf-8"))
        for name in VARYING_FIELDS:
            receipt.pop(name)
        for name, file in receipt["files"].items():
            del file["stamp"]
            if path.parent.name == "solve" and name == "results":
                del file["sha256"], file["bytes"]
        found[str(path.relative_to(output))] = receipt
    return found


def events(output: Path, run_id: str) -> set[tuple[str, str | None, str | None]]:
    """Everything that a run logged of its units and states."""
    lines = read_log(Store(str(output)), run_id)
    return {(line["event"], line.get("stage"), line.get("unit")) for line in lines} - {("ray_starting", None, None)}


@pytest.mark.usefixtures("cluster")
@pytest.mark.system
def test_a_whole_audit_gives_the_same_bytes_on_both(tmp_path):
    path = write_audit(tmp_path, **WIDE)
    outputs, logged = {}, {}
    for executor in ("ray", "local"):
        outputs[executor] = tmp_path / executor
        overrides = ("queries={list: [nurse, chef]}", f"runtime.executor={executor}", "runtime.encoder_actors=1")
        config = read_config(path, overrides)
        summary = audit.run(config, str(outputs[executor]), Silent())
        assert (summary.counts["failed"], summary.counts["skipped"], summary.counts["cached"]) == (0, 0, 0)
        logged[executor] = events(outputs[executor], summary.run_id)
    on_ray, local = (tables(outputs[executor]) for executor in ("ray", "local"))
    assert on_ray.keys() == local.keys() and len(local) > 20
    for name, table in local.items():
        assert [c for c in table.column_names if not table[c].equals(on_ray[name][c])] == [], name
    assert receipts(outputs["local"]) == receipts(outputs["ray"])
    assert logged["local"] == logged["ray"]
    # What one has computed the other does not compute again.
    again = audit.run(config, str(outputs["local"]), Silent())
    assert again.counts["computed"] == 0


WITHOUT_RAY = """
import sys
from jobs.cli import main
code = main(sys.argv[1:])
assert not [name for name in sys.modules if name.split(".")[0] == "ray"], "Ray was imported"
sys.exit(code)
"""


def test_a_local_run_imports_no_ray(tmp_path):
    path = write_audit(tmp_path)
    command = ["run", str(path), "--output", str(tmp_path / "run"), "--set", "runtime.executor=local", "--json"]
    # An address that the environment names is of Ray, which this run does not use.
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RAY, *command],
        env=os.environ | {"RAY_ADDRESS": "nowhere:1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["failed"] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("address", "head:6379"), ("await_gpus_seconds", 60), ("unit_seconds", 10), ("unit_megabytes", 500)],
)
def test_what_local_cannot_do_is_refused_by_name(tmp_path, capsys, name, value):
    path = write_audit(tmp_path, runtime={"executor": "local", name: value})
    line = 1 + path.read_text().splitlines().index(f"  {name}: {value}")
    assert main(["plan", str(path)]) == 2
    [said] = capsys.readouterr().err.strip().splitlines()
    assert said.startswith(f"mpr-audit: {path}:{line}: runtime.{name}: executor local ")
    assert "or use executor ray" in said
    # Nothing is refused that asks for nothing, or that one unit at a time respects.
    off = {"address": None, "unit_seconds": None, "workers": 2, "encoder_actors": 3}
    assert main(["plan", str(write_audit(tmp_path, runtime={"executor": "local"} | off))]) == 0


@pytest.fixture
def planned(tmp_path):
    """A small audit's plan and store, everything done but its solve units."""
    config = read_config(write_audit(tmp_path))
    audit.run(config, str(tmp_path / "run"), Silent())
    _, plan = audit.prepare(config)
    store = Store(str(tmp_path / "run"))
    for unit in plan.stages["solve"]:
        store.delete(receipt_file("solve", unit.key))
    return plan, store


def test_a_unit_that_raises_fails_alone_with_its_own_traceback(planned, monkeypatch):
    plan, store = planned
    broken, solve = plan.stages["solve"][1], Solve.run

    def solve_or_break(unit, where):
        if unit == broken:
            raise ValueError("no such luck")
        return solve(unit, where)

    monkeypatch.setattr(Solve, "run", solve_or_break)
    with InProcess(Runtime(executor="local")) as executor:
        seen = list(executor.run_tasks(plan.stages["solve"], store))
    failed = [event for event in seen if isinstance(event, UnitEnded) and event.outcome.receipt is None]
    assert [event.unit for event in failed] == [broken]
    assert failed[0].outcome.message == "ValueError: no such luck"
    assert "solve_or_break" in store.read_json(failure_file("solve", broken.key))["traceback"]
    started = [event for event in seen if isinstance(event, UnitStarted)]
    assert {event.pid for event in started} == {os.getpid()}
    assert len(seen) == 2 * len(plan.stages["solve"])


def test_nothing_begins_once_it_is_enough(planned):
    plan, store = planned
    seen: list[Any] = []
    with InProcess(Runtime(executor="local")) as executor:
        for event in executor.run_tasks(plan.stages["solve"], store, lambda: len(seen) >= 2):
            seen.append(event)
    assert len(store.list("receipts/solve")) == 1
    assert [type(event) for event in seen] == [UnitStarted, UnitEnded]


def test_a_signal_ends_a_local_run_after_the_unit_that_runs(planned, monkeypatch):
    plan, store = planned
    solve = Solve.run

    def solve_and_signal(unit, where):
        interruption._is_asked.set()
        return solve(unit, where)

    monkeypatch.setattr(Solve, "run", solve_and_signal)
    try:
        with InProcess(Runtime(executor="local")) as executor, pytest.raises(KeyboardInterrupt):
            list(executor.run_tasks(plan.stages["solve"], store))
    finally:
        interruption._is_asked.clear()
    assert len(store.list("receipts/solve")) == 1


def test_vectors_are_the_same_where_torch_was_loaded_with_more_threads(tmp_path):
    path, output = write_audit(tmp_path, **WIDE), tmp_path / "run"
    config = read_config(path, ("queries={list: [nurse, chef]}", "runtime.executor=local"))
    inputs, _ = audit.prepare(config)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        torch.rand(64, 64) @ torch.rand(64, 64)
        audit.run(config, str(output), Silent())
        assert torch.get_num_threads() == 2
        torch.set_num_threads(1)
        encoder = encoders.load(dict(inputs.item_encoder.loading))
        expected = encoder.encode([query.prompt for query in inputs.queries])
    finally:
        torch.set_num_threads(before)
    [name] = [name for name in tables(output) if name.startswith("units/queries/")]
    found = tables(output)[name]["vector"].to_pylist()
    assert np.array_equal(np.array(found, dtype=np.float32), expected)


def test_threads_are_as_before_after_a_local_run(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with InProcess(Runtime(executor="local")):
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"


def test_the_settings_choose_the_executor():
    assert isinstance(executor_of(Runtime(executor="local")), InProcess)
    assert type(executor_of(Runtime())).__name__ == "Cluster"
