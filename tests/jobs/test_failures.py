"""Units that die, hang, raise and eat memory, on a real local Ray."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import ray

from jobs import audit
from jobs.cli import main
from jobs.cli.commands.status import status_text
from jobs.config.file import read_config
from jobs.config.runtime import Runtime
from jobs.results.status import status_of
from jobs.run.attempts import RETRIES, Loss
from jobs.run.dispatch import UnitEnded, UnitRetried, UnitStarted
from jobs.run.progress import Silent
from jobs.run.ray import Cluster
from jobs.store import Store, failure_file, receipt_file
from tests.jobs.run_logs import read_log

from .conftest import write_audit
from .faults import FaultyStore

# Far above what a unit of the small audit takes, also on a busy machine.
LIMITS = Runtime(unit_seconds=8, unit_megabytes=700)


@pytest.fixture(scope="module")
def audited(tmp_path_factory, cluster):
    """A small audit's plan and store, everything done but its solve units."""
    folder = tmp_path_factory.mktemp("failures")
    config = read_config(write_audit(folder, methods=["top_k", {"mmr": {"values": [0.5]}}], queries=list("abcd")))
    audit.run(config, str(folder / "run"), Silent())
    _, plan = audit.prepare(config)
    store = Store(str(folder / "run"))
    for unit in plan.stages["solve"]:
        store.delete(receipt_file("solve", unit.key))
    return plan, store


@pytest.mark.system
def test_each_fate_of_a_task_ends_as_it_should(audited):
    plan, store = audited
    units = plan.stages["solve"]
    dead, once, segfault, raises, hangs, eats, *_fine = [unit.key for unit in units]
    fates = {dead: "exit", once: "exit once", segfault: "segfault", raises: "raise", hangs: "hang", eats: "eat"}
    with Cluster(LIMITS) as cluster:
        events = list(cluster.run_tasks(units, FaultyStore(store.root, fates)))
    outcomes = {event.unit.key: event.outcome for event in events if isinstance(event, UnitEnded)}
    assert len(outcomes) == len(units)
    failed = {key: outcome.message for key, outcome in outcomes.items() if outcome.receipt is None}
    assert set(failed) == {dead, segfault, raises, hangs, eats}
    tries = RETRIES[Loss.WORKER] + 1
    assert failed[dead].startswith(f"its process died {tries} times")
    assert failed[segfault].startswith(f"its process died {tries} times")
    assert failed[raises].startswith("RuntimeError: out of luck")
    assert failed[hangs].startswith("stopped after 8 s: runtime.unit_seconds")
    assert failed[eats].startswith("stopped above 700 MB of memory, 1 time: runtime.unit_megabytes")
    for key in failed:
        kept = store.read_json(failure_file("solve", key))
        assert kept["message"] == failed[key]
        assert kept["traceback"]
    assert "RuntimeError" in store.read_json(failure_file("solve", raises))["traceback"]
    retried = [event.unit.key for event in events if isinstance(event, UnitRetried)]
    # One that goes down at once may take its first word along: then it counts as not started.
    for key in (dead, segfault):
        assert RETRIES[Loss.WORKER] <= retried.count(key) <= RETRIES[Loss.WORKER] + RETRIES[Loss.UNSTARTED]
    assert retried.count(once) == 1
    started = [event for event in events if isinstance(event, UnitStarted)]
    assert [event.unit.key for event in started].count(hangs) == 1
    assert all(event.node and event.pid for event in started)
    # The next run tries what had failed, and only that.
    with Cluster(Runtime()) as cluster:
        again = list(cluster.run_tasks([unit for unit in units if unit.key in failed], store))
    assert all(event.outcome.receipt for event in again if isinstance(event, UnitEnded))
    assert not store.list("failures")


@pytest.mark.system
@pytest.mark.alone
def test_a_machine_without_memory_is_given_time_and_then_given_up(tmp_path):
    # What others on this machine use moves its memory as well: only what holds in any case is asked for.
    command = [sys.executable, "-m", "tests.jobs.node_memory", str(tmp_path)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    tries = RETRIES[Loss.NODE_MEMORY]
    assert told["retried"].count("solve-always: node memory") == tries
    assert f"solve-always: killed {tries + 1} times because its machine ran out of memory" in told["messages"][2]
    assert "solve-once: node memory" in told["retried"] and "embed-once: node memory" in told["retried"]
    assert all(line.endswith(": node memory") for line in told["retried"])


@pytest.mark.system
def test_a_shard_that_kills_its_actor_every_time_fails_and_the_others_are_done(audited):
    plan, store = audited
    shards = plan.stages["embed"]
    for shard in shards:
        store.delete(receipt_file("embed", shard.key))
    poison, once = shards[0].key, shards[1].key
    with Cluster(LIMITS) as cluster:
        faulty = FaultyStore(store.root, {poison: "exit", once: "segfault once"})
        events = list(cluster.run_on_encoders(shards, faulty, None))
        outcomes = {event.unit.key: event.outcome for event in events if isinstance(event, UnitEnded)}
        assert [key for key, outcome in outcomes.items() if outcome.receipt is None] == [poison]
        assert outcomes[poison].message.startswith(f"its process died {RETRIES[Loss.WORKER] + 1} times")
        assert len(outcomes) == len(shards)
        assert list(cluster.run_on_encoders([shards[0]], store, None))[-1].outcome.receipt


def test_too_many_failures_stop_the_run_which_says_how_to_go_on(tmp_path, capsys):
    path = write_audit(tmp_path, methods=["top_k"], queries=list("abcdef"))
    output = tmp_path / "run"
    _, plan = audit.prepare(read_config(path))
    blocked = [output / "units" / "pool" / unit.key for unit in plan.stages["pool"][:4]]
    blocked[0].parent.mkdir(parents=True)
    for folder in blocked:
        folder.write_text("in the way")
    code = main(["run", str(path), "--output", str(output), "--max-failures", "2", "--json"])
    out, err = capsys.readouterr()
    summary = json.loads(out)
    assert code == 3
    assert f"stopped after 2 failed units; finished units are kept, continue with: mpr-audit run {path}" in err
    assert (summary["failed"], summary["report"]) == (2, None)
    assert sum(summary[name] for name in ("computed", "cached", "failed", "skipped")) == len(plan.units)
    assert not (output / "results").exists()
    found = _agreed(output, summary)
    assert (found["run"]["state"], found["run"]["is_alive"], found["skipped"]) == ("stopped", False, summary["skipped"])
    assert [failure["stage"] for failure in found["failures"]] == ["pool", "pool"]
    assert json.loads(Path(found["failures"][0]["traceback"]).read_text())["traceback"].startswith("Traceback")
    events = [line["event"] for line in read_log(Store(str(output)), summary["run_id"])]
    assert (events[0], events[-1], events.count("unit_failed")) == ("run_starting", "run_stopped", 2)
    # A unit that failed last time and is not tried this time has not failed this time.
    assert main(["run", str(path), "--output", str(output), "--max-failures", "1", "--json"]) == 3
    again = json.loads(capsys.readouterr().out)
    assert again["failed"] == 1
    _agreed(output, again)
    for folder in blocked:
        folder.unlink()
    assert main(["run", str(path), "--output", str(output)]) == 0
    assert not Store(str(output)).list("failures")
    assert "complete" in status_text(status_of(Store(str(output)))).splitlines()[0]


def _agreed(output: Path, summary: dict) -> dict:
    """The status of a folder in which a run has ended, after a look that it, the disk and the summary agree."""
    store = Store(str(output))
    found = status_of(store)
    stages = found["stages"].values()
    assert sum(stage["done"] for stage in stages) == summary["computed"] + summary["cached"]
    assert sum(stage["failed"] for stage in stages) == summary["failed"] == len(store.list("failures"))
    assert found["skipped"] == summary["skipped"]
    assert {one["unit"] for one in found["failures"]} == {one["unit"] for one in summary["failures"]}
    return found


@pytest.mark.system
@pytest.mark.usefixtures("cluster")
def test_what_runs_when_a_run_stops_is_done_or_not_tried(tmp_path, capsys):
    # Units that are short and many: some fail, some end and some begin while the run stops.
    path = write_audit(tmp_path, methods=["top_k"], queries=[f"query {number}" for number in range(60)], runtime={})
    output = tmp_path / "run"
    _, plan = audit.prepare(read_config(path))
    blocked = [output / "units" / "pool" / unit.key for unit in plan.stages["pool"][10::2]]
    blocked[0].parent.mkdir(parents=True)
    for folder in blocked:
        folder.write_text("in the way")
    for limit in (1, 2, 3, 5):
        command = ["run", str(path), "--output", str(output), "--json", "--max-failures", str(limit)]
        assert main(command) == 3
        summary = json.loads(capsys.readouterr().out)
        assert summary["failed"] == limit
        _agreed(output, summary)
        # Nothing that was stopped writes any more.
        time.sleep(1.0)
        _agreed(output, summary)


@pytest.mark.system
@pytest.mark.usefixtures("cluster")
def test_metrics_are_shown_by_the_endpoint_of_a_node():
    [node] = [node for node in ray.nodes() if node["Alive"]]
    with Cluster(Runtime()) as cluster:
        meters = cluster.meters("scraped")
        meters.ended("solve", "done", 0.5)
        meters.ended("solve", "failed", None)
        meters.in_flight(2)
    wanted = (
        'ray_mpr_audit_units_total{.*audit="scraped".*outcome="done".*} 1.0',
        'ray_mpr_audit_units_total{.*audit="scraped".*outcome="failed".*} 1.0',
        'ray_mpr_audit_unit_seconds_sum{.*audit="scraped".*} 0.5',
        'ray_mpr_audit_units_running{.*audit="scraped".*} 2.0',
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"http://127.0.0.1:{node['MetricsExportPort']}/metrics", timeout=10) as answer:
            page = answer.read().decode()
        if all(re.search(line, page) for line in wanted):
            return
        time.sleep(0.5)
    raise AssertionError([line for line in page.splitlines() if "mpr_audit" in line])
