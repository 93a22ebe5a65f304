"""Two runs compared: the group whose vectors moved is found, nothing else is, and what does not compare is refused."""

from __future__ import annotations

import copy
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from jobs.analysis.comparison.compare import compare
from jobs.analysis.comparison.wording import summary, to_markdown, to_text
from jobs.analysis.load import Run, load
from jobs.cli import main
from jobs.errors import UsageError

from .conftest import DIMENSION, write_audit

SIZE, K = 800, 40
ABOUT = {
    key: {"folder": "a", "name": "b", "created": "c", "run_id": "d", "is_complete": True} for key in ("old", "new")
}
QUERIES = ["nurse", "chef", "pilot", "judge", "scientist"]
# How far the vectors of one group go towards the query before they are brought back to length 1.
SHIFT = 0.6


def people(shifted_to: np.ndarray | None = None) -> pd.DataFrame:
    """People of three attributes with random vectors; those of the middle race lean to a query, if one is given."""
    random = np.random.default_rng(11)
    race = random.choice(["amber", "blue", "cyan", "dun"], SIZE, p=[0.4, 0.3, 0.2, 0.1])
    vectors = random.standard_normal((SIZE, DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    if shifted_to is not None:
        vectors[race == "cyan"] += SHIFT * shifted_to
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return pd.DataFrame(
        {
            "person": [f"p{number:03d}" for number in range(SIZE)],
            "gender": random.choice(["female", "male"], SIZE),
            "race": race,
            "age": random.integers(18, 90, SIZE),
            "embedding": list(vectors.astype(np.float32)),
        }
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Folders of two finished runs that differ in the vectors of one group."""
    folder = tmp_path_factory.mktemp("runs")
    changes = {
        "dataset": {
            "name": "people", "kind": "table", "path": "people.parquet", "id": "person",
            "attributes": {"gender": {}, "race": {}, "age": {"bins": [40, 65]}},
        },
        "k": [K], "methods": ["top_k"], "prefilter": {"top": 700}, "shard_items": 1000,
    }  # fmt: skip
    path = write_audit(folder, people(), QUERIES, **changes)
    assert main(["run", str(path), "--output", str(folder / "old"), "--json"]) == 0
    write_audit(folder, people(alone(folder)), QUERIES, **changes)
    assert main(["run", str(path), "--output", str(folder / "new"), "--json"]) == 0
    return {name: folder / name for name in ("old", "new")}


def alone(folder) -> np.ndarray:
    """What the first query's vector has of its own: leaning to it moves no other query's scores."""
    first, *others = np.stack(pd.read_parquet(folder / "queries.parquet")["vector"]).astype(float)
    own = first - np.stack(others).T @ np.linalg.lstsq(np.stack(others).T, first, rcond=None)[0]
    return own / np.linalg.norm(own)


def asked(capsys, *arguments) -> tuple[int, dict]:
    capsys.readouterr()
    code = main(["compare", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_group_that_moved_is_found_and_no_other(runs, capsys):
    code, found = asked(capsys, runs["old"], runs["new"])
    assert code == 4
    assert [(row["query"], row["group"]) for row in found["moved_groups"]] == [("nurse", "race=cyan")]
    [moved] = found["moved_groups"]
    groups = [pd.read_parquet(runs[side] / "groups") for side in ("old", "new")]
    before, after = (
        table[(table["query"] == "nurse") & (table["group"] == "race=cyan")]["share_selected"].item()
        for table in groups
    )
    assert (moved["share_selected_old"], moved["share_selected_new"]) == pytest.approx((before, after))
    assert moved["change_share"] == pytest.approx(after - before)
    assert after > before + 0.2
    [worse] = found["regressions"]
    assert worse["query"] == "nurse" and worse["gap_rise"] > 0.05
    assert {row["query"] for row in found["queries"]} == set(QUERIES)


def test_identical_runs_differ_in_nothing(runs, capsys):
    code, found = asked(capsys, runs["old"], runs["old"], "--threshold", "0")
    assert code == 0
    assert found["moved_groups"] == found["groups_that_follow"] == found["regressions"] == []
    assert {row["p_value"] for row in found["queries"]} == {1.0}


def test_the_way_back_moves_as_far_and_is_no_regression(runs, capsys):
    code, found = asked(capsys, runs["new"], runs["old"])
    [moved] = found["moved_groups"]
    assert code == 0
    assert moved["group"] == "race=cyan" and moved["change_share"] < -0.2


def test_a_rise_within_the_threshold_is_none(runs, capsys):
    code, found = asked(capsys, runs["old"], runs["new"], "--threshold", "0.9")
    assert code == 0
    assert found["regressions"] == [] and len(found["moved_groups"]) == 1


@pytest.mark.parametrize("option", ["--threshold", "--mpr-threshold", "--level"])
def test_a_limit_that_is_no_number_would_hide_every_regression(runs, capsys, option):
    for value in ("nan", "inf"):
        assert main(["compare", str(runs["old"]), str(runs["new"]), option, value]) == 2
        assert option in capsys.readouterr().err


def test_a_note_goes_through_links_and_pipes(runs, tmp_path, capfd):
    same = [str(runs["old"])] * 2
    (tmp_path / "link.md").symlink_to(tmp_path / "note.md")
    assert main(["compare", *same, "--markdown", str(tmp_path / "link.md")]) == 0
    assert (tmp_path / "link.md").is_symlink() and "no regression" in (tmp_path / "note.md").read_text()
    capfd.readouterr()
    assert main(["compare", *same, "--markdown", "/dev/stderr"]) == 0
    assert capfd.readouterr().err == (tmp_path / "note.md").read_text()


def test_text_and_markdown_say_the_same(runs, tmp_path, capsys):
    capsys.readouterr()
    code = main(["compare", str(runs["old"]), str(runs["new"]), "--markdown", str(tmp_path / "note.md")])
    text, note = capsys.readouterr().out, (tmp_path / "note.md").read_text(encoding="utf-8")
    assert code == 4
    for word in ("5 queries compared; 1 moved beyond chance", "cyan", "nurse"):
        assert word in text and word in note
    assert note.startswith("### Retrieval audit: regression")
    assert main(["compare", str(runs["old"]), str(runs["new"]), "--markdown", str(tmp_path / "no" / "x.md")]) == 2


def test_a_run_that_is_not_complete_says_so(runs, tmp_path, capsys):
    folder = shutil.copytree(runs["old"], tmp_path / "partial", ignore=shutil.ignore_patterns("units", "receipts"))
    (folder / "_SUCCESS").unlink()
    code, found = asked(capsys, folder, runs["old"])
    assert code == 0
    assert not found["old"]["is_complete"] and found["new"]["is_complete"]
    assert any("is not complete" in remark for remark in found["remarks"])


def test_folders_that_hold_no_whole_run(runs, tmp_path, capsys):
    folder = shutil.copytree(runs["old"], tmp_path / "damaged", ignore=shutil.ignore_patterns("units", "receipts"))
    part = next((folder / "groups").iterdir())
    part.write_bytes(part.read_bytes()[:-5])
    for bad, word in ((folder, "groups/part-00000.parquet is missing or damaged"), (tmp_path, "holds no finished run")):
        capsys.readouterr()
        assert main(["compare", str(bad), str(runs["new"])]) == 2
        error = capsys.readouterr().err
        assert word in error and error.count("\n") == 1


def changed(run: Run, key: str, value) -> Run:
    """The run with one setting of its manifest replaced."""
    manifest = copy.deepcopy(dict(run.manifest))
    place = manifest["settings"]
    *parts, last = key.split(".")
    for part in parts:
        place = place[int(part)] if isinstance(place, list) else place[part]
    place[int(last) if isinstance(place, list) else last] = value
    return Run(results=run.results, chosen=run.chosen, groups=run.groups, items=run.items, manifest=manifest)


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("k", [10, 5, 20], "k differs ([40] and [5, 10, 20])"),
        ("k", ["all", 10], "k differs ([40] and [10, 'all'])"),
        ("prefilter.top", 500, "prefilter.top"),
        ("encoder.column", "other", "encoder.column"),
        ("reference.0.kind", "balanced", "reference.population.kind"),
        ("reference.0.name", "other", "reference."),
        ("function_classes.0.name", "tree", "function_classes"),
        ("function_classes", [], "function_classes"),
        ("report.group_attributes", 3, "report.group_attributes"),
        ("dataset.0.attributes.age.bins", [30, 50], "dataset.people.attributes.age.bins"),
        ("dataset.0.attributes.race.map", {"dun": "cyan"}, "dataset.people.attributes.race.map"),
    ],
)
def test_settings_that_make_values_incomparable_are_refused(runs, key, value, named):
    old = load(runs["old"])
    with pytest.raises(UsageError) as caught:
        compare(old, changed(old, key, value))
    assert named in str(caught.value) and "differs" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"), [("output", "elsewhere"), ("dataset.0.path", "monday.parquet"), ("prefilter.backend", "torch")]
)
def test_settings_that_place_things_may_differ(runs, key, value):
    old = load(runs["old"])
    assert compare(old, changed(old, key, value)).remarks == []


def test_other_settings_are_remarked(runs):
    old = load(runs["old"])
    assert compare(old, changed(old, "seed", 5)).remarks == ["seed differs (0 and 5)"]


def with_tables(run: Run, **tables) -> Run:
    kept = {name: getattr(run, name) for name in ("results", "chosen", "groups", "items", "manifest")}
    return Run(**kept | tables)


def test_queries_of_one_run_alone_are_listed(runs):
    old, new = (load(runs[side]) for side in ("old", "new"))
    fewer = with_tables(old, results=old.results[old.results["query"] != "pilot"])
    found = compare(fewer, new)
    assert (found.only_old, found.only_new) == ([], [("people", "population", "pilot", K)])
    assert len(found.cases) == 4 and found.has_regression
    assert "note: only in NEW: pilot" in to_text(found, ABOUT)


def test_references_share_a_query_and_texts_of_the_data_are_no_markup(runs):
    old, new = (load(runs[side]) for side in ("old", "new"))
    twice = [
        with_tables(
            run,
            results=pd.concat([run.results, run.results.assign(reference="a|<b>*")]),
            groups=pd.concat([run.groups, run.groups.assign(reference="a|<b>*")]),
        )
        for run in (old, new)
    ]
    found = compare(*twice)
    assert len(found.cases) == 10 and found.cases["is_regression"].sum() == 2
    assert summary(found).startswith("5 queries compared; 1 moved beyond chance")
    text = to_markdown(found, ABOUT)
    assert "reference a&#124;&#60;b&#62;\\*" in text and "<b>" not in text
    assert all(line.count("|") in (0, 7, 8) for line in text.splitlines())


def test_pools_and_references_of_other_sizes_or_shares_are_refused(runs):
    old = load(runs["old"])
    smaller = with_tables(old, results=old.results.assign(n_pool=600))
    with pytest.raises(UsageError, match="holds 700 items in OLD and 600 in NEW.*prefilter.top of at most 600"):
        compare(old, smaller)
    larger = with_tables(old, results=old.results.assign(reference_size=4 * old.results["reference_size"]))
    with pytest.raises(UsageError, match="reference population counts 800 people in OLD and 3,200 in NEW"):
        compare(old, larger)
    grown = with_tables(old, results=old.results.assign(reference_size=1.02 * old.results["reference_size"]))
    assert "counts 800 people in OLD and 816 in NEW" in compare(old, grown).remarks[0]
    drift = old.groups["share_reference"].where(old.groups["group"] != "gender=female", lambda share: share + 0.03)
    with pytest.raises(UsageError, match="reference population differs .gender=female was"):
        compare(old, with_tables(old, groups=old.groups.assign(share_reference=drift)))
    with pytest.raises(UsageError, match="NEW holds no selection of method top_k"):
        compare(old, with_tables(old, results=old.results.assign(method="mmr")))
    with pytest.raises(UsageError, match="share no query"):
        compare(old, with_tables(old, results=old.results.assign(query="other")))


def test_a_new_label_of_the_same_item_counts_as_left_and_come(runs):
    old = load(runs["old"])
    items = old.items.copy()
    items["labels"] = [dict(labels) | {"gender": "female"} for labels in items["labels"]]
    found = compare(old, with_tables(old, items=items)).cases.set_index("query")
    selected = old.items.loc[[("people", old.chosen.ids[code]) for code in old.chosen.row(0)], "labels"]
    men = sum(dict(labels)["gender"] == "male" for labels in selected)
    assert found.loc[old.results.loc[0, "query"], "items_changed"] == men > 0
