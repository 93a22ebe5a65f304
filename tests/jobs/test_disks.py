"""Disks that are full, or cannot be written."""

import json
import subprocess
from contextlib import contextmanager

import pandas as pd
import pytest

from jobs.cli import main
from jobs.results.verify import verify
from jobs.store import Store

from .conftest import write_audit

pytestmark = [pytest.mark.system, pytest.mark.usefixtures("cluster")]


def mount(*arguments):
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount: {done.stderr.strip()}")


@contextmanager
def small_disk(folder, size_kilobytes):
    """A disk of that size."""
    folder.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size_kilobytes}k", "tmpfs", folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def results(output):
    return pd.read_parquet(output / "results").drop(columns=["run_id", "solve_seconds"])


@pytest.mark.parametrize("kilobytes", [200, *(pytest.param(size, marks=pytest.mark.full) for size in (60, 100, 300))])
def test_a_full_disk_is_one_sentence_and_room_is_all_it_takes(tmp_path, capsys, kilobytes):
    audit = write_audit(tmp_path, methods=["top_k"], function_classes=["linear"], queries=list("abcdef"), runtime={})
    expected = tmp_path / "expected"
    assert main(["run", str(audit), "--output", str(expected), "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)["computed"]
    with small_disk(tmp_path / "disk", kilobytes) as disk:
        arguments = ["run", str(audit), "--output", str(disk / "run")]
        assert main([*arguments, "--json"]) == 1
        captured = capsys.readouterr()
        [line] = captured.err.strip().splitlines()
        assert f"no space left for output {disk / 'run'}: finished units are kept; make room" in line
        kept = len(Store(str(disk / "run")).list("receipts"))
        subprocess.run(["mount", "-o", "remount,size=50m", disk], check=True)
        assert main([*arguments, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["cached"] == kept
        assert found["cached"] + found["computed"] == planned
        pd.testing.assert_frame_equal(results(disk / "run"), results(expected))
        assert not verify(Store(str(disk / "run")), sample=0).faults


def test_a_disk_that_cannot_be_written_is_bad_usage(tmp_path, capsys):
    audit = write_audit(tmp_path)
    with small_disk(tmp_path / "disk", 100) as disk:
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        assert main(["run", str(audit), "--output", str(disk / "run")]) == 2
        [line] = capsys.readouterr().err.strip().splitlines()
        assert f"output {disk / 'run'} cannot be written: Read-only file system" in line
