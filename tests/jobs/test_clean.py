"""`clean` frees what the last plan does not name, and nothing else."""

import json
import os
import shutil
import subprocess

import pytest

from jobs.audit import inventory
from jobs.cli import main
from jobs.plan.plan_file import write_plan
from jobs.run.lock import LOCK, Lock
from jobs.store import TEMPORARY, Store

from .conftest import write_audit
from .test_disks import small_disk
from .units_in_process import run_plan, run_units


@pytest.fixture
def folder(tmp_path):
    """Units of two plans, the last one of fewer queries; its plan, store, and the names that are its own."""
    earlier, store = run_units(tmp_path, queries=["nurse", "chef"])
    before = set(store.entries(""))
    path = tmp_path / "audit.yaml"
    path.write_text(path.read_text().replace("values:\n    - 0.0\n    - 0.5", "values:\n    - 0.25"))
    later, store = run_plan(path)
    write_plan(store, later)
    kept = {unit.key for unit in later.units}
    gone = {unit.key for unit in earlier.units} - kept
    assert gone and kept & {unit.key for unit in earlier.units}
    assert before < set(store.entries(""))
    return later, store, gone


def cleaned(capsys, store, *options):
    assert main(["clean", store.root, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_earlier_units_and_temporary_files_go(folder, capsys):
    plan, store, gone = folder
    half = f"results/part-00000.parquet{TEMPORARY}1"
    store.write(half, b"half")
    store.write("results/part-00000.parquet", b"whole")
    names = set(store.entries(""))
    told = cleaned(capsys, store, "--dry-run")
    assert set(store.entries("")) == names
    assert (told["units"], told["temporary_files"]) == (len(gone), 1)
    found = cleaned(capsys, store)
    assert found == told | {"is_dry_run": False}
    left = set(store.entries(""))
    assert len(names - left) == found["files"]
    assert all(name == half or any(key in name for key in gone) for name in names - left)
    assert not any(key in name for key in gone for name in left)
    assert len(inventory(plan, store).done) == len(plan.units)
    assert not store.exists(LOCK)
    assert cleaned(capsys, store)["files"] == 0


def test_a_folder_in_use_is_left_alone(folder, capsys):
    _, store, _ = folder
    names = set(store.list("units"))
    with Lock(store, "monday", print):
        assert main(["clean", store.root]) == 1
    assert "in use by run monday" in capsys.readouterr().err
    assert set(store.list("units")) == names


def test_what_is_no_run_is_not_touched(tmp_path, capsys):
    (tmp_path / "units").mkdir()
    (tmp_path / "units" / "mine.txt").write_text("mine")
    assert main(["clean", str(tmp_path)]) == 2
    assert "only a run's folder can be cleaned" in capsys.readouterr().err
    assert (tmp_path / "units" / "mine.txt").exists()


def test_a_full_disk_is_what_it_makes_room_on(folder, tmp_path, capsys):
    """A lock takes room, of which there is none."""
    _, store, gone = folder
    with small_disk(tmp_path / "disk", 2000) as disk:
        shutil.copytree(store.root, disk / "run")
        own = Store(str(disk / "run"))
        told = cleaned(capsys, own, "--dry-run")
        fill(disk / "ballast")
        assert cleaned(capsys, own) == told | {"is_dry_run": False}
        assert told["units"] == len(gone) and not own.exists(LOCK)
        fill(disk / "ballast")
        # There is nothing left that nobody needs.
        assert main(["clean", own.root]) == 1
        assert "has no room for a lock, and nothing in it can be cleaned" in capsys.readouterr().err


def test_a_disk_that_cannot_be_written_is_named(folder, tmp_path, capsys):
    _, store, _ = folder
    with small_disk(tmp_path / "disk", 2000) as disk:
        shutil.copytree(store.root, disk / "run")
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        assert main(["clean", str(disk / "run")]) == 2
        assert f"output {disk / 'run'} cannot be written: Read-only file system" in capsys.readouterr().err


def test_a_report_on_a_full_disk_names_it(tmp_path, capsys):
    path = write_audit(tmp_path, methods=["top_k"], function_classes=["linear"])
    with small_disk(tmp_path / "disk", 4000) as disk:
        assert main(["run", str(path), "--output", str(disk / "run"), "--json"]) == 0
        for name in ("units/report", "receipts/report", "report"):
            shutil.rmtree(disk / "run" / name, ignore_errors=True)
        fill(disk / "ballast")
        capsys.readouterr()
        assert main(["report", str(disk / "run")]) == 1
        assert f"no space left for output {disk / 'run'}" in capsys.readouterr().err


def test_a_note_on_a_full_disk_stays_as_it_was(tmp_path, capsys):
    path = write_audit(tmp_path, methods=["top_k"], function_classes=["linear"])
    run = str(tmp_path / "run")
    assert main(["run", str(path), "--output", run, "--json"]) == 0
    with small_disk(tmp_path / "disk", 100) as disk:
        (disk / "note.md").write_text("last week")
        fill(disk / "ballast")
        capsys.readouterr()
        assert main(["compare", run, run, "--markdown", str(disk / "note.md")]) == 2
        assert f"--markdown {disk / 'note.md'}: No space left on device" in capsys.readouterr().err
        assert (disk / "note.md").read_text() == "last week" and len(list(disk.iterdir())) == 2


def fill(path):
    """All that is left of a disk."""
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        with pytest.raises(OSError, match="No space left"):
            while True:
                os.write(file, bytes(4096))
    finally:
        os.close(file)
