"""A run that dies at any of its file operations is finished by the next one, with the same results."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.system


def steps(*options, module="commit_steps"):
    """How many steps a unit's commit and a run have; the process fails where one of them leaves something wrong."""
    command = [sys.executable, "-m", f"tests.chaos.{module}", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_unit_dies_at_each_step_and_a_run_at_some():
    found = steps("--every", "25")
    assert found["unit"] >= 10
    assert found["run"] >= 26


@pytest.mark.full
def test_a_run_dies_at_each_step():
    assert steps("--real-report")["run"] >= 40


def test_a_writer_of_the_cache_dies_at_each_step():
    found = steps(module="cache_steps")
    assert found["embedding"] >= 8
    assert found["merging"] >= 20
    assert found["packing"] >= 6
