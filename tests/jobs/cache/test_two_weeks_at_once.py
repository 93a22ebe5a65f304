"""Two whole audits of different weeks, in two processes at the same time, on one cache."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from jobs.cache.damage import faults
from jobs.cli import main
from jobs.store import Store
from tests.sources import ROOT

from .test_text_runs import cached, counted, people, rows, run, second_week, write  # noqa: F401 - a fixture

pytestmark = pytest.mark.system

SHARD = 5


def started(notes, config, output, *options):
    """A run that begins to embed together with another one."""
    command = [sys.executable, "-m", "tests.jobs.cache.counted_run", notes, "2", config, "--output", output, *options]
    environment = dict(os.environ) | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*map(str, command), "--set", f"shard_items={SHARD}"],
        cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def shards(notes, process):
    """What a process embedded, and when."""
    path = notes / f"{process.pid}.notes"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def test_both_are_right_and_embed_twice_only_what_both_began_at_the_same_time(tmp_path, capsys):
    notes = tmp_path / "notes"
    notes.mkdir()
    tables = {"one": people(), "two": second_week(people())}
    paths = {name: write(tmp_path / name, table) for name, table in tables.items()}
    running = {name: started(notes, path, tmp_path / f"{name} run", *cached(tmp_path)) for name, path in paths.items()}
    for process in running.values():
        assert process.wait(timeout=300) == 0, process.stderr.read()
    own = {name: shards(notes, process) for name, process in running.items()}
    texts = {name: [text for shard in found for text in shard["texts"]] for name, found in own.items()}
    assert set(texts["one"]) | set(texts["two"]) >= {*tables["one"]["about"], *tables["two"]["about"]}
    for name in own:
        assert len(texts[name]) == len(set(texts[name])), "a run embeds nothing twice"
    for first in own["one"]:
        for second in own["two"]:
            if set(first["texts"]) & set(second["texts"]):
                assert first["began"] < second["ended"] and second["began"] < first["ended"]
    # They did not go through the same shards in step.
    both = set(texts["one"]) & set(texts["two"])
    assert len(both) < len(tables["one"]) / 2
    assert not list(faults(Store(str(tmp_path / "cache"))))
    # Later runs of the same weeks embed nothing, and a run without a cache has the same rows.
    for name, path in paths.items():
        options = ["--set", f"shard_items={SHARD}"]
        assert run(capsys, path, tmp_path / f"{name} again", *cached(tmp_path), *options)["items_embedded"] == 0
        run(capsys, path, tmp_path / f"{name} alone", *options)
        pd.testing.assert_frame_equal(rows(tmp_path / f"{name} run"), rows(tmp_path / f"{name} alone"))
        assert main(["verify", str(tmp_path / f"{name} run")]) == 0
