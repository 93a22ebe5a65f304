"""Ray's temporary folder: short, ASCII, and one that can be written."""

import os
import subprocess
import sys
import tempfile

import pytest

from jobs.errors import UsageError
from jobs.run import temporary_folder as module
from jobs.run.temporary_folder import LONGEST_SOCKET, SOCKET_BYTES, temporary_folder

LONG = "x" * 60


@pytest.fixture(autouse=True)
def short(tmp_path_factory, monkeypatch):
    """A short folder of the test's own in the place of the machine's."""
    folder = "/tmp" if len(str(tmp_path_factory.getbasetemp())) > 30 else str(tmp_path_factory.mktemp("s"))
    monkeypatch.setattr(module, "SHORT_FOLDERS", ("/proc/none", folder))
    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    return f"{folder}/ray"


@pytest.mark.parametrize("variable", ["TMPDIR", "RAY_TMPDIR"])
@pytest.mark.parametrize("name", [LONG, "ü", "file"])
def test_another_is_taken_where_the_usual_one_does_not_do(tmp_path, monkeypatch, short, variable, name):
    (tmp_path / "file").write_text("a file")
    monkeypatch.setenv(variable, str(tmp_path / name))
    assert temporary_folder() == short


def test_the_usual_one_is_kept_where_it_does(monkeypatch, tmp_path):
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="r") as usual:
        monkeypatch.setenv("TMPDIR", usual)
        assert temporary_folder() == f"{usual}/ray"
        assert len(f"{usual}/ray/{LONGEST_SOCKET}") <= SOCKET_BYTES
        monkeypatch.chdir(usual)
        monkeypatch.setenv("TMPDIR", ".")
        assert temporary_folder() == f"{usual}/ray"


@pytest.mark.system
def test_ray_starts_where_the_usual_one_is_too_long(tmp_path):
    usual = tmp_path / LONG / LONG
    usual.mkdir(parents=True)
    code = (
        "from jobs.config.runtime import Runtime; from jobs.run.ray import look_around; print(look_around(Runtime()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(usual)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "'nodes': 1" in done.stdout, done.stderr


def test_none_that_does(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHORT_FOLDERS", (str(tmp_path / LONG),))
    monkeypatch.setenv("TMPDIR", f"/tmp/{LONG}")
    with pytest.raises(UsageError, match=f"temporary folder /tmp/{LONG}: Ray needs one .* set RAY_TMPDIR"):
        temporary_folder()
