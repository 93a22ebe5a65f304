"""Units of other folders, and selections under other classes: copied or measured, never solved again."""

import json
from pathlib import Path

import pandas as pd
import pytest

from jobs.cache.packs import packed_units
from jobs.cli import main
from jobs.report import part
from jobs.stages.solve import Solve
from jobs.store import Store
from tests.jobs.conftest import write_audit

METHODS = ["top_k", {"mopr": {"values": [0.1, 0.3], "targets": ["linear"]}}, {"mmr": {"values": [0.5]}}]


@pytest.fixture
def solved(monkeypatch):
    """Titles of the units that choose items."""
    titles = []
    sweep = Solve._sweep

    def counted(self, case, store):
        titles.append(self.title)
        return sweep(self, case, store)

    monkeypatch.setattr(Solve, "_sweep", counted)
    return titles


@pytest.fixture
def described(monkeypatch):
    """Queries that a report describes."""
    queries = []
    original = part.described

    def counted(run, *others):
        queries.extend(run.results["query"].unique())
        return original(run, *others)

    monkeypatch.setattr(part, "described", counted)
    return queries


def report(output):
    """The report's files but the page, which has the run's times."""
    store = Store(str(output))
    return {name: store.read(name) for name in store.list("report") if not name.endswith(".html")}


def audit(folder: Path, **changes) -> Path:
    folder.mkdir()
    return write_audit(folder, methods=METHODS, function_classes=["linear"], **changes)


def run(capsys, path, output, *options):
    code = main(["run", str(path), "--output", str(output), "--json", *options])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return json.loads(captured.out.strip().splitlines()[-1])


def rows(output, *dropped):
    store = Store(str(output))
    tables = [store.read_table(name).to_pandas() for name in store.list("results")]
    return pd.concat(tables, ignore_index=True).drop(columns=["run_id", *dropped])


def cached(tmp_path):
    return "--set", f"cache={tmp_path / 'cache'}"


def test_the_same_audit_in_another_folder_solves_nothing(tmp_path, capsys, solved, described):
    path = audit(tmp_path / "one")
    first = run(capsys, path, tmp_path / "week 1", *cached(tmp_path))
    assert (first["queries_computed"], first["queries_reused"], len(solved)) == (2, 0, 6)
    second = run(capsys, path, tmp_path / "week 2", *cached(tmp_path))
    assert (second["queries_computed"], second["queries_reused"], len(solved)) == (0, 2, 6)
    pd.testing.assert_frame_equal(rows(tmp_path / "week 2"), rows(tmp_path / "week 1"))
    assert len(described) == 2 and report(tmp_path / "week 2") == report(tmp_path / "week 1")
    assert main(["verify", str(tmp_path / "week 2")]) == 0
    # A run that finds its units in the cache does not put them there again.
    assert len([name for name in Store(str(tmp_path / "cache")).list("units") if name.endswith(".index")]) == 1


def test_one_more_query_is_searched_solved_and_described_alone(tmp_path, capsys, solved, described):
    run(capsys, audit(tmp_path / "one"), tmp_path / "week 1", *cached(tmp_path))
    solved.clear()
    described.clear()
    path = audit(tmp_path / "two", queries=["nurse", "chef", "pilot"])
    # The given vectors of the first two queries are other ones.
    vectors = pd.read_parquet(tmp_path / "two" / "queries.parquet")
    vectors.iloc[:2] = pd.read_parquet(tmp_path / "one" / "queries.parquet")
    vectors.to_parquet(tmp_path / "two" / "queries.parquet")
    assert main(["plan", str(path), "--output", str(tmp_path / "week 2"), "--json", *cached(tmp_path)]) == 0
    bill = json.loads(capsys.readouterr().out)["bill"]
    assert (bill["queries_new"], bill["queries_kept"]) == (1, 2)
    second = run(capsys, path, tmp_path / "week 2", *cached(tmp_path))
    assert (second["queries_computed"], second["queries_reused"]) == (1, 2)
    assert len(solved) == 3 and all("pilot" in title for title in solved)
    assert described == ["pilot"]
    run(capsys, path, tmp_path / "without")
    assert report(tmp_path / "week 2") == report(tmp_path / "without")
    pd.testing.assert_frame_equal(
        rows(tmp_path / "week 2", "solve_seconds"), rows(tmp_path / "without", "solve_seconds")
    )


@pytest.mark.parametrize("where", ["the same folder", "another folder"])
def test_an_added_class_measures_what_was_chosen(tmp_path, capsys, solved, where):
    path = audit(tmp_path / "one")
    run(capsys, path, tmp_path / "week 1", *cached(tmp_path))
    solved.clear()
    output = tmp_path / ("week 1" if where == "the same folder" else "week 2")
    more = ["--set", "function_classes=[groups, linear, saturated]", "--set", "attention=[uniform, log2]"]
    summary = run(capsys, path, output, *more, *(cached(tmp_path) if where == "another folder" else ()))
    assert solved == []
    assert (summary["queries_computed"], summary["queries_reused"]) == (0, 2)
    run(capsys, path, tmp_path / "without", *more)
    pd.testing.assert_frame_equal(rows(output, "solve_seconds"), rows(tmp_path / "without", "solve_seconds"))
    assert main(["verify", str(output)]) == 0


def test_an_added_method_leaves_the_others(tmp_path, capsys, solved):
    path = audit(tmp_path / "one")
    run(capsys, path, tmp_path / "week 1")
    solved.clear()
    more = ["--set", "methods=[top_k, {mopr: {values: [0.1, 0.3], targets: [linear]}}, {mmr: {values: [0.5]}}, dpp]"]
    run(capsys, path, tmp_path / "week 1", *more)
    assert len(solved) == 2 and all("dpp" in title for title in solved)


def test_other_values_and_damaged_earlier_units_are_solved(tmp_path, capsys, solved):
    path = audit(tmp_path / "one")
    run(capsys, path, tmp_path / "week 1")
    for file in (tmp_path / "week 1" / "units" / "solve").rglob("results.parquet"):
        file.write_bytes(file.read_bytes()[:-1])
    solved.clear()
    run(capsys, path, tmp_path / "week 1", "--set", "function_classes=[linear, groups]")
    assert len(solved) == 6


def test_a_damaged_pack_is_computed_anew(tmp_path, capsys, solved):
    path = audit(tmp_path / "one")
    run(capsys, path, tmp_path / "week 1", *cached(tmp_path))
    cache = Store(str(tmp_path / "cache"))
    data_file = next(iter(packed_units(cache).values())).data_file
    content = bytearray((tmp_path / "cache" / data_file).read_bytes())
    content[:: len(content) // 50] = bytes(len(content[:: len(content) // 50]))
    (tmp_path / "cache" / data_file).write_bytes(content)
    run(capsys, path, tmp_path / "week 2", *cached(tmp_path))
    pd.testing.assert_frame_equal(
        rows(tmp_path / "week 2", "solve_seconds"), rows(tmp_path / "week 1", "solve_seconds")
    )
    assert main(["verify", str(tmp_path / "week 2")]) == 0
    assert main(["cache", "verify", cache.root]) == 1
