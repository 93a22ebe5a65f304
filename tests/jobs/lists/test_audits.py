"""Audits of what an engine showed, from its file to the tables of the run."""

import json

import pandas as pd
import pytest

from jobs.cli import main
from jobs.methods import arrays_of
from mprlib import METHODS
from tests.jobs.lists.audits import PEOPLE, run, shares, table, write

SHOWN = pd.DataFrame(
    {
        "query": ["nurse"] * 4 + ["chef"] * 3,
        "item": ["d", "e", "a", "f", "a", "b", "d"],
        "rank": [1, 2, 3, 4, 1, 2, 3],
    }
)
NEEDING_VECTORS = [
    name
    for name, method in METHODS.items()
    if method.needs_embeddings or method.needs_query or arrays_of(name).needs_embeddings({})
]


def notes(path):
    return json.loads((path.parent / "run/manifest.json").read_text(encoding="utf-8"))["notes"]


def refused(path, capsys, command="plan"):
    assert main([command, str(path)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    return printed


def test_the_first_items_are_measured_against_the_reference(tmp_path):
    path = write(tmp_path, SHOWN)
    rows = run(path)
    assert rows["item_ids"].map(list).tolist() == [["d", "e"], ["a", "b"]]
    assert shares(path, "gender=woman") == {("nurse", 2): (1.0, 0.5), ("chef", 2): (0.0, 0.5)}
    assert rows["n_pool"].tolist() == [4, 3]


def test_labels_may_be_in_the_list_itself(tmp_path):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    path = write(tmp_path, shown, None, reference={"kind": "population"})
    run(path)
    # Five distinct items were shown, three of them women.
    assert shares(path, "gender=woman")["nurse", 2] == pytest.approx((1.0, 0.6))


def test_an_item_with_two_labels_is_named_with_its_row(tmp_path, capsys):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    shown.loc[shown.index[-1], "gender"] = "man"
    message = refused(write(tmp_path, shown, None), capsys)
    assert "column 'gender' calls the item 'd' 'man' in row 7 of" in message and "'woman' before" in message


def test_an_item_that_lacks_its_label_in_one_row_has_that_of_another(tmp_path):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    shown.loc[0, "gender"] = None
    path = write(tmp_path, shown, None)
    run(path)
    assert shares(path, "gender=woman")["nurse", 2] == (1.0, 0.5)


def test_missing_labels_of_the_list_are_a_level(tmp_path):
    shown = SHOWN.assign(
        item=[f"i{row}" for row in range(len(SHOWN))], gender=[None, "woman", *["man", "woman"] * 2, None]
    )
    path = write(tmp_path, shown, None)
    run(path)
    assert shares(path, "gender=unknown")["nurse", 2] == (0.5, 0.0)


def test_as_shown_goes_by_rank_and_top_k_by_score(tmp_path):
    shown = SHOWN.assign(score=[0.9, 0.5, 0.8, 0.1, 0.9, 0.8, 0.7])
    rows = run(write(tmp_path, shown, methods=["as_shown", "top_k"]))
    nurse = rows[rows["query"] == "nurse"].set_index("method")["item_ids"].map(set).to_dict()
    assert nurse == {"as_shown": {"d", "e"}, "top_k": {"d", "a"}}


def test_items_without_labels_and_labels_without_items_are_listed(tmp_path):
    shown = pd.concat([SHOWN, pd.DataFrame({"query": ["nurse"], "item": ["x"], "rank": [0]})])
    path = write(tmp_path, shown, dataset={
        "name": "people", "path": "people.csv", "id": "id", "attributes": {"gender": {}}, "max_skipped_share": 0.5,
    })  # fmt: skip
    run(path)
    skipped = table(path, "skipped")
    assert skipped[["dataset", "item_id", "reason"]].values.tolist() == [["people", "x", "no label"]]
    assert shares(path, "gender=woman")["nurse", 2] == (1.0, 0.5)
    assert any(
        "1 of 6 items that were shown are not in dataset people" in note and "'x'" in note for note in notes(path)
    )
    assert any("1 of 6 items are in no list: 'c'" in note for note in notes(path))


def test_a_data_set_that_has_none_of_the_items_is_refused_with_both_kinds_of_ids(tmp_path, capsys):
    message = refused(write(tmp_path, SHOWN.assign(item="item " + SHOWN["item"])), capsys)
    assert "has none of the items of list.csv, such as 'item d'" in message and "like 'a'" in message


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
    assert any("1 query of 2 have fewer than 4" in note and "'chef' has 3" in note for note in notes(path))


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
        ({"encoder": {"kind": "sentence"}}, "results are in the place of the encoder"),
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


OTHER = pd.DataFrame({"query": ["nurse", "nurse", "pilot"], "item": ["a", "d", "b"], "rank": [1, 2, 1]})


def test_another_engines_list_may_be_the_reference(tmp_path):
    OTHER.to_csv(tmp_path / "other.csv", index=False)
    other = {"path": "other.csv", "item": "item", "rank": "rank"}
    path = write(tmp_path, SHOWN, reference={"name": "old engine", "kind": "results", "results": other})
    rows = run(path)
    assert shares(path, "gender=woman") == {("nurse", 2): (1.0, 0.5)}
    # Chosen by an engine, its items are no sample of a population.
    assert rows["mpr_low"].isna().all()
    assert any("reference old engine: 1 query of 2 without a list" in note and "'chef'" in note for note in notes(path))


def test_the_other_list_may_have_labels_of_its_own(tmp_path):
    OTHER.assign(item=["x", "y", "z"], gender=["woman", "man", "man"]).to_csv(tmp_path / "other.csv", index=False)
    other = {"path": "other.csv", "item": "item", "rank": "rank", "attributes": {"gender": {}}}
    path = write(tmp_path, SHOWN, reference={"kind": "results", "results": other})
    run(path)
    assert shares(path, "gender=woman") == {("nurse", 2): (1.0, 0.5)}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"kind": "results"}, "a results block goes with kind: results"),
        ({"kind": "balanced", "results": {"path": "list.csv"}}, "a results block goes with kind: results"),
        ({"kind": "results", "results": {"path": "other.csv", "item": "item"}}, "nothing for the queries of the audit"),
    ],
)
def test_a_reference_that_is_no_other_list_is_one_sentence(tmp_path, capsys, reference, expected):
    OTHER[OTHER["query"] == "pilot"].to_csv(tmp_path / "other.csv", index=False)
    assert expected in refused(write(tmp_path, SHOWN, reference=reference), capsys)


def test_a_query_of_which_nothing_is_labelled_is_named(tmp_path):
    shown = pd.concat([SHOWN, pd.DataFrame({"query": ["pilot"], "item": ["x"], "rank": [1]})])
    path = write(tmp_path, shown)
    path.write_text(path.read_text(encoding="utf-8").replace("dataset:\n", "dataset:\n  max_skipped_share: 1\n"))
    assert set(run(path)["query"]) == {"nurse", "chef"}
    assert any("1 query with no labelled item: 'pilot'" in note for note in notes(path))


def generated(folder, women):
    """Pictures of each prompt in a folder of its name, and a table with the labels that somebody gave them."""
    rows = []
    for prompt, of_prompt in women.items():
        (folder / "pictures" / prompt).mkdir(parents=True)
        for number, is_woman in enumerate(of_prompt):
            name = f"{prompt}/{number}.png"
            (folder / "pictures" / name).write_bytes(b"no picture is opened")
            rows.append({"file": name, "gender": "woman" if is_woman else "man"})
    pd.DataFrame(rows).to_csv(folder / "pictures/labels.csv", index=False)


def test_generated_pictures_are_all_alike_and_their_chance_is_told(tmp_path):
    generated(tmp_path, {"a nurse": [1, 1, 1, 0], "an engineer": [0] * 6})
    dataset = {"kind": "images", "path": "pictures", "labels": "labels.csv", "attributes": {"gender": {}}}
    path = write(
        tmp_path, SHOWN, dataset=dataset, results={"kind": "images", "path": "pictures"}, k="all",
        report={"thumbnail_megabytes": 0},
    )  # fmt: skip
    rows = run(path).set_index("query")
    assert shares(path, "gender=woman") == {("a nurse", 4): (0.75, 0.5), ("an engineer", 6): (0.0, 0.5)}
    assert rows["similarity"].tolist() == [1, 1]
    # Six of six heads or six tails.
    assert rows.loc["an engineer", "p_chance"] == pytest.approx(2 / 2**6, abs=0.01)
    assert rows.loc["a nurse", "p_chance"] > 0.5
    # What is drawn has an error of its own; what was found has none.
    assert (rows["mpr_high"] > rows["mpr"]).all() and (rows["mpr_low"] < rows["mpr"]).all()
    found = run(path, "--set", "results.draws=false")
    assert found["mpr_low"].isna().all()


def test_two_k_of_a_query_are_two_cases_and_the_page_says_of_how_many_queries(tmp_path, capsys):
    path = write(tmp_path, SHOWN, k=[1, 2])
    assert main(["run", str(path)]) == 0
    assert "of 4 cases of 2 queries show no gap beyond chance" in capsys.readouterr().out
    page = (tmp_path / "run/report/index.html").read_text(encoding="utf-8")
    assert "4 cases of 2 queries" in page and "<h3>Worst cases</h3>" in page and "Every mark is a case." in page
    assert "independent draws" not in page
    one = write(tmp_path, SHOWN, k=[2])
    assert main(["run", str(one)]) == 0
    assert "of 2 queries show no gap beyond chance" in capsys.readouterr().out
    assert "<h3>Worst queries</h3>" in (tmp_path / "run/report/index.html").read_text(encoding="utf-8")


def test_draws_are_said_to_be_draws_on_the_page_and_once_by_compare(tmp_path, capsys):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    path = write(tmp_path, shown, None, reference={"kind": "population"})
    for name, draws in (("drawn", "true"), ("found", "false")):
        output = str(tmp_path / name)
        assert main(["run", str(path), "--output", output, "--set", f"results.draws={draws}"]) == 0
    said = "The items shown are <strong>independent draws</strong>"
    pages = [(tmp_path / name / "report/index.html").read_text(encoding="utf-8") for name in ("drawn", "found")]
    assert [said in page for page in pages] == [True, False]
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "drawn"), str(tmp_path / "found"), "--json"]) in (0, 4)
    remarks = json.loads(capsys.readouterr().out)["remarks"]
    assert [one for one in remarks if "draws" in one] == ["results.draws differs (True and False)"]


def test_pictures_in_no_folder_are_no_lists(tmp_path, capsys):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/1.png").write_bytes(b"x")
    message = refused(write(tmp_path, SHOWN, results={"kind": "images", "path": "pictures"}), capsys)
    assert "one folder per query is expected" in message


def test_a_fault_of_the_lists_own_attributes_is_at_the_lists_key(tmp_path, capsys):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    path = write(tmp_path, shown, None)
    wrong = {"woman": {"woman": -1, "man": 2}, "man": {"woman": 0, "man": 1}}
    assert main(["plan", str(path), "--set", f"results.attributes.gender.confusion={json.dumps(wrong)}"]) == 2
    assert "results.attributes.gender.confusion" in capsys.readouterr().err
