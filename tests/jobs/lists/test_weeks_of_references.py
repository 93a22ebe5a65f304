"""Two weeks whose references moved: those that each week has its own of compare, and others are refused."""

import json
from pathlib import Path

import pandas as pd
import pytest

from jobs.cli import main

from .audits import write
from .test_weeks import PEOPLE, shown

# What the other engine shows: as many women as men, or few women.
EVEN, FEW = shown(False, depth=16), shown(True, depth=24)


def week(folder: Path, name: str, listed: pd.DataFrame, other: pd.DataFrame, **changes) -> str:
    """The folder of a week's run against another engine's list of the same week."""
    other.to_csv(folder / f"{name}.csv", index=False)
    block = {"path": f"{name}.csv", "item": "item", "rank": "rank"}
    reference = {"name": "theirs", "kind": "results", "results": block}
    path = write(folder, listed, PEOPLE, **{"k": 16, "reference": reference} | changes)
    assert main(["run", str(path), "--output", str(folder / name), "--json"]) == 0
    return str(folder / name)


def compared(capsys, *arguments: str) -> tuple[int, dict, str]:
    capsys.readouterr()
    code = main(["compare", *arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert main(["compare", *arguments]) == code
    return code, found, capsys.readouterr().out


def test_another_engines_list_that_moved_is_each_weeks_own(tmp_path, capsys):
    monday = week(tmp_path, "monday", shown(False), FEW)
    next_monday = week(tmp_path, "next", shown(True), EVEN)
    code, found, text = compared(capsys, monday, next_monday)
    assert code == 4
    [row] = found["queries"]
    # Of 16 shown 8 were men and all are; in the other list 20 of 24 were men, and 8 of 16 are.
    assert (row["gap_old"], row["gap_new"]) == pytest.approx((20 / 24 - 0.5, 0.5))
    assert row["mpr_new"] - row["mpr_old"] == pytest.approx(row["gap_rise"])
    assert row["reference_change"] == pytest.approx(20 / 24 - 0.5)
    assert "50% shown before, 100% now, 83% before and 50% now in the reference" in text
    assert (
        "reference theirs is what another engine showed, and each run has its own: gaps and MPR of OLD are from that "
        "of OLD, and of NEW from that of NEW; it moved by more than 1 point for 1 of 1 selection, most for 'nurse' "
        "(gender=man was 83% of it and is 50%)"
    ) in text


def test_a_rise_that_is_the_references_says_what_the_items_did(tmp_path, capsys):
    """The items shown came nearer to women, but the other list is of women alone."""
    men, women = (shown(True).iloc[place : place + 16] for place in (0, 20))
    monday = week(tmp_path, "monday", shown(True), men)
    next_monday = week(tmp_path, "next", shown(False), women)
    code, found, text = compared(capsys, monday, next_monday)
    [row] = found["regressions"]
    # From men alone to half of them: the mean of both references.
    assert (code, row["gap_old"], row["gap_new"], row["gap_rise_from_mean"]) == (4, 0.0, 0.5, -0.5)
    assert "50.0 now (gender=woman), \u221250.0 from the mean of both references" in text


def test_a_rise_that_is_the_references_alone_is_said_and_no_regression(tmp_path, capsys):
    monday = week(tmp_path, "monday", shown(False), EVEN)
    next_monday = week(tmp_path, "next", shown(False), FEW)
    code, found, text = compared(capsys, monday, next_monday)
    assert (code, found["regressions"], found["moved_groups"]) == (0, [], [])
    assert found["queries"][0]["is_moved_by_reference"] and found["queries"][0]["gap_rise"] > 0.3
    assert (
        "the largest gap or MPR of 'nurse' (largest gap 0.0 points before, 33.3 now) rose as much as in a regression, "
        "and is none: the reference moved"
    ) in text


def test_a_rise_that_is_the_references_names_its_case(tmp_path, capsys):
    monday = week(tmp_path, "monday", shown(False), EVEN, k=[8, 16])
    next_monday = week(tmp_path, "next", shown(False), FEW, k=[8, 16])
    _, _, text = compared(capsys, monday, next_monday)
    assert "MPR of 'nurse, k = 8' (largest gap 0.0 points before, 33.3 now), 'nurse, k = 16' (largest" in text


def test_lists_of_another_size_lose_mpr_of_normalised_classes_alone(tmp_path, capsys):
    classes = ["groups", "linear"]
    monday = week(tmp_path, "monday", shown(False), EVEN, function_classes=classes)
    next_monday = week(tmp_path, "next", shown(True), FEW, function_classes=classes)
    _, found, text = compared(capsys, monday, next_monday)
    assert "MPR under linear is not compared for 1 of 1 cases" in text
    assert "40 items and a reference of 16 in OLD, 40 and 24 in NEW" in text
    assert [row["function_class"] for row in found["queries"]] == ["groups"]


def test_everything_that_was_shown_is_each_weeks_own_population(tmp_path, capsys):
    def run_of(name: str, listed: pd.DataFrame) -> str:
        labelled = listed.merge(PEOPLE, left_on="item", right_on="id").drop(columns="id")
        path = write(tmp_path, labelled, None, k=16, reference={"kind": "population"})
        assert main(["run", str(path), "--output", str(tmp_path / name), "--json"]) == 0
        return str(tmp_path / name)

    code, _, text = compared(capsys, run_of("monday", shown(False)), run_of("next", shown(True, depth=30)))
    assert code == 0 or "regressions" in text
    assert "reference population is everything that the lists show, and each run has its own" in text
    assert "it moved by more than 1 point for all queries (gender=man was 50% of it and is 67%)" in text


def test_a_population_of_a_data_set_that_moved_is_refused_as_all_queries_share_it(tmp_path, capsys):
    folders = []
    for name, people in (("old", PEOPLE), ("new", pd.concat([PEOPLE, PEOPLE[:10].assign(id=list("abcdefghij"),
                                                                                   gender="man")]))):  # fmt: skip
        path = write(tmp_path, shown(False), people, k=16, reference={"kind": "population"})
        folders.append(str(tmp_path / name))
        assert main(["run", str(path), "--output", folders[-1], "--json"]) == 0
    capsys.readouterr()
    assert main(["compare", *folders]) == 2
    said = capsys.readouterr().err
    assert "reference population differs (gender=man was 50% of it and is 60%, for all queries)" in said
    assert "nurse" not in said


def test_a_reference_that_moved_by_a_point_is_within_the_tolerance_of_a_point(tmp_path, capsys):
    folders = []
    for name, men in (("old", 46), ("new", 47)):
        people = PEOPLE.iloc[[0] * 100].assign(id=[f"r{one}" for one in range(100)])
        people["gender"] = ["man"] * men + ["woman"] * (100 - men)
        people.to_csv(tmp_path / "reference.csv", index=False)
        block = {"name": "others", "path": "reference.csv", "id": "id", "attributes": {"gender": {}}}
        path = write(tmp_path, shown(False), PEOPLE, k=16, reference={"kind": "dataset", "dataset": block})
        folders.append(str(tmp_path / name))
        assert main(["run", str(path), "--output", folders[-1], "--json"]) == 0
    assert main(["compare", *folders]) == 0
