"""Ctrl-C and SIGTERM at several moments of a run, once and twice, to the process and to its whole group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from jobs.cli import main
from jobs.manifest import SUCCESS
from jobs.status import status_of
from jobs.store import Store

from .conftest import write_audit


def start(path: Path, output: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "jobs", "run", str(path), "--output", str(output), "--set", "runtime.workers=1"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(process: subprocess.Popen, is_time: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 180
    while not is_time() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


def log_says(output: Path, event: str, before: set[Path] = frozenset()) -> Callable[[], bool]:
    """Whether a log that was not there before holds the event."""
    return lambda: any(f'"{event}"' in path.read_text() for path in set((output / "logs").glob("*")) - before)


def check(process: subprocess.Popen, path: Path, output: Path) -> None:
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors.count(f"interrupted; finished units are kept, continue with: mpr-audit run {path}") == 1
    assert "Traceback" not in errors
    assert not (output / SUCCESS).exists()


# A terminal and `timeout` signal the whole process group, Ray's processes included.
@pytest.mark.parametrize(
    ("sent", "to", "times"),
    [(signal.SIGINT, os.kill, 2), (signal.SIGTERM, os.kill, 1), (signal.SIGTERM, os.killpg, 1)],
)
def test_while_units_run(tmp_path, sent, to, times):
    path = write_audit(tmp_path, methods=[{"mmr": {"points": 50}}], queries=[f"q{number}" for number in range(40)])
    output = tmp_path / "run"
    process = start(path, output)
    wait_for(process, lambda: bool(list((output / "receipts" / "solve").glob("*.json"))))
    for _ in range(times):
        to(process.pid, sent)
        time.sleep(0.3)
    check(process, path, output)
    assert status_of(Store(str(output)))["run"]["state"] == "interrupted"


def test_while_ray_starts_while_tables_are_collected_and_while_the_report_is_written(tmp_path, cluster, capsys):
    path, output = write_audit(tmp_path), tmp_path / "run"
    process = start(path, output)
    wait_for(process, log_says(output, "ray_starting"))
    time.sleep(1.0)
    helpers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    check(process, path, output)
    assert not psutil.wait_procs(helpers, timeout=30)[1], "Ray's processes outlive the run that started them"
    assert main(["run", str(path), "--output", str(output)]) == 0
    whole = (output / "results" / "part-00000.parquet").read_bytes()
    for state in ("run_collecting", "run_reporting"):
        (output / SUCCESS).unlink(missing_ok=True)
        before = set((output / "logs").glob("*"))
        process = start(path, output)
        wait_for(process, log_says(output, state, before))
        process.send_signal(signal.SIGINT)
        check(process, path, output)
    assert main(["run", str(path), "--output", str(output)]) == 0
    assert (output / SUCCESS).exists()
    assert len((output / "results" / "part-00000.parquet").read_bytes()) == len(whole)
