"""Curves: each method's own grid, as a frame and as a drawing."""

import sys

import numpy as np
import pytest

import mprlib
from mprlib import InputError, Mmr, Problem
from tests.mprlib.people_frames import ATTRIBUTES, BINS, people

CANDIDATES, POPULATION = people(120, 1, tilt=0.3), people(900, 2)
VECTORS = np.random.default_rng(0).standard_normal((120, 8))


def problem() -> Problem:
    plain = Problem.from_frames(CANDIDATES, POPULATION, score="score", attributes=ATTRIBUTES, bins=BINS, k=10)
    return plain.with_vectors(VECTORS)


def test_a_curve_has_the_selections_of_sweeps():
    ours = problem()
    found = mprlib.curve(ours, methods=["top_k", "mopr", Mmr(spread="nearest")], function_class="groups", points=5)
    table = found.to_frame("pandas")
    assert table["method"].tolist() == ["top_k"] + 5 * ["mopr"] + 5 * ["mmr"]
    rhos = table["value"][table["method"] == "mopr"].tolist()
    assert rhos == pytest.approx(np.linspace(0.005, table["mpr"].iloc[0], 5))
    swept = mprlib.sweep(ours, "mopr", rhos, "groups")
    assert table["mpr"][table["method"] == "mopr"].tolist() == [one.mpr for one in swept]
    assert table["similarity"].iloc[0] == table["similarity"].max()


def test_a_sweep_without_values_is_over_the_methods_grid():
    ours = problem()
    found = mprlib.sweep(ours, "mopr", function_class="groups")
    assert [one.value for one in found] == pytest.approx(np.linspace(0.005, found[-1].value, 20))
    assert [one.value for one in mprlib.sweep(ours, "top_k")] == [None]
    assert len(mprlib.sweep(ours, "mmr")) == 20


def test_the_job_takes_the_same_number_of_points():
    from jobs.config.entries import method_entry

    assert method_entry("mopr")["points"] == len(mprlib.sweep(problem(), "mopr"))


def test_a_curve_is_drawn_on_given_axes_and_on_its_own():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = mprlib.curve(problem(), ["top_k", "mopr", "mmr"], "groups", points=4)
    axes = found.plot()
    assert axes.get_xlabel() == "MPR (groups)"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["top_k", "mopr", "mmr"]
    _, given = pyplot.subplots()
    assert found.plot(ax=given) is given
    hollow = [line for line in axes.get_lines() if line.get_markerfacecolor() == "none"]
    outside = sum(one.rho is not None and one.mpr > one.rho for one in found.selections)
    assert sum(len(line.get_xdata()) for line in hollow) == outside
    pyplot.close("all")


def test_what_does_not_fit_is_said(monkeypatch):
    ours = problem()
    for methods in ("mopr", [], mprlib.Mopr()):
        with pytest.raises(InputError, match="methods is .*: a list of names or instances is expected"):
            mprlib.curve(ours, methods)
    with pytest.raises(InputError, match="unknown method 'mopt'.*did you mean 'mopr'"):
        mprlib.curve(ours, ["mopt"])
    with pytest.raises(InputError, match="points is 0"):
        mprlib.curve(ours, points=0)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(InputError, match=r"matplotlib is not installed: pip install mprlib\[plot\]"):
        mprlib.curve(ours, ["top_k"]).plot()


def test_a_grid_whose_ends_are_one_is_one_point():
    levels = np.eye(2)[[0, 1] * 10]
    even = Problem(scores=np.arange(20.0), labels=levels, reference=levels, k=4)
    assert mprlib.measure(even, mprlib.select(even, "top_k").items).value == 0.0
    assert len(mprlib.curve(even, ["mopr"], points=4).selections) == 1
    assert len(mprlib.sweep(even, "mopr")) == 1
