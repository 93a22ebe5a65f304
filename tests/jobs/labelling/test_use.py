"""From a run to a run with corrected labels: a sample, its labels in a CSV, and what a run makes of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from jobs.cli import main
from tests.jobs.conftest import people, write_audit

# Of how many people the label is another one than it should be.
WRONG = 0.15


@pytest.fixture
def truth(tmp_path) -> pd.Series:
    """An audit of people some of whose genders are predicted wrongly; the true ones by id."""
    table = people()
    true = table.set_index("person")["gender"]
    generator = np.random.default_rng(3)
    is_wrong = generator.uniform(size=len(table)) < WRONG
    table["predicted"] = np.where(is_wrong, np.where(table["gender"] == "male", "female", "male"), table["gender"])
    write_audit(
        tmp_path,
        table,
        dataset={
            "kind": "table",
            "path": "people.parquet",
            "id": "person",
            "attributes": {"gender": {"column": "predicted"}},
        },
        methods=["top_k", {"mopr": {"points": 3, "targets": ["linear"]}}],
    )
    return true


def audit(folder: Path, name: str, *more: str) -> int:
    return main(["run", str(folder / "audit.yaml"), "--output", str(folder / name), *more])


WITH_LABELS = ("--set", "dataset.attributes.gender.hand_labels=labels.csv")


def label(folder: Path, truth: pd.Series, count: int) -> None:
    """What somebody does with the page."""
    assert main(["label-sample", str(folder / "first"), "--count", str(count)]) == 0
    with (folder / "first" / "label-sample" / "sample.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "gender", "inclusion_probability", "prediction_shown"])
        for row in rows:
            writer.writerow([row["item_id"], truth[row["item_id"]], row["inclusion_probability"], "no"])


def shares(folder: Path, name: str) -> pd.DataFrame:
    groups = pd.read_parquet(folder / name / "groups")
    groups = groups[(groups["method"] == "top_k") & (groups["group"] == "gender=female")]
    return groups.set_index("query").sort_index()


def true_shares(folder: Path, truth: pd.Series) -> pd.Series:
    rows = pd.read_parquet(folder / "first" / "results")
    rows = rows[(rows["method"] == "top_k") & (rows["function_class"] == "linear")]
    found = {row["query"]: np.mean(truth[list(row["item_ids"])] == "female") for _, row in rows.iterrows()}
    return pd.Series(found).sort_index()


def test_labels_of_all_items_say_the_true_shares(tmp_path, truth):
    assert audit(tmp_path, "first") == 0
    label(tmp_path, truth, 120)
    assert audit(tmp_path, "second", *WITH_LABELS) == 0
    before, after = shares(tmp_path, "first"), shares(tmp_path, "second")
    assert before["share_corrected"].isna().all()
    assert after["share_corrected"].to_numpy() == pytest.approx(true_shares(tmp_path, truth).to_numpy(), abs=1e-9)
    assert (after["share_selected"] == before["share_selected"]).all()
    assert after["share_corrected_high"].to_numpy() == pytest.approx(after["share_corrected_low"].to_numpy(), abs=1e-9)
    results = pd.read_parquet(tmp_path / "second" / "results")
    assert results["mpr_corrected"].notna().all()


def test_labels_of_all_shown_items_leave_nothing_open_of_them(tmp_path, truth):
    """Few items are shown here, and their own labels say more than those of any others."""
    assert audit(tmp_path, "first") == 0
    label(tmp_path, truth, 40)
    assert audit(tmp_path, "second", *WITH_LABELS) == 0
    found = shares(tmp_path, "second")
    assert found["share_corrected"].to_numpy() == pytest.approx(true_shares(tmp_path, truth).to_numpy(), abs=1e-9)


def test_labels_of_other_items_narrow_what_may_be_true(tmp_path, truth):
    """A CSV made by other means: two columns."""
    assert audit(tmp_path, "first") == 0
    true, widths = true_shares(tmp_path, truth), []
    for count in (40, 90):
        rows = truth.reset_index().rename(columns={"person": "item_id"}).head(count)
        rows.to_csv(tmp_path / "labels.csv", index=False)
        assert audit(tmp_path, f"with {count}", *WITH_LABELS) == 0
        found = shares(tmp_path, f"with {count}")
        assert (found["share_corrected_low"] <= true + 1e-9).all()
        assert (found["share_corrected_high"] >= true - 1e-9).all()
        widths.append(float(np.mean(found["share_corrected_high"] - found["share_corrected_low"])))
    assert 0 < widths[1] < widths[0]


def test_the_same_labels_compute_nothing_and_one_more_computes_what_depends_on_it(tmp_path, truth, capsys):
    assert audit(tmp_path, "first") == 0
    label(tmp_path, truth, 30)
    counted = []
    for _ in range(2):
        capsys.readouterr()
        assert audit(tmp_path, "first", "--json", *WITH_LABELS) == 0
        counted.append(json.loads(capsys.readouterr().out.splitlines()[-1])["computed"])
    # Four units that solve, and the labels; vectors and pools stay.
    assert counted == [5, 0]
    label(tmp_path, truth, 31)
    capsys.readouterr()
    assert audit(tmp_path, "first", "--json", *WITH_LABELS) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["computed"] == 5


def test_a_second_sample_knows_what_the_first_has_said(tmp_path, truth, capsys):
    assert audit(tmp_path, "first") == 0
    label(tmp_path, truth, 60)
    assert audit(tmp_path, "second", *WITH_LABELS) == 0
    drawn = []
    for error in ("0.05", "0.4"):
        for run in ("first", "second"):
            capsys.readouterr()
            assert main(["label-sample", str(tmp_path / run), "--count", "60", "--error", error, "--json"]) == 0
            drawn.append(json.loads(capsys.readouterr().out)["variance_ratio"])
    assert drawn[0] != drawn[2] and drawn[1] == drawn[3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item_id,gender\np000,male\nnobody,male\n", "labels.csv:3: the data have no item 'nobody'"),
        ("item_id,gender\np000,men\n", "labels.csv:2: 'men' is no level of the attribute"),
        ("item_id,sex\np000,male\n", "labels.csv:1: no column 'gender'"),
        (None, "labels.csv: No such file"),
    ],
)
def test_labels_that_are_of_no_use_are_one_sentence(tmp_path, truth, capsys, text, said):
    if text is not None:
        (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    assert audit(tmp_path, "run", *WITH_LABELS) == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count("\n") == 1
