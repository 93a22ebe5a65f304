"""What exhibits are made of, on values solved by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from jobs.analysis.curves import trade_offs
from jobs.analysis.load import Chosen, Run, from_tables
from jobs.report import exhibits
from jobs.report.exhibits.exhibit import Missing
from jobs.report.exhibits.latex import escaped, table
from jobs.report.exhibits.mean_curves import mean_curves, printed
from jobs.report.exhibits.numbered_part import part_of
from jobs.report.exhibits.operating_points import mean_and_deviation, smallest_mpr
from jobs.report.exhibits.pictures import file_part
from tests.jobs.report import synthetic


def curves(rows: list[tuple]) -> pd.DataFrame:
    """Trade-offs of (query, method, status, fraction of top-k's MPR, fraction of its similarity)."""
    frame = pd.DataFrame(rows, columns=["query", "method", "status", "mpr_fraction", "similarity_fraction"])
    frame["parameter_value"] = np.arange(len(rows), dtype=float)
    same = {"dataset": "d", "reference": "r", "k": 5, "target_class": None, "function_class": "linear"}
    return frame.assign(**same, mpr=frame["mpr_fraction"], similarity=frame["similarity_fraction"])


SWEEPS = [
    ("a", "mopr", "optimal", 0.2, 0.8),
    ("a", "mopr", "optimal", 1.0, 1.0),
    ("a", "mopr", "not_found", 0.1, 0.9),
    ("b", "mopr", "feasible", 0.5, 0.6),
]


def test_a_mean_curve_is_of_step_functions_over_the_queries_that_reach_it():
    means = mean_curves(curves(SWEEPS), "similarity_fraction").set_index("mpr_fraction")
    assert means.index.min() == pytest.approx(0.2)
    assert (means.loc[0.2, "mean"], means.loc[0.2, "queries"]) == (0.8, 1)
    assert means.loc[0.5, "mean"] == pytest.approx((0.8 + 0.6) / 2)
    assert means.loc[1.0, "mean"] == pytest.approx((1.0 + 0.6) / 2)
    assert means.loc[1.0, "deviation"] == pytest.approx(0.4 / np.sqrt(2))
    # A printed mean is over all queries, or it is not printed.
    row = printed(means.reset_index(), 2).iloc[0]
    assert (row["at 0.25"], row["at 0.5"], row["at 1"]) == ("--", "0.70", "0.80")


def test_the_smallest_mpr_is_one_that_was_asked_for():
    points = smallest_mpr(curves(SWEEPS)).set_index("query")
    assert points.loc["a", "mpr"] == 0.2
    assert points.loc["b", "similarity"] == 0.6


def test_means_are_written_with_the_deviation_of_a_sample():
    assert mean_and_deviation(pd.Series([1.0, 3.0]), 2) == "2.00 \u00b1 1.41"
    assert mean_and_deviation(pd.Series([1.0, np.nan]), 1) == "1.0"
    assert mean_and_deviation(pd.Series([np.nan]), 1) == "--"


def test_latex_prints_texts_of_the_data_as_they_stand():
    assert escaped("R&D_5%\n{x}") == r"R\&D\_5\% \{x\}"
    assert escaped("\\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"
    rows = pd.DataFrame({"group": ["a $\\to$ b", None], "share": ["*3.5 \u00b1 1.0*", "12.0"]})
    text = table(rows, "A_caption", "tab:x").decode()
    assert r"a \$\textbackslash{}to\$ b & \textbf{3.5 $\pm$ 1.0} \\" in text
    assert r"-- & 12.0 \\" in text
    assert r"\begin{tabular}{lr}" in text and r"\caption{A\_caption}" in text and r"\toprule" in text
    long = table(pd.DataFrame({"number": [str(row) for row in range(50)]}), "c", "l").decode()
    assert r"\begin{longtable}{r}" in long and r"\endhead" in long


def test_file_names_are_plain_and_apart():
    assert file_part("census", 50) == "census-50"
    names = {file_part(name) for name in ("a/b", "a b", "a\\b", "\u00e4", "\u00f6", "..")}
    assert len(names) == 6
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names)


@pytest.fixture(scope="module")
def made() -> dict[str, dict[str, bytes] | str]:
    run = from_tables(**synthetic.tables(queries=3, points=4, has_second_mopr=True), manifest={})
    return dict(exhibits.build(run))


def test_what_a_run_lacks_is_said_in_one_line_and_the_rest_is_made(made):
    missing = {name: text for name, text in made.items() if isinstance(text, str)}
    assert set(missing) == {
        "lp_and_integer", "oracle_and_closed_form", "precision", "order_measures", "over_k", "shown_and_expected",
    }  # fmt: skip
    assert all("\n" not in text and len(text) < 250 for text in missing.values())
    assert "dataset.relevance" in missing["precision"] and "mopr_integer" in missing["lp_and_integer"]
    for name in set(exhibits.EXHIBITS) - set(missing):
        kinds = {file.rsplit(".", 1)[1] for file in made[name]}
        assert kinds == {"csv", "tex", "png", "svg"}, name


def test_the_same_run_gives_the_same_bytes(made):
    run = from_tables(**synthetic.tables(queries=3, points=4, has_second_mopr=True), manifest={})
    curves = trade_offs(run.results)
    again = exhibits.trade_off.make(run, curves)
    for part, figure in again.figures.items():
        assert exhibits.svg(figure) == made["trade_off"][f"trade_off/{part}.svg"]


def test_a_run_without_top_k_says_so():
    tables = synthetic.tables(queries=1, points=2)
    without = tables["results"].to_pandas()
    without = without[without["method"] != "top_k"].assign(mpr_top_k=None, similarity_top_k=None)
    run = from_tables(**tables)
    with pytest.raises(Missing, match="top_k"):
        exhibits.smallest_mpr.make(run, trade_offs(without))


def test_precision_is_what_a_user_would_get_not_the_best_by_hindsight():
    """A long sweep holds a precise set by luck; who does not know the true terms takes the most similar one."""
    lucky = [("a", "clip_clip", "done", 0.1 * step, 0.5 + 0.05 * step) for step in range(1, 10)]
    rows = curves(lucky).assign(precision=[0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2])
    means = mean_curves(rows, "precision").set_index("mpr_fraction")["mean"]
    assert means.loc[0.5] == 0.1 and means.loc[1.0] == 0.2
    assert means[0.3 - 1e-9 : 0.4 - 1e-9].max() == 0.9


def test_measures_of_the_order_are_medians_at_the_smallest_mpr():
    rows = curves(
        [
            ("a", "top_k", "done", 1.0, 1.0), ("b", "top_k", "done", 1.0, 1.0), ("c", "top_k", "done", 1.0, 1.0),
            ("a", "mopr", "optimal", 0.5, 0.9), ("a", "mopr", "optimal", 0.2, 0.8),
        ]
    )  # fmt: skip
    rows = rows.assign(parameter="rho", precision=None)
    results = pd.DataFrame(
        {
            "awrf": [0.7, 0.8, 0.9, 0.95, 0.96],
            "ndkl": [0.3, np.inf, np.inf, 0.2, 0.1],
            "max_skew": [0.5, 0.6, 0.7, 0.2, 0.1],
            "min_skew": [-np.inf, -np.inf, -1.0, -0.2, -0.1],
            "ndcg": None,
            "precision": [0.1, 0.2, 0.9, 0.4, 0.5],
        }
    )
    made = exhibits.order_measures.make(SimpleNamespace(results=results), rows)
    names = ["AWRF", "NDKL", "MaxSkew", "MinSkew", "nDCG", "precision", "queries"]
    summary = made.summary.set_index("method")[names]
    assert summary.loc["top_k"].tolist() == ["0.800", "\u221e", "0.600", "\u2212\u221e", "--", "0.200", "3"]
    assert summary.loc["mopr"].tolist() == ["0.960", "0.100", "0.100", "-0.100", "--", "0.500", "1"]
    assert r"$-$$\infty$" in table(made.summary, "c", "l").decode()


def integer_rows(hard_is_met: bool) -> pd.DataFrame:
    """An easy rho without loss, and a hard one that loses a tenth, which Algorithm 1 may miss."""
    rows = [
        ("mopr", 0.2, "optimal", 1.0), ("mopr_paper", 0.2, "feasible", 1.0), ("mopr_integer", 0.2, "optimal", 1.0),
        ("mopr", 0.1, "optimal", 0.9), ("mopr_integer", 0.1, "optimal", 0.9),
        ("mopr_paper", 0.1, "feasible" if hard_is_met else "not_found", 0.9 if hard_is_met else 0.99),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["method", "rho", "status", "similarity"])
    same = {"dataset": "d", "reference": "r", "query": "q", "k": 5, "target_class": "linear"}
    return frame.assign(
        **same, function_class="linear", parameter_value=frame["rho"], mpr=frame["rho"], relaxation_bound=1.0,
        similarity_bound=frame["similarity"], solve_seconds=0.1,
    )  # fmt: skip


@pytest.mark.parametrize(("hard_is_met", "loss", "common"), [(False, "0.000", "1"), (True, "5.000", "2")])
def test_programmes_are_compared_where_all_have_a_set(hard_is_met, loss, common):
    run = SimpleNamespace(results=integer_rows(hard_is_met))
    summary = exhibits.lp_and_integer.make(run, None).summary
    assert summary["in common"].tolist() == [common] * 3
    assert [text.split()[0] for text in summary["loss to relaxation, %"]] == [loss] * 3
    assert summary["meets rho"].tolist() == ["2 of 2", f"{common} of 2", "2 of 2"]


def test_two_settings_of_one_method_are_compared_each():
    """Algorithm 1 with 10 and with 50 rounds, of which the first misses the hard rho."""
    rows = integer_rows(hard_is_met=True)
    few = integer_rows(hard_is_met=False).query("method == 'mopr_paper'").assign(method="mopr_paper(T=10)")
    run = SimpleNamespace(results=pd.concat([rows, few], ignore_index=True))
    summary = exhibits.lp_and_integer.make(run, None).summary.set_index("method")
    assert list(summary.index) == ["mopr", "mopr_paper", "mopr_paper(T=10)", "mopr_integer"]
    assert summary.loc["mopr_paper(T=10)", "meets rho"] == "1 of 2" and set(summary["in common"]) == {"1"}


@pytest.mark.parametrize(
    ("of", "lacks"),
    [
        ({}, None),
        ({"dataset": "other"}, "no data set CelebA and no UTKFace: run paper.yaml"),
        ({"reference": "other"}, "no reference FairFace beside data set CelebA and UTKFace: run paper.yaml"),
        ({"k": 10}, "no k 50 beside data set CelebA and UTKFace, reference FairFace: run paper.yaml"),
        ({"function_class": "tree"}, "no function class linear beside"),
    ],
)
def test_a_number_says_what_the_runs_lack(of, lacks):
    figure = next(one for one in exhibits.NUMBERED if one.number == "Figure 1")
    rows = curves(SWEEPS).assign(**{"reference": "FairFace", "k": 50} | of)
    both = pd.concat([rows.assign(dataset=of.get("dataset", name)) for name in ("CelebA", "UTKFace")])
    both = both.reset_index(drop=True)
    empty = both.iloc[:0]
    given = Run(results=both, groups=empty, items=empty, manifest={}, chosen=Chosen(ids=[], codes=None, offsets=None))
    if lacks is None:
        part, own = part_of(given, both, figure)
        assert len(part.results) == len(own) == len(both)
        assert figure.lacking(part.results["method"])[0] == "top_k"
    else:
        with pytest.raises(Missing, match=lacks):
            part_of(given, both, figure)


def test_a_cross_table_has_sums_and_says_what_is_missed():
    """Ten items of two queries: cells, their sums and deviations by hand."""
    shares = {"a": (0.1, 0.3, 0.2, 0.4), "b": (0.0, 0.4, 0.1, 0.5)}
    names = ["g=f & r=x", "g=f & r=y", "g=m & r=x", "g=m & r=y"]
    groups = []
    for query, (fx, fy, mx, my) in shares.items():
        single = {"g=f": fx + fy, "g=m": mx + my, "r=x": fx + mx, "r=y": fy + my}
        for name, share in {**single, **dict(zip(names, (fx, fy, mx, my)))}.items():
            groups.append((query, name, name.count("="), share, 0.25 if " & " in name else 0.5))
    frame = pd.DataFrame(groups, columns=["query", "group", "attributes", "share_selected", "share_reference"])
    frame = frame.assign(dataset="d", reference="r", k=10, method="top_k", parameter_value=np.nan, target_class=None)
    rows = pd.DataFrame({"query": ["a", "b"], "method": "top_k", "status": "done", "mpr": 0.2, "similarity": 0.5})
    rows = rows.assign(
        dataset="d", reference="r", k=10, parameter_value=np.nan, target_class=None, function_class="linear"
    )
    made = exhibits.joint_shares.make(SimpleNamespace(results=rows, groups=frame), rows)
    cells = made.table.set_index(["first_level", "second_level"])
    assert cells.loc[("g=f", "r=x"), "share_mean"] == pytest.approx(0.05)
    assert cells.loc[("g=f", "sum"), "share_mean"] == pytest.approx(0.4)
    assert cells.loc[("sum", "r=x"), "share_mean"] == pytest.approx(0.2)
    assert cells.loc[("sum", "r=x"), "share_deviation"] == pytest.approx(0.1 * np.sqrt(2))
    printed = made.summary.set_index(["method", "g"])
    assert printed.loc[("reference", "f"), ["x", "y", "sum"]].tolist() == ["25.0", "25.0", "50.0"]
    assert printed.loc[("top_k", "f"), ["x", "y", "sum"]].tolist() == [
        "*5.0 \u00b1 7.1*", "35.0 \u00b1 7.1", "40.0 \u00b1 0.0",
    ]  # fmt: skip
    assert printed.loc[("top_k", "sum"), ["x", "y", "sum"]].tolist() == [
        "*20.0 \u00b1 14.1*", "80.0 \u00b1 14.1", "100.0",
    ]  # fmt: skip


def test_what_a_method_prepares_once_has_a_column_of_its_own():
    manifest = {"preparation": [{"dataset": "people", "method": "mmr", "seconds": 12.3}]}
    run = from_tables(**synthetic.tables(queries=1, points=2), manifest=manifest)
    dataset = run.results["dataset"].iloc[0]
    run.manifest["preparation"][0]["dataset"] = dataset
    summary = exhibits.running_times.make(run, trade_offs(run.results)).summary.set_index("method")
    assert summary.loc["mmr", "once, before all queries"] == "12.30"
    assert summary.loc["top_k", "once, before all queries"] == "0.00"


def test_a_sheet_shows_baselines_before_further_constrained_methods():
    run = from_tables(**synthetic.tables(queries=1, points=3, has_second_mopr=True), manifest={})
    results = run.results
    extra = [results[results["method"] == "mmr"].assign(method=f"baseline_{number}") for number in range(3)]
    whole = pd.concat([results, *extra])
    chosen = replace(run, results=whole)
    shown = exhibits.contact_sheets.make(chosen, trade_offs(whole)).table["series"].drop_duplicates().tolist()
    assert shown == ["top_k", "mopr (linear)", "baseline_0", "baseline_1", "baseline_2", "mmr"]


def several_k(rows: pa.Table, factors: dict[int, float]) -> pa.Table:
    """The rows at every k, gaps times a factor."""
    tables = []
    for k, factor in factors.items():
        frame = rows.to_pandas()
        frame["k"] = k
        if "mpr" in frame:
            frame["mpr"] *= factor
        if "share_selected" in frame:
            reference = frame["share_reference"]
            frame["share_selected"] = reference + factor * (frame["share_selected"] - reference)
        tables.append(pa.Table.from_pandas(frame, schema=rows.schema))
    return pa.concat_tables(tables)


def test_gap_chance_and_cost_are_over_k():
    tables = synthetic.tables(queries=2, points=3)
    factors = {5: 1.0, 10: 0.5, 20: 0.25}
    for name in ("results", "groups"):
        tables[name] = several_k(tables[name], factors)
    run = from_tables(**tables, manifest={})
    exhibit = exhibits.over_k.make(run, trade_offs(run.results))
    assert len(exhibit.table) == 6
    assert len(exhibit.figures) == 1 + 2
    for own in (rows.set_index("k") for _, rows in exhibit.table.groupby("query")):
        assert (own["gap_points"] / own["gap_points"][5]).tolist() == pytest.approx([1, 0.5, 0.25])
        assert (own["mpr_of_chance"] / own["mpr_of_chance"][5]).tolist() == pytest.approx([1, 0.5, 0.25])
        assert (own["cost_percent"] >= 0).all()
        assert (own["mpr_repaired"] <= own["mpr"] + 1e-12).all()
    assert list(exhibit.summary["k"]) == ["5", "10", "20"]


def test_one_k_is_no_axis():
    run = from_tables(**synthetic.tables(queries=2, points=3), manifest={})
    with pytest.raises(Missing, match="every query has one k"):
        exhibits.over_k.make(run, trade_offs(run.results))
