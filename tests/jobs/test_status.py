"""Logs, boards and status, without Ray."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from jobs.cli.commands.status import status_text
from jobs.plan.plan_file import PLAN
from jobs.results.status import status_of
from jobs.run.attempts import Loss
from jobs.run.board import RUNNING, read_board, this_process
from jobs.run.dispatch import UnitEnded, UnitRetried, UnitStarted
from jobs.run.heartbeat import MISSED_BEATS
from jobs.run.journal import opened
from jobs.run.progress import Silent
from jobs.stages.execute import Outcome, commit, record_failure
from jobs.stages.unit import Unit
from jobs.store import Store
from tests.jobs.fake_units import fake_unit
from tests.jobs.run_logs import read_log

UNITS = [fake_unit(f"{number:020d}", f"query {number}") for number in range(4)]


@pytest.fixture
def store(tmp_path) -> Store:
    store = Store(str(tmp_path / "run"))
    store.write_json(PLAN, [{"stage": unit.stage, "unit": unit.key, "title": unit.title} for unit in UNITS])
    return store


def failed(unit: Unit) -> Outcome:
    return Outcome(key=unit.key, message="ValueError: no luck\nsecond line", traceback="Traceback (most recent ...)")


def half_way(store: Store, journal) -> None:
    """One unit done, one failed, one retried and running, one to come."""
    done, broken, running, _ = UNITS
    journal.stage("solve", 4, 0, 0)
    for unit in (done, broken, running):
        journal.note(UnitStarted(unit=unit, node="machine-a", pid=7, attempt=1))
    journal.note(UnitEnded(unit=done, outcome=Outcome(key=done.key, receipt=commit(done, store, {}, 3.0))))
    record_failure(broken, store, failed(broken))
    journal.note(UnitEnded(unit=broken, outcome=failed(broken)))
    journal.note(UnitRetried(unit=running, loss=Loss.NODE, attempt=2))
    journal.note(UnitStarted(unit=running, node="machine-b", pid=8, attempt=2))
    journal.enter("running")


def test_status_during_a_run_and_after_it(store):
    with opened(Silent(), store, "run-1", name="test") as journal:
        half_way(store, journal)
        journal.board.publish()
        found = status_of(store)
        assert found["stages"]["solve"] == {"units": 4, "done": 1, "running": 1, "failed": 1}
        [running] = found["running"]
        assert (running["title"], running["node"], running["pid"], running["attempt"]) == ("query 2", "machine-b", 8, 2)
        assert running["seconds"] < 60
        assert (found["run"]["state"], found["run"]["is_alive"], found["run"]["pid"]) == ("running", True, os.getpid())
        assert found["seconds_left"] == 9.0  # three units are missing, and one took three seconds
        [failure] = found["failures"]
        assert json.loads(Path(failure["traceback"]).read_text(encoding="utf-8"))["traceback"].startswith("Traceback")
        text = status_text(found)
        assert "running: solve query 2" in text and "on machine-b" in text
        assert "failed: solve query 1: ValueError: no luck (traceback:" in text
        journal.end("done", {"skipped": 1}, 4.0)
    found = status_of(store)
    assert (found["run"]["state"], found["run"]["is_alive"], found["running"]) == ("done", False, [])
    assert found["skipped"] == 1
    assert "the same `mpr-audit run` command continues" in status_text(found)


def test_the_log_tells_what_happened_line_by_line(store):
    with pytest.raises(KeyboardInterrupt), opened(Silent(), store, "run-1", name="test") as journal:
        half_way(store, journal)
        raise KeyboardInterrupt
    lines = read_log(store, "run-1")
    assert [line["event"] for line in lines] == [
        "run_starting",
        "stage_started",
        "unit_done",
        "unit_failed",
        "unit_retried",
        "run_running",
        "run_interrupted",
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) for line in lines)
    assert {line["level"] for line in lines} == {"info", "warning", "error"}
    assert lines[2] | {"time": ""} == {
        "time": "",
        "level": "info",
        "event": "unit_done",
        "message": "query 0",
        "stage": "solve",
        "unit": UNITS[0].key,
        "seconds": 3.0,
    }
    assert status_of(store)["run"]["state"] == "interrupted"


def test_a_log_on_an_object_store_is_put_at_the_end():
    store = Store("memory://status-test/run")
    with pytest.raises(RuntimeError), opened(Silent(), store, "run-2") as journal:
        journal.say("note", "here")
        raise RuntimeError("over")
    lines = read_log(store, "run-2")
    assert [line["event"] for line in lines] == ["run_starting", "note", "run_failed"]
    assert "RuntimeError: over" in lines[-1]["traceback"]
    assert read_board(store)["state"] == "failed"


def test_a_killed_run_is_known_by_its_process_here_and_by_its_age_from_elsewhere(store):
    with opened(Silent(), store, "run-1") as journal:
        half_way(store, journal)
        journal.board.publish()
        board = store.read_json(RUNNING)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    reused = replace(this_process(), started=this_process().started - 100)
    for process in (replace(this_process(), pid=ended.pid, started=1.0), reused):
        store.write_json(RUNNING, board | {"process": asdict(process)})
        found = status_of(store)
        assert (found["run"]["state"], found["running"]) == ("killed", [])
        assert found["stages"]["solve"]["running"] == 0
    elsewhere = asdict(replace(this_process(), host="another", pid=1, started=1.0))
    for age_intervals, is_alive in ((1, True), (MISSED_BEATS + 1, False)):
        updated = time.time() - age_intervals * board["interval_seconds"]
        store.write_json(RUNNING, board | {"process": elsewhere, "updated": updated})
        assert read_board(store)["is_alive"] is is_alive


def test_a_folder_of_before_there_were_boards(store):
    found = status_of(store)
    assert (found["run"], found["running"], found["skipped"]) == (None, [], 0)
    assert "not complete" in status_text(found)
