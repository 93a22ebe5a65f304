"""Names of audits, data sets, references, attributes, levels, queries and folders that are anything but plain."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr

import pytest
from rich.console import Console

from jobs.cli import main
from jobs.run.meters import LONGEST_TAG, Meters, tag
from jobs.run.progress import Bars, Lines

from .conftest import people, settings, write_audit

NAMES = {
    "letters": "Prüfung 質問 👩‍🚒",
    "lines": "first\nsecond\r\nthird\tfourth\u2028fifth",
    "long": "ein sehr langer Name, " * 300,
    "marks": "[/red] {x} $(y) `z` 'a' \"b\" %s \\ ../..",
}


@pytest.mark.parametrize(
    "name", [pytest.param(text, marks=[pytest.mark.system] * (kind == "long"), id=kind) for kind, text in NAMES.items()]
)
def test_every_command_takes_them(tmp_path, capsys, name):
    table = people().rename(columns={"gender": name})
    # A level may have a thousand characters at most.
    table[name] = table[name].replace({"male": f"{name[:900]} male"})
    block = settings()["dataset"] | {"name": name, "attributes": {name: {}, "age": {"bins": [30, 60]}}}
    reference = {"name": f"everybody of {name}"}
    path = write_audit(
        tmp_path, table, queries=[name], name=name, dataset=block, reference=reference, methods=["top_k"]
    )
    output = str(tmp_path / name.replace("/", "-")[:50])
    config = str(path)
    for command in (
        ["plan", config],
        ["run", config, "--output", output],
        ["status", output],
        ["verify", output],
        ["report", output],
        ["compare", output, output, "--markdown", str(tmp_path / "note.md")],
        ["export", output, "--format", "trec", "--output", str(tmp_path / "trec")],
        ["export", output, "--format", "long", "--output", str(tmp_path / "long.csv")],
        ["exhibits", output, "--output", str(tmp_path / "exhibits")],
        ["submit", config, "--output", "/shared/run", "--dry-run"],
    ):
        assert main(command) == 0, capsys.readouterr().err
    [judged] = (tmp_path / "trec").glob("*.run")
    assert judged.read_text(encoding="utf-8")


class Metric:
    """Takes what Ray's own metrics take: tags in ASCII."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def inc(self, value: float, tags: dict[str, str]) -> None:
        for text in tags.values():
            text.encode("ascii")

    observe = set = inc


def test_tags_of_metrics():
    for name in NAMES.values():
        meters = Meters(name, Metric, Metric, Metric)
        meters.ended("solve", "done", 1.0)
        meters.in_flight(1)
    assert tag("plain name") == "plain name"
    assert tag("Prüfung") == "Pr\\xfcfung"
    assert "\n" not in tag(NAMES["lines"])
    assert tag("x" * 1000) != tag("x" * 1001)
    assert len(tag("x" * 1000)) < 2 * LONGEST_TAG


def test_a_message_is_one_line_of_text_on_any_screen():
    message = f"failed: solve {NAMES['marks']}\n{NAMES['lines']}"
    screen, log = io.StringIO(), io.StringIO()
    bars = Bars(Console(file=screen, force_terminal=True, width=10_000))
    with bars:
        bars.say(message)
    with redirect_stderr(log):
        Lines().say(message)
    for shown in (screen, log):
        assert "failed: solve [/red] {x}" in shown.getvalue()
    assert log.getvalue().count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_knows_fewer_letters(tmp_path, encoding):
    path = write_audit(tmp_path, name=NAMES["letters"], queries=["Ärztin 👩‍⚕️"])
    for options in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "jobs", "plan", str(path), *options],
            env=os.environ | {"PYTHONIOENCODING": encoding},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode(encoding))["name"] == NAMES["letters"]


def test_an_argument_that_is_no_text(tmp_path):
    path = write_audit(tmp_path)
    command = [sys.executable, "-m", "jobs", "plan", str(path), "--output", os.fsencode(tmp_path) + b"/\xff"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "an argument in UTF-8 is expected" in done.stderr
