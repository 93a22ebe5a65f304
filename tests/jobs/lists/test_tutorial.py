"""The twenty steps from an export to the report, as the page has them."""

import re
import shlex
import shutil

import pandas as pd
import pytest
import yaml

from jobs.cli import main
from tests.pages import text_of

PAGE = "docs/result_lists.md"


def steps(language):
    """The blocks of a language within the steps, which are indented."""
    found = re.findall(rf"^( +)```{language}\n(.*?)^ +```", text_of(PAGE), flags=re.MULTILINE | re.DOTALL)
    return ["".join(line.removeprefix(indent) + "\n" for line in block.splitlines()) for indent, block in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    shown, targets = steps("csv")
    (folder / "shown.csv").write_text(shown, encoding="utf-8")
    (folder / "targets.csv").write_text(targets, encoding="utf-8")
    return folder


def test_there_are_twenty():
    numbers = re.findall(r"^(\d+)\. ", text_of(PAGE), flags=re.MULTILINE)
    assert numbers == [str(number) for number in range(1, 21)]


def test_every_step_works_in_its_order(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    corrected, reference = map(yaml.safe_load, steps("yaml"))
    init, *lines = [line for block in steps("sh") for line in block.splitlines()]
    assert main(shlex.split(init)[1:]) == 0
    proposed = yaml.safe_load((folder / "shown.yaml").read_text(encoding="utf-8"))
    assert proposed == corrected
    for place, line in enumerate(lines):
        if place == 2:
            # Step 11.
            text = yaml.safe_dump(corrected | reference, sort_keys=False)
            (folder / "shown.yaml").write_text(text, encoding="utf-8")
        capsys.readouterr()
        assert main(shlex.split(line)[1:]) == 0, line
        if place == 2:
            assert "'welder'" in capsys.readouterr().out
    rows = pd.read_parquet("runs/shown/results")
    assert set(rows["query"]) == {"nurse", "engineer"}
    assert set(rows["method"]) == {"as_shown", "mopr"}
    assert len(pd.read_csv("shown-items.csv")) > 0
    shutil.rmtree("runs")
