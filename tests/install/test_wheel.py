"""The wheel in environments of its own: the library with its six packages, and the command in a user's folder."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from mprlib import __version__
from tests.install import wheel as wheels
from tests.install.test_requirements import CORE
from tests.jobs.conftest import write_audit
from tests.jobs.users_files import write_users_files

pytestmark = pytest.mark.system

# Every method with a bound, each class that does without scikit-learn, and what is printed of them.
LIBRARY = """
import numpy as np
import mprlib

assert mprlib.__file__.startswith({folder!r}), mprlib.__file__
women = np.arange(200) % 3 == 0
problem = mprlib.Problem(
    scores=0.3 + 0.1 * ~women + 0.01 * np.random.default_rng(0).random(200), labels=np.column_stack([women, ~women]),
    reference=mprlib.Reference.from_shares({{"sex": {{"woman": 0.5, "man": 0.5}}}}, size=1000),
    label_names=["sex=woman", "sex=man"], attributes={{"sex": [0, 1]}}, k=20)
for name in ("linear", "tree", "mlp", "rkhs", "groups", "saturated"):
    assert 0 < mprlib.select(problem, "mopr", 0.1, name).similarity < 1, name
for name in ("mopr", "mopr_qp", "mopr_integer", "mopr_paper", "apportionment", "det_greedy"):
    assert mprlib.select(problem, name, 0.1 if mprlib.METHODS[name].is_constrained else None).items.size == 20
frames = {{"sex": ["woman", "man"] * 20, "score": np.linspace(0, 1, 40)}}
people = mprlib.Problem.from_frames(frames, {{"sex": ["woman", "man"]}}, score="score", attributes=["sex"], k=4)
assert mprlib.select(people, "mopr", 0.1, "groups").status == "optimal"
try:
    mprlib.measure(problem, range(20), "forest")
except mprlib.InputError as error:
    print(error)
print(mprlib.__version__, mprlib.measure(problem, range(20), "groups").witness)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return wheels.build(tmp_path_factory.mktemp("built"))


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """A command in a folder, without the variables that would show it this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    call = [str(part) for part in command]
    return subprocess.run(call, cwd=folder, env=kept, capture_output=True, text=True, check=False, timeout=300)


def test_the_library_works_with_its_six_packages_and_no_more(wheel, tmp_path):
    python = wheels.environment(tmp_path / "venv", wheel)
    lent = wheels.lend(tmp_path / "venv", CORE)
    assert set(lent) >= CORE and not {"ray", "torch", "pandas", "scikit-learn", "matplotlib", "pyarrow"} & set(lent)
    # A user's own files beside the program: none of them is in the way of packages that are installed.
    folder = write_users_files(tmp_path / "here", ("jobs", "mpr_audit", "typer", "pandas", "sklearn"))
    script = LIBRARY.format(folder=str(tmp_path / "venv"))
    done = run(folder, python, "-P", "-c", script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2].endswith("which is not installed: pip install scikit-learn")
    assert done.stdout.splitlines()[-1].startswith(f"{__version__} sex=")
    command = run(folder, python.parent / "mpr-audit", "plan", "audit.yaml")
    assert command.returncode == 2
    assert command.stderr.startswith("mpr-audit: typer is not installed: pip install 'mprlib[audit]'")


def test_the_command_runs_an_audit_beside_a_users_own_jobs(wheel, tmp_path):
    python = wheels.environment(tmp_path / "venv", wheel)
    wheels.lend_all(tmp_path / "venv")
    folder = write_users_files(tmp_path / "here")
    path = write_audit(tmp_path, methods=["top_k", {"mopr": {"points": 2, "targets": ["linear"]}}])
    command = python.parent / "mpr-audit"
    assert run(folder, command, "--version").stdout == f"mpr-audit {__version__}\n"
    done = run(folder, command, "run", path, "--output", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["failed"] == 0
    assert (tmp_path / "run" / "report" / "index.html").exists()
    # The package's name is ours: `jobs` is what the user has, `python -m mpr_audit` the program.
    named = run(tmp_path, python, "-m", "mpr_audit", "--version")
    assert named.stdout == f"mpr-audit {__version__}\n"
    assert run(tmp_path, python, "-c", "import jobs").returncode == 1
