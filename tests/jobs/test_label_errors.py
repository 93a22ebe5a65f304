"""Audits of labels whose errors are stated: what results hold, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from jobs.cli import main
from jobs.errors import UsageError
from jobs.plan.label_errors import _expect_no_exchange
from mprlib import Confusion
from tests.jobs.conftest import people, settings, write_audit

CONFUSION = {"female": {"female": 0.9, "male": 0.1}, "male": {"female": 0.1, "male": 0.9}}
CORRECTED = ["mpr_corrected", "mpr_corrected_low", "mpr_corrected_high"]
METHODS = ["top_k", {"mopr": {"values": [0.05, 0.2], "targets": ["linear"]}}]


def written(folder: Path, table: pd.DataFrame | None = None, attributes: dict[str, Any] | None = None, **changes: Any):
    """An audit of people by gender and age, its configuration file."""
    block = settings()["dataset"]
    block["attributes"] = {"age": {"bins": [30, 60]}} | (attributes or {"gender": {"confusion": CONFUSION}})
    return write_audit(folder, table, ["nurse"], dataset=block, **({"methods": METHODS} | changes))


def run(path: Path, name: str, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    """What `run --json` counts."""
    assert main(["run", str(path), "--output", str(path.parent / name), "--json", *more]) == 0
    counts: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return counts


def results(path: Path, name: str) -> pd.DataFrame:
    return pd.read_parquet(path.parent / name / "results")


def test_without_errors_rows_are_those_of_the_labels(tmp_path, capsys):
    path = written(tmp_path)
    run(path, "told", capsys)
    run(path, "plain", capsys, "--set", "dataset.attributes.gender={}")
    told, plain = results(path, "told"), results(path, "plain")
    assert plain[[*CORRECTED, "p_rho"]].isna().all(axis=None)
    groups = pd.read_parquet(tmp_path / "plain" / "groups")
    assert groups[["share_corrected", "share_reference_corrected"]].isna().all(axis=None)
    # What does not select by errors is the same to the last bit.
    same = [name for name in plain.columns if name not in (*CORRECTED, "unit", "run_id", "solve_seconds")]
    pd.testing.assert_frame_equal(
        told[told["method"] == "top_k"][same].reset_index(drop=True),
        plain[plain["method"] == "top_k"][same].reset_index(drop=True),
    )


def test_values_by_the_true_labels_stand_beside_the_others(tmp_path, capsys):
    path = written(tmp_path)
    run(path, "run", capsys)
    rows = results(path, "run")
    assert rows[CORRECTED].notna().all(axis=None)
    assert (rows["mpr_corrected_low"] <= rows["mpr_corrected_high"]).all()
    constrained = rows[rows["method"] == "mopr"]
    assert constrained["p_rho"].notna().all()
    assert (constrained["status"].isin(["feasible", "optimal"]) == (constrained["p_rho"] >= 0.9)).all()
    page = (tmp_path / "run" / "report" / "index.html").read_text(encoding="utf-8")
    assert "Labels are <strong>predicted</strong>" in page
    assert "by predicted labels" in page
    assert main(["verify", str(tmp_path / "run")]) == 0


def test_another_confusion_computes_selections_alone(tmp_path, capsys):
    path = written(tmp_path)
    run(path, "run", capsys)
    changed = {"female": {"female": 0.8, "male": 0.2}, "male": {"female": 0.1, "male": 0.9}}
    counts = run(path, "run", capsys, "--set", f"dataset.attributes.gender.confusion={json.dumps(changed)}")
    assert counts["computed"] == len(METHODS)


def test_a_confusion_may_be_a_table_of_counts(tmp_path, capsys):
    lines = ["true,predicted,count", "female,female,90", "female,male,10", "male,male,45", "male,female,5"]
    (tmp_path / "confusion.csv").write_text("\n".join(lines), encoding="utf-8")
    path = written(tmp_path, attributes={"gender": {"confusion": "confusion.csv"}})
    run(path, "run", capsys)
    assert results(path, "run")["mpr_corrected"].notna().all()


def test_probabilities_may_be_columns(tmp_path, capsys):
    table = people()
    likely = np.where(table["gender"] == "female", 0.9, 0.15)
    table = table.assign(p_female=likely, p_male=1 - likely)
    columns = {"female": "p_female", "male": "p_male"}
    path = written(tmp_path, table, {"gender": {"probabilities": columns}}, prefilter={"top": 30})
    run(path, "run", capsys)
    assert results(path, "run")["mpr_corrected"].notna().all()
    groups = pd.read_parquet(tmp_path / "run" / "groups")
    # One population has the same shares whatever the query: the means over all people, not over those near it.
    expected = np.average(likely, weights=table["weight"])
    women = groups[groups["group"] == "gender=female"]
    assert women["share_reference_corrected"].to_numpy() == pytest.approx(expected, abs=1e-9)


def test_a_reference_of_a_pool_counts_probabilities_by_weights(tmp_path, capsys):
    table = people()
    likely = np.where(table["gender"] == "female", 0.9, 0.15)
    # Those who are surely what their label says weigh more.
    is_sure = np.arange(len(table)) % 3 == 0
    likely = np.where(is_sure, np.round(likely), likely)
    table = table.assign(p_female=likely, p_male=1 - likely, weight=np.where(is_sure, 5.0, 1.0))
    attribute = {"probabilities": {"female": "p_female", "male": "p_male"}}
    reference = {"kind": "population", "query_conditioned": True}
    top = {"top": len(table)}
    path = written(tmp_path, table, {"gender": attribute}, prefilter=top, reference=reference, methods=["top_k"])
    run(path, "run", capsys)
    groups = pd.read_parquet(tmp_path / "run" / "groups")
    women = groups[groups["group"] == "gender=female"]
    expected = np.average(likely, weights=table["weight"])
    assert women["share_reference_corrected"].to_numpy() == pytest.approx(expected, abs=1e-9)


def test_a_weak_confusion_is_said_to_be_weak(tmp_path, capsys):
    lot = {"female": {"female": 0.5, "male": 0.5}, "male": {"female": 0.5, "male": 0.5}}
    path = written(tmp_path, attributes={"gender": {"confusion": lot}}, methods=["top_k"])
    assert main(["run", str(path), "--output", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    assert "shown by predicted labels (by the true ones not known)" in printed
    page = (tmp_path / "run" / "report" / "index.html").read_text(encoding="utf-8")
    assert "Labels are <strong>predicted</strong>" in page
    assert "by predicted labels (by the true ones not known)" in page
    rows = results(path, "run")
    assert rows[CORRECTED].isna().all(axis=None)
    assert rows["message"].str.contains("cannot be told from labels drawn by lot").all()


@pytest.mark.parametrize(
    ("column", "amounts", "said"),
    [
        ("share", (90, 10, 5, 45), "confusion.csv:2: shares of true 'female' sum to 100: 1 is expected"),
        ("share", (0.9, 0.2, 0.1, 0.9), "confusion.csv:2: shares of true 'female' sum to 1.1: 1 is expected"),
        ("count", (0.9, 0.1, 0.1, 0.9), "row female sums to 1: counts"),
        ("count,share", ("90,0.9", "10,0.1", "5,0.1", "45,0.9"), "a column count and a column share: one of them"),
    ],
)
def test_a_file_s_column_says_what_its_numbers_are(tmp_path, capsys, column, amounts, said):
    pairs = ["female,female", "female,male", "male,female", "male,male"]
    lines = [f"true,predicted,{column}", *(f"{pair},{amount}" for pair, amount in zip(pairs, amounts))]
    (tmp_path / "confusion.csv").write_text("\n".join(lines), encoding="utf-8")
    path = written(tmp_path, attributes={"gender": {"confusion": "confusion.csv"}})
    assert main(["plan", str(path), "--output", str(tmp_path / "run")]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert said in line and "confusion.csv" in line
    assert "audit.yaml:" in line and "dataset.attributes.gender.confusion" in line


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ({"confusion": {"female": {"female": 1.0}, "man": {"man": 1.0}}}, "no row of the level 'male'"),
        ({"confusion": {"female": {"female": 0.9, "mail": 0.1}, "male": {"male": 1.0}}}, "no row of true 'mail'"),
        (
            {"confusion": {"female": {"female": 0.9, "male": 0.3}, "male": {"male": 0.4}}},
            "row female sums to 1.2: shares of 1",
        ),
        (
            {"confusion": {"female": {"female": 0.9, "male": 0.2}, "male": {"male": 1}}},
            "row female sums to 1.1: shares",
        ),
        (
            {"confusion": {"female": {"female": 90, "male": 10}, "male": {"male": 1.0, "female": 0.05}}},
            "row female sums to 100: counts, or shares of 1 in every row",
        ),
        (
            {"confusion": {"female": {"female": 1.2, "male": 0.2}, "male": {"male": 0.9, "female": 0.1}}},
            "row female sums to 1.4",
        ),
        ({"confusion": {"female": {"female": -1, "male": 2}, "male": {"male": 1}}}, "cannot be negative"),
        (
            {"confusion": {}},
            "confusion: is empty, and at least two levels are needed: {true level: {predicted level: share",
        ),
        ({"confusion": {"female": {"female": 1}}}, "confusion: has one level, 'female', and at least two levels"),
        ({"confusion": {"female": {}, "male": {"male": 1}}}, "no row whose true level is female"),
        ({"confusion": "absent.csv"}, "does not exist"),
        ({"confusion": 7}, "a block of settings is expected"),
        ({"confusion": CONFUSION, "probabilities": {"female": "age", "male": "age"}}, "one of them"),
        ({"probabilities": {"female": "age", "male": "age"}}, "numbers from 0 to 1 that sum to 1"),
        ({"probabilities": {"female": "absent", "male": "age"}}, "lacks the column 'absent'"),
    ],
)
def test_what_says_nothing_is_refused_in_one_line(tmp_path, capsys, attribute, said):
    path = written(tmp_path, attributes={"gender": attribute})
    assert main(["plan", str(path), "--output", str(tmp_path / "run")]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert said in lines[0]
    assert "audit.yaml" in lines[0]


@pytest.mark.parametrize("setting", [{"order": "fair"}, {"attention": "log2"}], ids=str)
def test_orders_of_labels_that_may_be_wrong_are_refused_before_anything_is_computed(tmp_path, capsys, setting):
    path = written(tmp_path, methods=["top_k", {"mopr": {"values": [0.2], **setting}}])
    assert main(["plan", str(path), "--output", str(tmp_path / "run")]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    name = next(iter(setting))
    assert f"methods.1.mopr.{name}" in line and "audit.yaml:" in line
    assert "labels of 'gender' may be wrong" in line


def test_orders_of_other_labels_are_none_of_them(tmp_path):
    by_default = {"values": [0.2], "order": "score", "attention": "uniform"}
    path = written(tmp_path, methods=["top_k", {"mopr": by_default}])
    assert main(["plan", str(path), "--output", str(tmp_path / "run")]) == 0
    path = written(
        tmp_path,
        function_classes=[{"linear": {"over": ["age"]}}],
        methods=["top_k", {"mopr": {"values": [0.2], "order": "fair"}}, {"det_greedy": {"order": "fair"}}],
    )
    assert main(["plan", str(path), "--output", str(tmp_path / "run")]) == 0


@pytest.mark.parametrize(
    ("confusion", "said"),
    [
        ({"female": {"female": 11, "male": 9}, "male": {"female": 10, "male": 10}},
         ["dataset items: the confusion of 'gender' cannot be told from labels drawn by lot", "would be needed"]),
        ({"female": {"female": 0.5, "male": 0.5}, "male": {"female": 0.5, "male": 0.5}},
         ["label the shown items themselves"]),
        ({"female": {"female": 0.4, "male": 0.6}, "male": {"female": 0.05, "male": 0.95}},
         ["most items that are 'female' are labelled 'male': rows are true levels and columns predicted ones"]),
        ({"female": {"female": 0.9, "other": 0.1}, "male": {"male": 1}, "other": {"other": 1}},
         ["the confusion of 'gender' has 'other', and no item has that label"]),
        (CONFUSION, []),
    ],
)  # fmt: skip
def test_a_plan_notes_confusions_that_say_little_or_may_be_meant_otherwise(tmp_path, capsys, confusion, said):
    path = written(tmp_path, attributes={"gender": {"confusion": confusion}})
    assert main(["plan", str(path), "--output", str(tmp_path / "run"), "--json"]) == 0
    notes = [note for note in json.loads(capsys.readouterr().out)["notes"] if "confusion" in note]
    assert len(notes) == bool(said)
    assert all(one in notes[0] for one in said)


@pytest.mark.parametrize(
    ("levels", "confusion", "said"),
    [
        (["female", "male"], {"female": {"female": 0.1, "male": 0.9}, "male": {"female": 0.8, "male": 0.2}},
         "are 'female' are labelled 'male' and 'male' are labelled 'female': gaps of true labels would have the other"),
        (["a", "b", "c"], {"a": {"b": 9, "a": 1}, "b": {"c": 9, "b": 1}, "c": {"a": 9, "c": 1}},
         "'a' are labelled 'b' and 'b' are labelled 'c' and 'c' are labelled 'a'"),
        # Of a few hand labels, and of labels that say little, nothing of the kind is known.
        (["female", "male"], {"female": {"female": 9, "male": 11}, "male": {"female": 11, "male": 9}}, None),
    ],
)  # fmt: skip
def test_a_confusion_that_exchanges_levels_is_refused_before_a_headline_changes_its_sign(levels, confusion, said):
    table = Confusion.from_table(confusion)
    assert sorted(table.levels) == levels
    if said is None:
        _expect_no_exchange(table)
        return
    with pytest.raises(UsageError, match=said):
        _expect_no_exchange(table)


def test_an_exchanged_confusion_is_named_with_its_setting(tmp_path, capsys):
    exchanged = {"female": {"female": 0.1, "male": 0.9}, "male": {"female": 0.8, "male": 0.2}}
    path = written(tmp_path, attributes={"gender": {"confusion": exchanged}})
    assert main(["plan", str(path), "--output", str(tmp_path / "run")]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert "dataset.attributes.gender.confusion" in line and "name them as they are meant, with map" in line
    rows = [f"{true},{predicted},{share}" for true, row in exchanged.items() for predicted, share in row.items()]
    (tmp_path / "wrong.csv").write_text("\n".join(["true,predicted,share", *rows]), encoding="utf-8")
    path = written(tmp_path, attributes={"gender": {"confusion": "wrong.csv"}})
    assert main(["plan", str(path), "--output", str(tmp_path / "run")]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert "dataset.attributes.gender.confusion: wrong.csv: most items that are 'female'" in line
    (tmp_path / "wrong.csv").write_text("true,guess,share\na,a,1\n", encoding="utf-8")
    assert main(["plan", str(path), "--output", str(tmp_path / "run")]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert line.count("confusion: ") == 1 and "wrong.csv lacks the column 'predicted'" in line


def test_the_page_says_chance_level_of_what_the_run_claims_and_of_nothing_else(tmp_path, capsys):
    for name, right in (("sure", 0.995), ("unsure", 0.6)):
        confusion = {"female": {"female": right, "male": 1 - right}, "male": {"female": 1 - right, "male": right}}
        path = written(
            tmp_path,
            attributes={"gender": {"confusion": confusion}},
            methods=["top_k", {"mopr": {"values": ["chance", 0.9], "targets": ["linear"]}}],
        )
        run(path, name, capsys)
        rows = results(path, name)
        claimed = rows[
            (rows["function_class"] == "linear") & rows["p_rho"].notna() & (rows["rho"] <= rows["mpr_chance"])
        ]
        worst = pd.read_csv(tmp_path / name / "report" / "worst.csv")
        assert len(claimed) == 1
        assert worst["is_predicted"].all()
        assert (claimed["p_rho"] >= 0.9).item() == (name == "sure")
        assert worst["is_repaired_to_chance"].eq(name == "sure").all()
