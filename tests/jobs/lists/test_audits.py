"""Audits of what an engine showed, from its file to the tables of the run."""

import json
import re

import pandas as pd
import pytest

from jobs.cli import main
from jobs.methods import arrays_of
from mprlib import METHODS
from tests.jobs.lists.audits import SHOWN, notes, refused, run, shares, write

NEEDING_VECTORS = [
    name
    for name, method in METHODS.items()
    if method.needs_embeddings or method.needs_query or arrays_of(name).needs_embeddings({})
]


def test_the_first_items_are_measured_against_the_reference(tmp_path):
    path = write(tmp_path, SHOWN)
    rows = run(path)
    assert rows["item_ids"].map(list).tolist() == [["d", "e"], ["a", "b"]]
    assert shares(path, "gender=woman") == {("nurse", 2): (1.0, 0.5), ("chef", 2): (0.0, 0.5)}
    assert rows["n_pool"].tolist() == [4, 3]


def test_as_shown_goes_by_rank_and_top_k_by_score(tmp_path):
    shown = SHOWN.assign(score=[0.9, 0.5, 0.8, 0.1, 0.9, 0.8, 0.7])
    rows = run(write(tmp_path, shown, methods=["as_shown", "top_k"]))
    nurse = rows[rows["query"] == "nurse"].set_index("method")["item_ids"].map(set).to_dict()
    assert nurse == {"as_shown": {"d", "e"}, "top_k": {"d", "a"}}


def test_all_is_each_querys_whole_list(tmp_path):
    path = write(tmp_path, SHOWN, k=[2, "all"], methods=["as_shown", {"mopr": {"points": 3}}])
    rows = run(path)
    assert set(rows.loc[rows["method"] == "as_shown", ["query", "k"]].itertuples(index=False, name=None)) == {
        ("nurse", 2), ("nurse", 4), ("chef", 2), ("chef", 3),
    }  # fmt: skip
    assert shares(path, "gender=woman")["nurse", 4] == (0.75, 0.5)
    # Nothing else could be chosen of a whole list, and the run says so; deeper lists are repaired.
    assert set(rows.loc[rows["method"] == "mopr", "k"]) == {2}
    assert rows.loc[rows["k"] > 2, "message"].str.contains("nothing else could be chosen").all()
    assert any("nothing else could be chosen" in note for note in notes(path))


def test_repairs_choose_among_the_list(tmp_path):
    rows = run(write(tmp_path, SHOWN, methods=["as_shown", {"mopr": {"values": [0.0]}}]))
    found = rows[rows["method"] == "mopr"].set_index("query")
    assert sorted(found.loc["nurse", "item_ids"]) == ["a", "d"]
    assert found.loc["nurse", "status"] == "optimal"
    assert found.loc["nurse", "similarity"] == pytest.approx((1 + 0.5) / 2)


def test_lists_that_are_shorter_than_k_are_named(tmp_path):
    path = write(tmp_path, SHOWN, k=4)
    assert run(path)["query"].tolist() == ["nurse"]
    assert any("1 query of 2 has fewer than 4" in note and "'chef' has 3" in note for note in notes(path))


def test_a_k_beyond_every_list_is_refused(tmp_path, capsys):
    assert "k is 5, but the longest list has 4 labelled items" in refused(write(tmp_path, SHOWN, k=5), capsys)


@pytest.mark.parametrize("name", NEEDING_VECTORS)
def test_methods_that_look_at_vectors_are_refused_in_one_sentence(tmp_path, capsys, name):
    texts = {"tokens": "tokens.safetensors", "prompts": ["a man", "a woman"]}
    given = {setting: text for setting, text in texts.items() if setting in arrays_of(name).settings}
    message = refused(write(tmp_path, SHOWN, methods=["as_shown", {name: given}]), capsys)
    assert f"{name} looks at vectors, and a result list has none" in message


@pytest.mark.parametrize("name", [name for name in METHODS if name not in NEEDING_VECTORS])
def test_every_other_method_runs_on_a_list(tmp_path, name):
    entry = {name: {"points": 2}} if METHODS[name].parameter else name
    rows = run(write(tmp_path, SHOWN, methods=[entry], function_classes=["linear"], report={"thumbnail_megabytes": 0}))
    assert set(rows["method"]) == {name}
    assert not (rows["status"] == "failed").any()


def test_queries_may_be_named_and_limited(tmp_path, capsys):
    path = write(tmp_path, SHOWN, queries={"list": ["chef"]})
    assert run(path)["query"].unique().tolist() == ["chef"]
    message = refused(write(tmp_path, SHOWN, queries={"list": ["cheff"]}), capsys)
    assert "the list has no query 'cheff'" in message and "did you mean 'chef'?" in message
    assert run(write(tmp_path, SHOWN), "--limit", "1")["query"].unique().tolist() == ["nurse"]


def test_the_whole_list_may_be_the_reference(tmp_path):
    path = write(tmp_path, SHOWN, reference={"kind": "population", "query_conditioned": True})
    run(path)
    assert shares(path, "gender=woman") == {("nurse", 2): (1.0, 0.75), ("chef", 2): pytest.approx((0.0, 1 / 3))}


def test_a_second_run_computes_what_a_changed_list_changes(tmp_path, capsys):
    path = write(tmp_path, SHOWN)
    run(path)
    shown = SHOWN.copy()
    shown.loc[SHOWN["query"] == "chef", "item"] = ["b", "a", "e"]
    run(write(tmp_path, shown))
    counts = json.loads(capsys.readouterr().out.splitlines()[-1])
    # The pool and the selection of one query; the other's, and the items, stay.
    assert counts["computed"] == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"encoder": {"kind": "sentence"}}, "results replace the encoder"),
        ({"queries": {"vectors": "list.csv"}}, "no vectors is needed"),
        ({"function_classes": [{"linear": {"over": "embedding"}}]}, "linear over embedding looks at vectors"),
        ({"results": {"kind": "trec", "path": "people.csv"}}, "line 1 of"),
        ({"results": {"kind": "table", "path": "list.csv", "query": "quary"}}, "did you mean 'query'?"),
        ({"results": {"kind": "table", "path": "none.csv"}}, "none.csv does not exist"),
    ],
)
def test_what_does_not_go_with_a_list_is_one_sentence(tmp_path, capsys, change, expected):
    assert expected in refused(write(tmp_path, SHOWN, **change), capsys)


def test_a_run_of_trec_with_labels_beside_it(tmp_path):
    lines = [f"{one.query} Q0 {one.item} {one.rank} {10 - one.rank} x" for one in SHOWN.itertuples()]
    (tmp_path / "run.txt").write_text("\n".join(lines), encoding="utf-8")
    path = write(tmp_path, SHOWN, results={"kind": "trec", "path": "run.txt"})
    rows = run(path)
    assert rows["similarity"].tolist() == [8.5, 8.5]
    assert shares(path, "gender=woman") == {("nurse", 2): (1.0, 0.5), ("chef", 2): (0.0, 0.5)}


def test_what_chance_level_costs_is_said_of_chance_level(tmp_path, capsys):
    # 40 men come first; 20 women have to be fetched from far below for half of them, and fewer for chance.
    genders = ["man"] * 40 + ["woman"] * 40
    people = pd.DataFrame({"id": [f"{number:02d}" for number in range(80)], "gender": genders})
    shown = pd.DataFrame({"query": "chef", "item": people["id"], "rank": range(1, 81)})
    costs = {}
    for methods in (["as_shown", {"mopr": {"values": [0.01]}}], ["as_shown", {"mopr": {"values": [0.01, "chance"]}}]):
        path = write(tmp_path, shown, people, k=[40, 60], methods=methods)
        assert main(["run", str(path)]) == 0
        printed = capsys.readouterr().out
        page = (tmp_path / "run/report/index.html").read_text(encoding="utf-8")
        assert printed.startswith("worst groups of what was shown")
        assert "  chef, k = 40: gender=woman 0% shown" in printed
        is_bound = len(methods[1]["mopr"]["values"]) == 1
        assert ("to chance level for at most " in printed) == is_bound
        assert ("chance level itself costs at most that" in page) == is_bound
        assert ("held within the MPR of a random 40 under groups, 0.15 (mopr, rho = 0.01)," in page) == is_bound
        costs[is_bound] = float(printed.partition("of similarity")[0].rpartition(" ")[0].rpartition(" ")[2].rstrip("%"))
    assert 0 < costs[False] < costs[True]


def test_two_k_of_a_query_are_two_cases_and_the_page_says_of_how_many_queries(tmp_path, capsys):
    path = write(tmp_path, SHOWN, k=[1, 2])
    assert main(["run", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "of 4 cases of 2 queries show no gap beyond chance" in printed
    # A heading has lines below it.
    assert "worst groups" not in printed
    page = (tmp_path / "run/report/index.html").read_text(encoding="utf-8")
    assert "4 cases of 2 queries" in page and "<h3>Worst cases</h3>" in page and "Every mark is a case." in page
    assert "independent draws" not in page and "Gaps of what was shown over all cases" in page
    groups = page.partition("<h3>Groups over all cases</h3>")[2].partition("</table>")[0]
    places = re.findall(r'data-label="Largest gap at" title="(.*?)"', groups)
    assert len(places) == 2 and all(re.fullmatch("(nurse|chef), k = [12]", place) for place in places)
    one = write(tmp_path, SHOWN, k=[2])
    assert main(["run", str(one)]) == 0
    assert "of 2 queries show no gap beyond chance" in capsys.readouterr().out
    assert "<h3>Worst queries</h3>" in (tmp_path / "run/report/index.html").read_text(encoding="utf-8")
