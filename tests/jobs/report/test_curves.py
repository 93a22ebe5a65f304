"""Fractions of top-k's MPR and similarity, and when there are none."""

from __future__ import annotations

import pandas as pd
import pytest

from jobs.analysis import curves
from jobs.analysis.curves import trade_offs, vertical_floors
from tests.jobs.report import synthetic
from tests.jobs.report.test_worst import result


def rows_of(*results: dict) -> pd.DataFrame:
    empty = dict.fromkeys(curves.COLUMNS)
    return trade_offs(pd.DataFrame([empty | row for row in results]))


def test_divides_by_top_k():
    rows = rows_of(
        result("q", mpr=0.1, mpr_top_k=0.1), result("q", "mopr", 0.02, mpr=0.02, mpr_top_k=0.1, similarity=0.4)
    )
    assert rows["mpr_fraction"].tolist() == pytest.approx([1.0, 0.2])
    assert rows["similarity_fraction"].tolist() == pytest.approx([1.0, 0.8])


def test_looks_top_k_up_where_a_row_lacks_it():
    rows = rows_of(
        result("q", mpr=0.1, similarity_top_k=None), result("q", "mopr", 0.02, mpr=0.05, similarity_top_k=None)
    )
    assert rows["mpr_fraction"].tolist() == pytest.approx([1.0, 0.5])


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        ({"mpr": 0.0, "mpr_top_k": 0.0}, curves.NO_MPR_TO_DIVIDE),
        ({"mpr": 0.1, "mpr_top_k": 0.1, "similarity": -0.1, "similarity_top_k": -0.1}, curves.NO_SIMILARITY_TO_DIVIDE),
        ({"mpr": 0.1, "mpr_top_k": 0.1, "similarity": 0.0, "similarity_top_k": 0.0}, curves.NO_SIMILARITY_TO_DIVIDE),
        # The rounding of zero beside the similarities of its case.
        ({"mpr": 0.1, "mpr_top_k": 0.1, "similarity": -0.4, "similarity_top_k": 1e-17}, curves.NO_SIMILARITY_TO_DIVIDE),
        # Small scores have fractions like any others.
        ({"mpr": 0.1, "mpr_top_k": 0.1, "similarity": 1e-12, "similarity_top_k": 2e-12}, ""),
        ({"mpr": None, "mpr_top_k": None}, curves.NO_VALUE),
        ({"status": "failed", "mpr": None, "similarity": None, "mpr_top_k": 0.1}, curves.NO_VALUE),
    ],
)
def test_says_why_there_is_no_fraction(columns: dict, note: str):
    assert rows_of(result("q", **columns))["note"].tolist() == [note]


def test_floor_lets_a_poor_baseline_lie_below_the_axis():
    # The constrained method loses 5%: the axis shows four times that, and mmr at 40% lies below.
    rows = rows_of(
        result("q", mpr_top_k=0.1),
        result("q", "mopr", 0.02, similarity=0.475, mpr_top_k=0.1),
        result("q", "mmr", 0.9, similarity=0.2, mpr_top_k=0.1),
    )
    panel = ("d", "r", "q", 10, "linear")
    assert vertical_floors(rows) == {panel: pytest.approx(0.8)}
    assert vertical_floors(rows[rows["method"] != "mmr"]) == {panel: pytest.approx(0.95)}


def test_every_selection_of_a_run_has_its_row():
    results = synthetic.tables(queries=2, points=4)["results"].to_pandas()
    rows = trade_offs(results)
    assert len(rows) == len(results) and set(rows.index) == set(results.index)
    assert rows.loc[rows["method"] == "top_k", "mpr_fraction"].tolist() == pytest.approx([1.0] * 6)
