"""Commands that run in a folder of files named as packages are, from the driver to its workers' own processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jobs import own_code
from jobs.images.decoders import Decoders, Source
from jobs.images.fit import Fit
from jobs.images.limits import ImageLimits

from .conftest import write_audit
from .users_files import NAMES, write_users_files

SCRIPT = "import sys; from jobs.cli import entry; sys.argv[0] = 'mpr-audit'; entry()"


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_users_files(tmp_path / "here")


def command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As the console script, which leaves the current folder out of its own path."""
    return subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.system
def test_a_run_on_a_cluster_of_its_own(folder, tmp_path):
    (tmp_path / "data").mkdir()
    path = write_audit(tmp_path / "data", methods=["top_k"], runtime={"workers": 1})
    done = command("run", str(path), "--output", "run", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["failed"] == 0
    assert (folder / "run" / "_SUCCESS").exists()


@pytest.mark.system
def test_the_doctor(folder):
    done = command("doctor", "--json", folder=folder)
    found = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    assert found["ray"]["level"] == "ok", found["ray"]
    assert found["torch"]["level"] == "ok", found["torch"]


def test_decoding_processes(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    Image.fromarray(np.zeros((4, 4, 3), dtype=np.uint8)).save(tmp_path / "black.png")
    asked = Source(root=str(tmp_path), limits=ImageLimits(), fit=Fit(height=4, width=4), is_fast=False)
    with Decoders(1) as decoders:
        [picture] = decoders.pictures(asked, ["black.png"], ahead=1)
    assert picture.shape == (4, 4, 3)


def test_python_m_jobs(tmp_path):
    # A `jobs.py` would be what was asked for; whatever else lies there is not.
    folder = write_users_files(tmp_path / "here", tuple(name for name in NAMES if name != "jobs"))
    shown = subprocess.run(
        [sys.executable, "-m", "jobs", "plan", "--help"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert "Print what a run would do" in shown.stdout


def test_installed_packages_bring_nothing_that_lies_beside_them(monkeypatch):
    assert own_code.folders() == [own_code.ROOT]
    monkeypatch.setattr(own_code, "ROOT", "/usr/lib/python3/site-packages")
    assert own_code.folders() == []
    monkeypatch.setenv("PYTHONPATH", ":/own:")
    assert own_code.environment(A="1").items() >= {"PYTHONPATH": "/own", "A": "1"}.items()
