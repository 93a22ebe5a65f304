"""Exports: every selection once, ids that a line can hold, judgements of the whole data set."""

from __future__ import annotations

import json
import shutil
from urllib.parse import unquote

import pandas as pd
import pyarrow as pa
import pytest

from jobs.cli import main
from jobs.plan.plan_file import PLAN
from jobs.results.export.trec import token
from jobs.store import Store, unit_file
from tests.jobs.report import hostile, synthetic

QUERY = "chief executive officer"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return synthetic.write(tmp_path_factory.mktemp("run"), queries=3, points=4, k=10)


def exported(folder, form, output) -> int:
    return main(["export", str(folder), "--format", form, "--output", str(output)])


def read_run(path) -> pd.DataFrame:
    return pd.read_csv(path, sep=" ", names=["query", "q0", "item", "rank", "score", "tag"])


def test_run_files_hold_every_selection_once(run, tmp_path):
    assert exported(run, "trec", tmp_path) == 0
    results = pd.read_parquet(run / "results").drop_duplicates(["query", "method", "parameter_value"])
    index = pd.read_csv(tmp_path / "index.csv")
    files = {name: read_run(tmp_path / name) for name in index["file"]}
    assert set(files) == {path.name for path in tmp_path.glob("*.run")}
    assert sum(map(len, files.values())) == results["item_ids"].map(len).sum()
    # Points of mmr are shared by the queries; those of mopr too here, where the smallest rho is the same.
    assert (index["queries"] == 3).all() and index["method"].value_counts().to_dict() == {
        "mopr": 4,
        "mmr": 4,
        "top_k": 1,
    }
    top = files[index[index["method"] == "top_k"]["file"].item()]
    own = top[top["query"] == token(QUERY)]
    expected = results[(results["query"] == QUERY) & (results["method"] == "top_k")]["item_ids"].item()
    assert own["item"].tolist() == list(expected)
    assert own["rank"].tolist() == list(range(1, 11)) and own["score"].is_monotonic_decreasing
    assert set(own["tag"]) == {"top_k"}


@pytest.mark.parametrize(
    "text", ["chief executive officer", "100% sure", "a\tb\nc", "", "caf\u00e9", "a\u00a0b", "x/y"]
)
def test_tokens_are_one_word_and_reversible(text):
    word = token(text)
    assert len(word.split()) == 1
    assert unquote(word) == text or text == ""


def test_hostile_ids_stay_one_column(tmp_path):
    folder = synthetic.write(tmp_path / "run", made=hostile.tables())
    assert exported(folder, "trec", tmp_path / "out") == 0
    for path in (tmp_path / "out").glob("*.run"):
        assert all(len(line.split(" ")) == 6 for line in path.read_text(encoding="utf-8").splitlines())
    assert exported(folder, "long", tmp_path / "long.csv") == 0
    assert hostile.ITEM in set(pd.read_csv(tmp_path / "long.csv")["item_id"])


def test_judgements_are_of_the_whole_data_set(run, tmp_path):
    store = Store(str(run))
    terms = ["Truck driver ", "nurse", None, "truck driver"]
    items = pa.table({"item_id": ["a 1", "b", "c", "d"], "relevance": pa.array(terms, pa.string())})
    store.write_table(unit_file("items", "part", "items"), items)
    store.write_table(unit_file("catalogue", "key", "parts"), pa.table({"part": ["part"], "rows": [4]}))
    store.write_json(PLAN, [{"stage": "catalogue", "unit": "key", "title": "items of people"}])
    assert exported(run, "trec", tmp_path) == 0
    lines = (tmp_path / "people.qrels").read_text().splitlines()
    assert lines == ["truck%20driver 0 a%201 1", "truck%20driver 0 d 1", "nurse 0 b 1"]


def test_the_long_table_has_a_row_a_chosen_item(run, tmp_path):
    assert exported(run, "long", tmp_path / "items.parquet") == 0
    table = pd.read_parquet(tmp_path / "items.parquet")
    assert len(table) == 3 * 9 * 10
    own = table[(table["query"] == QUERY) & (table["method"] == "top_k")]
    groups = pd.read_parquet(run / "groups")
    own_groups = groups[(groups["query"] == QUERY) & (groups["method"] == "top_k")].set_index("group")
    for level, share in own["label_sex"].value_counts(normalize=True).items():
        assert own_groups.loc[f"sex={level}", "share_selected"] == pytest.approx(share)
    assert own["rank"].tolist() == list(range(1, 11))
    exported(run, "long", tmp_path / "items.csv")
    assert len(pd.read_csv(tmp_path / "items.csv")) == len(table)


@pytest.mark.parametrize(
    ("form", "output", "word"),
    [
        ("xml", "out", "one of trec, long"),
        ("long", "out.xlsx", ".parquet or .csv"),
        ("long", "out", ".parquet or .csv"),
    ],
)
def test_bad_usage_is_one_line(run, tmp_path, capsys, form, output, word):
    assert exported(run, form, tmp_path / output) == 2
    error = capsys.readouterr().err
    assert word in error and error.count("\n") == 1


def test_a_folder_without_results(tmp_path, capsys):
    assert exported(tmp_path, "long", tmp_path / "x.csv") == 2
    assert "holds no results" in capsys.readouterr().err


def test_a_run_whose_items_are_gone(run, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "run")
    shutil.rmtree(tmp_path / "run/items")
    assert exported(tmp_path / "run", "long", tmp_path / "x.csv") == 2
    assert "holds no results" in capsys.readouterr().err


def test_json_names_the_files(run, tmp_path, capsys):
    assert main(["export", str(run), "--format", "long", "--output", str(tmp_path / "x.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(tmp_path / "x.csv")]
