"""What docs/analysis.md shows is run, against a run made up for it."""

import json
import shlex

import duckdb
import pytest

from jobs.cli import main
from tests.jobs.report import synthetic
from tests.pages import blocks

PAGE = "docs/analysis.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("analysis")
    synthetic.write(folder / "runs" / "demo")
    return folder


@pytest.mark.parametrize("query", blocks(PAGE, "sql"))
def test_duckdb_examples_find_rows(folder, monkeypatch, query):
    monkeypatch.chdir(folder)
    assert duckdb.sql(query).fetchall()


def test_the_worst_group_is_the_reports_own(folder, monkeypatch):
    monkeypatch.chdir(folder)
    by_query = {row[0]: row[2] for row in duckdb.sql(blocks(PAGE, "sql")[0]).fetchall()}
    assert len(by_query) == 6 and abs(by_query["truck driver"]) > 30


def test_commands_and_python_run_in_order(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for command in blocks(PAGE, "sh"):
        program, *arguments = shlex.split(command)
        assert program == "mpr-audit" and main(arguments) == 0
    assert json.loads(capsys.readouterr().out.strip().splitlines()[-1])["has_regression"] is False
    for block in blocks(PAGE, "python"):
        exec(compile(block, "analysis.md", "exec"), {})
        assert "truck driver" in capsys.readouterr().out
