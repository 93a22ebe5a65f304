"""`mpr-audit exhibits` over finished audits: every exhibit from one run, several runs as one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from jobs.analysis.curves import trade_offs
from jobs.analysis.joined_runs import load_together
from jobs.cli import main
from jobs.report.exhibits import EXHIBITS
from tests.jobs.conftest import DIMENSION, people, write_audit

CLASSES = ["linear", "linear_regression", "tree", "tree_greedy", "groups"]
METHODS = [
    "top_k",
    {"mopr": {"points": 5, "targets": ["linear"]}},
    {"mopr_qp": {"points": 5, "targets": ["linear"]}},
    {"mopr_integer": {"points": 5, "targets": ["linear"]}},
    {"mopr_paper": {"points": 5, "rounds": 5, "targets": ["linear"]}},
    {"mmr": {"values": [0.0, 0.5]}},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exhibits")
    audit = write_audit(folder, function_classes=CLASSES, methods=METHODS)
    assert main(["run", str(audit), "--output", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def made(run):
    output = run.parent / "made"
    assert main(["exhibits", str(run), "--output", str(output)]) == 0
    return output


def test_every_exhibit_is_made_in_four_formats(made):
    # One reference and one k serve all queries here: there is nothing to regress on, and no axis.
    for name in EXHIBITS.keys() - {"over_k", "shown_and_expected"}:
        assert (made / f"{name}.csv").exists() and (made / f"{name}.tex").exists(), name
        drawings = [made / f"{name}.svg"] if (made / f"{name}.svg").exists() else list((made / name).glob("*.svg"))
        assert drawings and all(path.with_suffix(".png").exists() for path in drawings), name


def test_rounded_sets_meet_rho_and_lose_no_less_than_the_best(made):
    rows = pd.read_csv(made / "lp_and_integer.csv")
    assert set(rows["method"]) == {"mopr", "mopr_paper", "mopr_integer"}
    met = rows[rows["status"].isin(["optimal", "feasible"])]
    assert (met["mpr"] <= met["rho"] + 1e-9).all()
    keys = ["query", "rho"]
    both = met[met["method"] == "mopr"].merge(met[met["method"] == "mopr_integer"], on=keys, suffixes=("", "_best"))
    assert len(both) and (both["similarity"] <= both["similarity_best"] + 1e-12).all()
    assert (both["similarity_best"] <= both["relaxation_bound"] + 1e-9).all()


def test_both_ways_to_the_relaxation_agree(made):
    rows = pd.read_csv(made / "cutting_plane_and_cone.csv")
    ours = rows[rows["planes"] == "mopr"].dropna(subset=["relaxation_bound_planes", "relaxation_bound_mopr_qp"])
    assert len(ours) and (ours["relaxation_bound_planes"] - ours["relaxation_bound_mopr_qp"]).abs().max() < 1e-6


def test_regression_finds_the_linear_value_and_a_greedy_tree_no_more_than_the_best(made):
    rows = pd.read_csv(made / "oracle_and_closed_form.csv")
    linear, tree = rows[rows["exact"] == "linear"], rows[rows["exact"] == "tree"]
    assert (linear["mpr_oracle"] - linear["mpr_exact"]).abs().max() < 1e-9
    assert len(tree) and (tree["mpr_oracle"] <= tree["mpr_exact"] + 1e-12).all()


def test_measures_of_the_order_are_the_recorded_ones(made, run):
    rows = pd.read_csv(made / "order_measures.csv")
    results = pd.read_parquet(run / "results")
    top = results[(results["method"] == "top_k") & (results["function_class"] == "linear")].set_index("query")
    found = rows[(rows["method"] == "top_k") & (rows["function_class"] == "linear")].set_index("query")
    for name in ("awrf", "ndkl", "max_skew", "min_skew", "ndcg", "precision"):
        assert found[name].to_dict() == pytest.approx(top[name].to_dict())


def test_intersections_are_the_recorded_shares(made, run):
    rows = pd.read_csv(made / "intersections.csv")
    groups = pd.read_parquet(run / "groups")
    top = groups[(groups["method"] == "top_k") & (groups["attributes"] == 2)]
    expected = top.groupby("group")["share_selected"].agg(["mean", "std"])
    own = rows[rows["series"] == "top_k"].set_index("group")
    assert set(own.index) == set(expected.index)
    for group, row in own.iterrows():
        assert row["share_mean"] == pytest.approx(expected.loc[group, "mean"])
        assert row["share_deviation"] == pytest.approx(expected.loc[group, "std"])


def test_sheets_hold_the_items_in_their_order(made, run):
    rows = pd.read_csv(made / "contact_sheets.csv")
    results = pd.read_parquet(run / "results")
    [top] = results[
        (results["method"] == "top_k") & (results["query"] == "nurse") & (results["function_class"] == "linear")
    ]["item_ids"]
    own = rows[(rows["query"] == "nurse") & (rows["series"] == "top_k")]
    assert own["item_id"].tolist() == list(top)[: len(own)]
    assert own["labels"].str.contains("gender=").all()


def test_runs_of_other_data_stay_apart_and_one_run_twice_is_one(run, tmp_path):
    alone, twice = load_together([run]), load_together([run, run])
    other = tmp_path / "other"
    shutil.copytree(run, other, ignore=shutil.ignore_patterns("units", "receipts", "report"))
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["data"][0]["fingerprint"] = "other people"
    (other / "manifest.json").write_text(json.dumps(manifest | {"name": "other"}))
    both = load_together([run, other])
    assert set(twice.results["dataset"]) == {"items"}
    assert len(trade_offs(twice.results)) == len(trade_offs(alone.results))
    assert set(both.results["dataset"]) == set(both.groups["dataset"]) == {"items", "items (other)"}
    assert len(trade_offs(both.results)) == 2 * len(trade_offs(alone.results))
    assert ("items (other)", both.chosen.ids[0]) in both.items.index


@pytest.mark.system
def test_similarities_that_are_not_positive(tmp_path):
    """Queries that point away from everybody, across everybody, and with everybody, alone and together."""
    table = people()
    vectors = np.stack(table["embedding"])
    # Everybody points along the last axis, and nobody along the first.
    vectors[:, 0], vectors[:, -1] = 0.0, 3.0
    table["embedding"] = list(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    runs = {}
    for name, signs in {"away": (-1, -1), "across": (0, 0), "mixed": (1, -1)}.items():
        (tmp_path / name).mkdir()
        path = write_audit(tmp_path / name, table, name=name, methods=METHODS, function_classes=["linear"])
        asked = np.zeros((2, DIMENSION), dtype=np.float32)
        for vector, sign in zip(asked, signs):
            vector[-1 if sign else 0], vector[1] = sign or 1, 0.1 if sign else 0
        asked /= np.linalg.norm(asked, axis=1, keepdims=True)
        queries = pd.DataFrame({"query": ["nurse", "chef"], "vector": list(asked)})
        queries.to_parquet(tmp_path / name / "queries.parquet")
        runs[name] = str(tmp_path / name / "run")
        assert main(["run", str(path), "--output", runs[name]]) == 0
    for names in (["away"], ["across"], ["mixed"], ["across", "mixed"], ["away", "across", "mixed"]):
        made = tmp_path / "-".join(names)
        made.mkdir(exist_ok=True)
        assert main(["exhibits", *(runs[name] for name in names), "--output", str(made / "made")]) == 0, names
    losses = pd.read_csv(tmp_path / "away" / "made" / "lp_and_integer.csv")
    met = losses[losses["status"].isin(["optimal", "feasible"])]
    assert len(met) and (met["similarity"] < 0).all() and (met["loss_percent"] >= -1e-6).all()
    # Means are over the queries that have fractions.
    kept = pd.read_csv(tmp_path / "mixed" / "made" / "smallest_mpr.csv")
    assert set(kept["query"]) == {"nurse"}
    printed = (tmp_path / "mixed" / "made" / "trade_off.tex").read_text().split("top\\_k")[1].split("\n")[0]
    assert "& 1.0000" in printed
    pairs = pd.read_csv(Path(runs["away"]) / "report" / "worst.csv")
    repaired = pairs[pairs["method_repaired"].notna()]
    assert len(repaired) and repaired["similarity_fraction"].isna().all() and (repaired["similarity_loss"] >= 0).all()
    page = (Path(runs["away"]) / "report" / "index.html").read_text(encoding="utf-8")
    # No gap is beyond chance here, so that no verdict speaks of a repair; the list of queries does.
    assert "(the difference, where top-k" in page


def test_a_folder_without_a_run_is_bad_usage(tmp_path, capsys):
    assert main(["exhibits", str(tmp_path / "absent"), "--output", str(tmp_path / "made")]) == 2
    assert "absent" in capsys.readouterr().err
