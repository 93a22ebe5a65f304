"""Measurements and selections as frames: every group with its shares, interval and p value; chosen rows in order."""

from importlib.util import find_spec as real_find_spec

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binom

import mprlib
from mprlib import InputError, Problem, Reference
from mprlib.frames import output
from mprlib.statistics import share_interval
from tests.mprlib.people_frames import ATTRIBUTES, BINS, people

CANDIDATES, POPULATION = people(200, 1, tilt=0.3), people(900, 2)


def problem(candidates=CANDIDATES, reference=POPULATION, **changes) -> Problem:
    given = {"score": "score", "attributes": ATTRIBUTES, "bins": BINS, "k": 20}
    return Problem.from_frames(candidates, reference, **{**given, **changes})


def groups(found) -> pd.DataFrame:
    return found.to_frame("pandas").set_index("group")


def test_every_group_has_its_shares_by_hand():
    ours = problem()
    top = mprlib.select(ours, "top_k")
    table = groups(mprlib.measure(ours, top, "groups"))
    shown = pd.DataFrame(CANDIDATES).iloc[top.items]
    everybody = pd.DataFrame(POPULATION)
    for level in ("Female", "Male"):
        row = table.loc[f"gender={level}"]
        assert row["selected"] == (shown["gender"] == level).sum()
        assert row["share_selected"] == pytest.approx((shown["gender"] == level).mean())
        assert row["share_reference"] == pytest.approx((everybody["gender"] == level).mean())
        assert row["attributes"] == 1
    both = table.loc["gender=Male & race=White"]
    assert both["share_reference"] == pytest.approx(
        ((everybody["gender"] == "Male") & (everybody["race"] == "White")).mean()
    )
    assert "gender=unknown" in table.index
    assert table["gap"].abs().is_monotonic_decreasing
    assert np.allclose(table["gap"], table["share_selected"] - table["share_reference"])


def test_the_first_row_is_the_measured_gap():
    ours = problem()
    for items in (mprlib.select(ours, "top_k"), range(7)):
        found = mprlib.measure(ours, items, "groups")
        assert abs(found.to_frame("pandas")["gap"].iloc[0]) == pytest.approx(found.value)
        assert found.to_frame("pandas")["p_largest"].iloc[0] == pytest.approx(found.p_value)


def test_intervals_and_p_values_are_those_of_the_statistics():
    ours = problem()
    table = groups(mprlib.measure(ours, mprlib.select(ours, "top_k"), "linear"))
    row = table.loc["gender=Male"]
    low, high = share_interval(row["share_reference"], 900)
    assert row["gap_low"] == pytest.approx(row["share_selected"] - high)
    assert row["gap_high"] == pytest.approx(row["share_selected"] - low)
    shown, expected = row["selected"], 20 * row["share_reference"]
    distance = abs(shown - expected)
    chance = sum(
        binom.pmf(count, 20, row["share_reference"]) for count in range(21) if abs(count - expected) >= distance - 1e-9
    )
    assert row["p_value"] == pytest.approx(chance)


def test_stated_shares_have_no_sampling_error():
    reference = Reference.from_shares({"gender": {"Female": 0.5, "Male": 0.5, "unknown": 0.0}})
    ours = problem(reference=reference, attributes=["gender"], bins=None)
    table = mprlib.measure(ours, range(20), "groups").to_frame("pandas")
    assert table["gap_low"].tolist() == table["gap"].tolist() == table["gap_high"].tolist()


def test_settings_of_the_class_decide_what_is_a_group():
    ours = problem()
    assert mprlib.measure(ours, range(20), "groups", max_attributes=1).to_frame("pandas")["attributes"].max() == 1
    assert mprlib.measure(ours, range(20), "groups", max_attributes=3).to_frame("pandas")["attributes"].max() == 3


def test_attention_is_in_the_shares():
    ours = problem()
    table = groups(mprlib.measure(ours, range(20), "groups", attention="log2"))
    discount = 1 / np.log2(np.arange(2, 22))
    is_male = np.array([CANDIDATES["gender"][item] == "Male" for item in range(20)])
    assert table.loc["gender=Male", "share_selected"] == pytest.approx(discount[is_male].sum() / discount.sum())
    assert table.loc["gender=Male", "selected"] == is_male.sum()
    assert table["p_value"].isna().all()


def test_continuous_labels_have_no_table():
    values = np.random.default_rng(0).random((200, 1))
    ours = Problem(scores=np.arange(200.0), labels=values, reference=values, k=5)
    with pytest.raises(InputError, match="groups need levels"):
        mprlib.measure(ours, range(5), "linear").to_frame()


@pytest.mark.parametrize(
    ("made", "kind"), [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (pa.table, pa.Table)]
)
def test_tables_are_frames_of_the_kind_that_came_in(made, kind):
    ours = problem(made(CANDIDATES))
    selection = mprlib.select(ours, "top_k")
    assert isinstance(mprlib.measure(ours, selection, "groups").to_frame(), kind)
    assert isinstance(mprlib.measure(ours, range(5), "groups").to_frame(), kind)
    assert isinstance(mprlib.curve(ours, ["top_k"]).to_frame(), kind)
    assert isinstance(selection.to_frame(made(CANDIDATES)), kind)
    assert isinstance(mprlib.measure(ours, selection, "groups").to_frame("pyarrow"), pa.Table)


def test_without_frames_the_first_library_that_is_installed(monkeypatch):
    found = mprlib.measure(problem(), range(5), "groups")
    assert isinstance(found.to_frame(), pd.DataFrame)
    monkeypatch.setattr(output, "find_spec", lambda name: None if name == "pandas" else real_find_spec(name))
    assert isinstance(found.to_frame(), pl.DataFrame)
    with pytest.raises(InputError, match="kind is 'pandas', which is not installed: pip install pandas"):
        found.to_frame("pandas")
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="no library of data frames is installed: pip install pandas, or polars"):
        found.to_frame()
    with pytest.raises(InputError, match="kind is 'excel': one of pandas, polars, pyarrow is expected"):
        found.to_frame("excel")


def test_a_selection_is_the_chosen_rows_in_order():
    ours = problem(id="person")
    selection = mprlib.select(ours, "mopr", "chance", "groups")
    frame = pd.DataFrame(CANDIDATES, index=[f"row {number}" for number in range(200)])
    for made in (frame, pl.DataFrame(CANDIDATES), pa.table(CANDIDATES)):
        rows = selection.to_frame(made)
        assert list(rows["rank"]) == list(range(1, 21)) or rows["rank"].to_pylist() == list(range(1, 21))
        people_of = rows["person"].to_pylist() if hasattr(rows["person"], "to_pylist") else list(rows["person"])
        assert people_of == selection.ids.tolist()
    rows = selection.to_frame(frame)
    assert rows.index.tolist() == [f"row {item}" for item in selection.items]
    assert rows.columns.tolist() == ["rank", *frame.columns]
    assert rows["score"].is_monotonic_decreasing
    plain = selection.to_frame(kind="pandas")
    assert plain.columns.tolist() == ["rank", "item", "id"]
    assert plain["item"].tolist() == selection.items.tolist()


def test_frames_that_are_not_the_problems_are_refused():
    selection = mprlib.select(problem(), "top_k")
    with pytest.raises(InputError, match="candidates has 5 rows, and the selection has position"):
        selection.to_frame(pd.DataFrame(CANDIDATES).head(5))
    with pytest.raises(InputError, match="candidates has a column 'rank' already: rename it"):
        selection.to_frame(pd.DataFrame(CANDIDATES).assign(rank=1))
    with pytest.raises(InputError, match="candidates is a list: a data frame of pandas, polars or pyarrow"):
        selection.to_frame([1, 2])
    with pytest.raises(InputError, match="candidates is a lazy frame"):
        selection.to_frame(pl.LazyFrame(CANDIDATES))


def test_what_notebooks_show():
    ours = problem()
    selection = mprlib.select(ours, "mopr", 0.1, "groups")
    found = mprlib.measure(ours, selection, "groups")
    told = [ours, ours.population, selection, found, mprlib.curve(ours, ["top_k"])]
    assert all(len(repr(one)) < 300 and "\n" not in repr(one) for one in told)
    assert repr(ours) == "Problem(k=20 of 200; attributes gender (3), race (4), age (4); reference of size 900)"
    assert repr(selection).startswith("Selection(mopr at 0.1: optimal, 20 items, similarity=")
    for one in (ours, selection, found, mprlib.curve(ours, ["top_k"]), mprlib.METHODS, mprlib.FUNCTION_CLASSES):
        html = one._repr_html_()
        assert html.startswith("<table>")
        assert html.count("<table>") == html.count("</table>") == 1
    assert "gender=Male" in found._repr_html_()
    odd = Problem.from_frames({"<b>": ["x", "y"], "s": [1, 2]}, {"<b>": ["x", "y"]}, score="s", attributes=["<b>"], k=1)
    assert "<b>" not in mprlib.measure(odd, [0], "groups")._repr_html_()
