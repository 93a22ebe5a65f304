"""Labels by hand beside a probe: how often it is wrong about the audited items, or what is known of some of them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from jobs.cli import main
from jobs.config.file import read_config
from jobs.errors import UsageError

from ..conftest import people, settings, write_audit

LABELLED = {"name": "volunteers", "path": "labelled.parquet", "id": "person", "attributes": {"gender": {}}}


@pytest.fixture
def truth(tmp_path) -> pd.Series:
    """An audit of people whose gender a probe predicts; the true one by id."""
    table = people(1)
    table["person"] = [f"v{number:03d}" for number in range(len(table))]
    table.to_parquet(tmp_path / "labelled.parquet")
    audited = people()
    write_audit(
        tmp_path,
        audited.drop(columns="gender"),
        ["nurse"],
        dataset=settings()["dataset"] | {"attributes": {"gender": {"probe": "gender"}}},
        probes={"gender": {"dataset": LABELLED}},
        methods=["top_k"],
        function_classes=["linear"],
        shard_items=200,
    )
    found: pd.Series = audited.set_index("person")["gender"]
    return found


def audit(folder: Path, name: str, *settings: str) -> int:
    given = [part for one in settings for part in ("--set", f"dataset.attributes.gender.{one}")]
    return main(["run", str(folder / "audit.yaml"), "--output", str(folder / name), *given])


def label(folder: Path, truth: pd.Series, count: int) -> None:
    """What somebody does with the page."""
    assert main(["label-sample", str(folder / "first"), "--count", str(count)]) == 0
    rows = pd.read_csv(folder / "first" / "label-sample" / "sample.csv", dtype=str)
    rows["gender"] = truth[rows["item_id"]].to_numpy()
    rows[["item_id", "gender", "inclusion_probability"]].to_csv(folder / "labels.csv", index=False)


def women(folder: Path, name: str) -> pd.Series:
    groups = pd.read_parquet(folder / name / "groups")
    return groups[groups["group"] == "gender=female"].iloc[0]


def true_share(folder: Path, truth: pd.Series) -> float:
    rows = pd.read_parquet(folder / "first" / "results")
    return float(np.mean(truth[list(rows["item_ids"].iloc[0])] == "female"))


@pytest.mark.parametrize("errors", [(), pytest.param(("errors=probabilities",), marks=pytest.mark.system)])
def test_labels_of_all_items_say_the_true_share(tmp_path, truth, errors):
    assert audit(tmp_path, "first", *errors) == 0
    label(tmp_path, truth, 120)
    assert audit(tmp_path, "second", *errors, "hand_labels=labels.csv") == 0
    row = women(tmp_path, "second")
    assert row["share_corrected"] == pytest.approx(true_share(tmp_path, truth), abs=1e-9)


@pytest.mark.system
def test_some_labels_say_how_often_the_probe_is_wrong_about_these_items(tmp_path, truth, capsys):
    assert audit(tmp_path, "first", "errors=held_out") == 0
    label(tmp_path, truth, 60)
    given = ("--set", "dataset.attributes.gender.hand_labels=labels.csv")
    assert main(["plan", str(tmp_path / "audit.yaml"), *given]) == 0
    assert "hand_confusion" in capsys.readouterr().out
    assert audit(tmp_path, "second", "hand_labels=labels.csv") == 0
    row = women(tmp_path, "second")
    assert row["share_corrected_low"] <= true_share(tmp_path, truth) <= row["share_corrected_high"]
    # Both sides are read by what was found here.
    assert row["share_reference_corrected"] != women(tmp_path, "first")["share_reference_corrected"]
    assert main(["verify", str(tmp_path / "second")]) == 0


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("p000", "femal")], "labels.csv:2: 'femal' is no level of the attribute; did you mean 'female'?"),
        ([("p000", "female"), ("x", "male")], "labels.csv:3: the data have no item 'x'"),
    ],
)
def test_labels_that_do_not_fit_are_at_fault_in_their_line(tmp_path, truth, capsys, rows, said):
    with (tmp_path / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("item_id", "gender"), *rows])
    assert audit(tmp_path, "first", "hand_labels=labels.csv") == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert said in line


def test_two_confusions_are_one_too_many(tmp_path, truth):
    block = settings()["dataset"] | {
        "attributes": {"gender": {"probe": "gender", "errors": "held_out", "hand_labels": "labels.csv"}}
    }
    path = write_audit(tmp_path, dataset=block, probes={"gender": {"dataset": LABELLED}})
    with pytest.raises(UsageError, match="errors held_out and hand_labels both say"):
        read_config(path)
