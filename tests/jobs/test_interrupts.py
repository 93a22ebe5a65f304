"""Ctrl-C and SIGTERM at several moments of a run, once and twice, to the process and to its whole group."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from jobs.cli import main
from jobs.interruption import GRACE_SECONDS, LAST_SECONDS, SIGNALS
from jobs.results.manifest import SUCCESS
from jobs.results.status import status_of
from jobs.run.lock import LOCK
from jobs.store import Store

from .conftest import write_audit

pytestmark = pytest.mark.system


RAY, LOCAL = "{workers: 1}", "{executor: local}"


def start(path: Path, output: Path, runtime: str = RAY) -> subprocess.Popen:
    command = [sys.executable, "-m", "jobs", "run", str(path), "--output", str(output), "--set", f"runtime={runtime}"]
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
    ("sent", "to", "times", "runtime"),
    [
        (signal.SIGINT, os.kill, 2, RAY),
        (signal.SIGTERM, os.kill, 1, RAY),
        (signal.SIGTERM, os.killpg, 1, RAY),
        (signal.SIGINT, os.kill, 2, LOCAL),
        (signal.SIGTERM, os.killpg, 1, LOCAL),
    ],
)
def test_while_units_run(tmp_path, sent, to, times, runtime):
    path = write_audit(tmp_path, methods=[{"mmr": {"points": 50}}], queries=[f"q{number}" for number in range(40)])
    output = tmp_path / "run"
    process = start(path, output, runtime)
    wait_for(process, lambda: bool(list((output / "receipts" / "solve").glob("*.json"))))
    for _ in range(times):
        to(process.pid, sent)
        time.sleep(0.3)
    check(process, path, output)
    assert status_of(Store(str(output)))["run"]["state"] == "interrupted"


# Seconds from the signal to the end of the process: the grace, what is closed after it, and a busy machine.
LONGEST_END_SECONDS = GRACE_SECONDS + 2 * LAST_SECONDS + 10


def interrupt_at(path: Path, output: Path, sent: int, seconds: float) -> int | None:
    """Start a run, signal it so long after it has set its handlers, and check its end; None where it was over."""
    process = start(path, output)
    wait_for(process, lambda: has_handler(process.pid, signal.SIGTERM))
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(sent)
    began = time.monotonic()
    _, errors = process.communicate(timeout=LONGEST_END_SECONDS)
    assert "Traceback" not in errors
    if process.returncode == 0:
        return None
    assert process.returncode == 130, errors
    assert errors.count(f"interrupted; finished units are kept, continue with: mpr-audit run {path}") == 1
    assert time.monotonic() - began < LONGEST_END_SECONDS
    assert not (output / LOCK).exists()
    return process.returncode


def has_handler(process: int, sent: int) -> bool:
    """Whether a process has a handler for a signal, by what Linux says of it."""
    with suppress(FileNotFoundError, ProcessLookupError):
        caught = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
        return bool(int(caught[1], 16) >> (sent - 1) & 1)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says which signals a process handles")
@pytest.mark.parametrize("share", [0, pytest.param(1, marks=pytest.mark.full)])
def test_at_any_moment_the_run_ends_soon_and_the_next_one_continues(tmp_path, share):
    path = write_audit(tmp_path, methods=[{"mmr": {"points": 20}}], queries=[f"q{number}" for number in range(12)])
    output = tmp_path / "run"
    chance = random.Random(17 + share)
    moments = [0.3 * number + chance.uniform(0, 0.3) for number in range(6 + 34 * share)]
    # From the start on, so that the folder is empty when the early ones come.
    ends = [interrupt_at(path, output, chance.choice(SIGNALS), moment) for moment in moments]
    assert 130 in ends
    receipts = {receipt: receipt.stat().st_mtime_ns for receipt in (output / "receipts").rglob("*.json")}
    assert start(path, output).wait(180) == 0
    assert (output / SUCCESS).exists()
    assert all(receipt.stat().st_mtime_ns == stamp for receipt, stamp in receipts.items())


@pytest.mark.parametrize("command", ["plan", "run", "doctor"])
def test_while_a_file_is_read_that_never_ends(tmp_path, command):
    path = write_audit(tmp_path, queries=["nurse"])
    os.mkfifo(tmp_path / "queries.txt")
    path.write_text(path.read_text().replace("vectors: queries.parquet", "file: queries.txt"))
    output = [] if command == "plan" else ["--output", str(tmp_path / "run")]
    process = subprocess.Popen(
        [sys.executable, "-m", "jobs", command, str(path), *output],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_for(process, lambda: has_handler(process.pid, signal.SIGTERM))
    time.sleep(3.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LONGEST_END_SECONDS)
    assert (process.returncode, "Traceback" in errors) == (130, False), errors
    assert "continue with: mpr-audit" in errors


def test_while_a_dashboard_that_listens_does_not_answer(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        asked = ["submit", str(write_audit(tmp_path)), "--output", str(tmp_path / "run"), "--address", address]
        process = subprocess.Popen([sys.executable, "-m", "jobs", *asked], stderr=subprocess.PIPE, text=True)
        wait_for(process, lambda: has_handler(process.pid, signal.SIGTERM))
        time.sleep(3.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LONGEST_END_SECONDS)
    assert (process.returncode, "Traceback" in errors) == (130, False), errors


def rows_of(output):
    """The collected results, without the run that collected them."""
    return pq.read_table(output / "results" / "part-00000.parquet").drop_columns(["run_id"])


def test_while_ray_starts_while_tables_are_collected_and_while_the_report_is_written(tmp_path, capsys):
    path, output = write_audit(tmp_path), tmp_path / "run"
    process = start(path, output)
    wait_for(process, log_says(output, "ray_starting"))
    time.sleep(1.0)
    helpers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    check(process, path, output)
    assert not psutil.wait_procs(helpers, timeout=30)[1], "Ray's processes outlive the run that started them"
    assert main(["run", str(path), "--output", str(output)]) == 0
    whole = rows_of(output)
    for state in ("run_collecting", "run_reporting"):
        (output / SUCCESS).unlink(missing_ok=True)
        before = set((output / "logs").glob("*"))
        process = start(path, output)
        wait_for(process, log_says(output, state, before))
        process.send_signal(signal.SIGINT)
        check(process, path, output)
    assert main(["run", str(path), "--output", str(output)]) == 0
    assert (output / SUCCESS).exists()
    assert rows_of(output) == whole
