"""The shipped demo, cut to two queries: real texts, real encoder, real Ray."""

from pathlib import Path

import pandas as pd
import pytest

from jobs.cli import main

DEMO = Path(__file__).resolve().parents[2] / "jobs" / "configs" / "demo.yaml"


@pytest.fixture(scope="module")
def output(tmp_path_factory, cluster):
    folder = tmp_path_factory.mktemp("demo")
    queries = "queries.list=[nurse, chief executive officer]"
    methods = "methods=[top_k, {mopr: {points: 50, targets: [linear]}}]"
    code = main(["run", str(DEMO), "--output", str(folder), "--set", queries, "--set", methods])
    assert code == 0
    return folder


def share_of_women(output, query, method, value=None) -> tuple[float, float]:
    """Share selected and share in the reference."""
    groups = pd.read_parquet(output / "groups")
    rows = groups[(groups["query"] == query) & (groups["method"] == method) & (groups["group"] == "sex=woman")]
    if value is not None:
        rows = rows[rows["parameter_value"] == value]
    [row] = rows.itertuples()
    return row.share_selected, row.share_reference


def smallest_met_rho(output, query) -> float:
    results = pd.read_parquet(output / "results")
    met = results[
        (results["query"] == query)
        & (results["method"] == "mopr")
        & (results["function_class"] == "linear")
        & results["status"].isin(["optimal", "feasible"])
    ]
    return met["parameter_value"].min()


def test_top_k_shows_one_sex_and_mopr_the_population(output):
    shown, expected = share_of_women(output, "nurse", "top_k")
    assert shown >= 0.95
    repaired, _ = share_of_women(output, "nurse", "mopr", smallest_met_rho(output, "nurse"))
    assert abs(repaired - expected) <= 0.05


def test_the_reference_is_the_population_by_sampling_weight(output):
    census = pd.read_parquet(DEMO.parent.parent / "data" / "census.parquet")
    expected = census["weight"][census["sex"] == "woman"].sum() / census["weight"].sum()
    assert share_of_women(output, "nurse", "top_k")[1] == pytest.approx(expected)


def test_the_page_shows_both(output):
    page = (output / "report" / "index.html").read_text(encoding="utf-8")
    for word in ("nurse", "chief executive officer", "sex"):
        assert word in page
    worst = pd.read_csv(output / "report" / "worst.csv")
    assert worst.iloc[0]["query"] == "nurse"


def test_shipped_data_is_compact_and_attributed():
    folder = DEMO.parent.parent / "data"
    census = pd.read_parquet(folder / "census.parquet")
    assert (folder / "census.parquet").stat().st_size < 1_000_000
    assert len(census) >= 10_000
    assert census["occupation"].notna().all()
    assert "CC BY 4.0" in (folder / "README.md").read_text(encoding="utf-8")
