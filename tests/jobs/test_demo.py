"""The shipped demo, cut to two queries and a quarter of its people: real texts, real encoder, real Ray."""

from pathlib import Path

import pandas as pd
import pytest

from jobs.cli import main
from jobs.report.publish_exhibits import write_exhibits
from jobs.store import Store

pytestmark = pytest.mark.system

DEMO = Path(__file__).resolve().parents[2] / "jobs" / "configs" / "demo.yaml"


CENSUS = DEMO.parent.parent / "data" / "census.parquet"
# Embedding is what takes the time: every fourth person, of all occupations.
STEP = 4


def people() -> pd.DataFrame:
    return pd.read_parquet(CENSUS).iloc[::STEP]


@pytest.fixture(scope="module")
def output(tmp_path_factory, cluster):
    folder = tmp_path_factory.mktemp("demo")
    data = tmp_path_factory.mktemp("data") / "census.parquet"
    people().to_parquet(data)
    queries = "queries.list=[nurse, chief executive officer]"
    methods = "methods=[top_k, {mopr: {points: 50, targets: [linear]}}]"
    code = main(
        ["run", str(DEMO), "--output", str(folder), "--set", queries, "--set", methods, "--set", f"dataset.path={data}"]
    )
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
    census = people()
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


def test_the_paper_s_exhibits_are_made_of_a_census(output):
    made = write_exhibits([str(output)], Store(str(output.parent / "exhibits")))
    assert not made.numbers and all(
        "no data set" in lack for lack in made.numbers_missing.values() if "UTKFace" in lack
    )
    assert set(made.missing) == {
        "lp_and_integer", "cutting_plane_and_cone", "oracle_and_closed_form", "over_k", "precision",
        "shown_and_expected",
    }  # fmt: skip
    assert set(made.exhibits) == {
        "trade_off", "intersections", "joint_shares", "running_times", "smallest_mpr", "contact_sheets",
        "order_measures",
    }  # fmt: skip
    rows = pd.read_csv(output.parent / "exhibits" / "intersections.csv").set_index(["series", "group"])
    # A query that shows women only and one that shows nearly none; the repaired ones hold the population.
    women = rows.loc["top_k"].filter(like="sex=woman & race=", axis=0)
    assert women["share_mean"].sum() == pytest.approx(0.5, abs=0.1)
    assert women["share_deviation"].max() > 0.15
    repaired = rows.loc["mopr (linear)"]
    assert (repaired["share_mean"] - repaired["share_reference"]).abs().max() < 0.1
