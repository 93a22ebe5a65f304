"""A report in parts is the report as one, leaves nothing behind, and holds no more for more queries."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.analysis import parts
from jobs.analysis.load import load
from jobs.cli import main
from jobs.config.runtime import Runtime
from jobs.errors import RunError
from jobs.report import part, publish
from jobs.report.build import build
from jobs.run import executor as executors
from jobs.run.executor import Lazily
from jobs.run.local import InProcess
from jobs.stages.result_rows import RESULTS
from jobs.store import Store
from jobs.store.growing import GrowingTable
from tests.jobs.report import synthetic


def published(folder: Path) -> list[str]:
    with Lazily(Runtime(executor="local")) as executor:
        return publish.publish(Store(str(folder)), executor)


@pytest.fixture
def run(tmp_path, monkeypatch) -> Path:
    """The tables of seven queries, described two at a time, in row groups that hold parts of cases."""
    monkeypatch.setattr(parts, "CASES_PER_PART", 2)
    synthetic.write(tmp_path, queries=7, points=4, k=10, people=300, pool=300)
    for name in ("results", "groups"):
        path = tmp_path / name / "part-00000.parquet"
        pq.write_table(pq.read_table(path), path, row_group_size=50)
    return tmp_path


def test_parts_make_the_files_of_the_whole(run):
    found = published(run)
    expected = build(load(run))
    assert sorted(name.removeprefix("report/") for name in found) == sorted(expected)
    for name, content in expected.items():
        if name != "index.html":  # which numbers items otherwise
            assert (run / "report" / name).read_bytes() == content, name
    assert published(run) == found


@pytest.mark.parametrize(("runtime", "executor"), [({"executor": "local"}, "local"), ({}, "ray"), (None, "ray")])
def test_the_command_uses_the_executor_of_the_run(run, monkeypatch, runtime, executor):
    asked = []
    monkeypatch.setattr(publish, "FEW_PARTS", 0)
    monkeypatch.setattr(executors, "executor_of", lambda settings: asked.append(settings) or InProcess(settings))
    store = Store(str(run))
    manifest = store.read_json("manifest.json")
    store.write_json("manifest.json", manifest | {"settings": {"runtime": runtime}})
    assert main(["report", str(run)]) == 0
    assert [settings.executor for settings in asked] == [executor]


def test_nothing_is_left_of_the_tasks_nor_of_a_killed_report(run):
    store = Store(str(run))
    left = ("units/report/0123/cases.arrow", "receipts/report/0123.json", "failures/report/0123.json")
    for name in (*left, "report/curves/old.svg"):
        store.write(name, b"old")
    published(run)
    assert not [name for folder in ("units", "receipts", "failures") for name in store.list(folder) if "0123" in name]
    assert not (run / "report/curves/old.svg").exists() and not store.list("failures")


def test_a_case_that_cannot_be_described_is_one_sentence(run, monkeypatch):
    def fails(*arguments):
        raise ValueError("no such shape")

    monkeypatch.setattr(part, "described", fails)
    with pytest.raises(RunError, match="the report cannot be made: ValueError: no such shape"):
        published(run)
    assert not Store(str(run)).list("units")


def test_no_reader_holds_more_for_more_queries(run, tmp_path, monkeypatch):
    read_rows = []
    rows_of = parts._rows_of

    def counted(*arguments):
        rows = rows_of(*arguments)
        read_rows.append(rows.num_rows)
        return rows

    monkeypatch.setattr(parts, "_rows_of", counted)
    largest = []
    for queries in (3, 9):
        synthetic.write(tmp_path / str(queries), queries=queries, points=4, k=10, people=300, pool=300)
        read_rows.clear()
        published(tmp_path / str(queries))
        largest.append(max(read_rows))
    assert largest[0] == largest[1]


def test_a_table_grows_by_row_groups_into_files(tmp_path):
    store, rows = Store(str(tmp_path)), synthetic.tables(queries=1, points=2, k=5, people=50, pool=50)["results"]
    with GrowingTable(store, "results", RESULTS, 2 * rows.num_rows) as table:
        for _ in range(5):
            table.add(rows)
            table.add(rows.slice(0, 0))
        table.finish()
    assert [file.rows for file in table.files.values()] == [rows.num_rows * number for number in (2, 2, 1)]
    for name, file in table.files.items():
        assert store.holds(name, file.bytes, file.sha256)
        assert store.parquet(name).num_row_groups == file.rows // rows.num_rows
    again = pa.concat_tables(store.read_table(name) for name in store.list("results"))
    assert again.equals(pa.concat_tables([rows] * 5))


def test_a_table_whose_file_cannot_be_made_says_why(tmp_path):
    store = Store(str(tmp_path))
    store.write("results", b"a file in the place of a folder")
    with pytest.raises((FileExistsError, NotADirectoryError)), GrowingTable(store, "results", RESULTS, 10) as table:
        table.finish()


def test_a_table_that_fails_leaves_nothing(tmp_path):
    store, rows = Store(str(tmp_path)), synthetic.tables(queries=1, points=2, k=5, people=50, pool=50)["results"]
    with pytest.raises(RuntimeError), GrowingTable(store, "results", RESULTS, 10**6) as table:
        table.add(rows)
        raise RuntimeError("killed")
    assert not store.entries("results")
