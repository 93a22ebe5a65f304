"""Drawings as SVG: ticks, places and texts by hand, and every curve in them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from jobs.analysis.cases import CASE, repaired_rows, top_k_rows
from jobs.analysis.curves import trade_offs, vertical_floors
from jobs.report import svg
from jobs.report.figures import Points, curve_pictures, drawn_series, overview_picture, points_of
from jobs.report.overview import distribution
from tests.jobs.report import hostile, synthetic

SPACE = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0, 1.05, ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        (0.0, 1.3125, ["0.0", "0.5", "1.0"]),
        (0.88, 1.005, ["0.900", "0.925", "0.950", "0.975", "1.000"]),
        (0.99995, 1.00005, ["0.99996", "0.99998", "1.00000", "1.00002", "1.00004"]),
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-2.0, 13.0, ["0", "5", "10"]),
        (0.0, 240.0, ["0", "50", "100", "150", "200"]),
    ],
)
def test_ticks_are_round_and_few(low: float, high: float, said: list[str]):
    found = svg.ticks(low, high)
    assert [text for _, text in found] == said
    assert [value for value, _ in found] == pytest.approx([float(text) for _, text in found])
    assert 3 <= len(found) <= svg.MOST_TICKS + 1


def test_places_are_linear_in_values():
    frame = svg.Frame(left=10, top=20, right=110, bottom=220, across=(0.0, 2.0), up=(0.5, 1.0))
    assert frame.places([0.0, 1.0, 2.0], [0.5, 0.75, 1.0]) == ["10.00 220.00", "60.00 120.00", "110.00 20.00"]
    assert (frame.x(0.5), frame.y(0.6)) == pytest.approx((35, 180))


def test_texts_of_the_data_stay_texts():
    said = "</text><script>&\x00\ud800 \u202e$x$"
    drawing = svg.drawing(10, 10, [svg.text(said, 1, 2)])
    [text] = ElementTree.fromstring(drawing).iter(f"{SPACE}text")
    assert text.text == "</text><script>&\ufffd\ufffd \u202e$x$"


def test_long_sentences_are_broken_between_words():
    lines = list(svg.wrapped("top-k's MPR is 0: nothing to divide by", 50, 50, 80))
    assert len(lines) > 2 and all("MPR is" in line or "MPR" not in line for line in lines)


def sheet_of(tables: dict) -> tuple[list[ElementTree.Element], dict]:
    results = tables["results"].drop_columns(["item_ids", "witness"]).to_pandas()
    curves = trade_offs(results)
    floors = vertical_floors(curves)
    classes = list(dict.fromkeys(results["function_class"]))
    drawings = curve_pictures(curves, classes, drawn_series(results), floors)
    return [ElementTree.fromstring(drawing) for _, drawing in drawings], points_of(curves, floors)


def test_every_point_that_is_above_the_floor_is_a_mark():
    sheets, points = sheet_of(synthetic.tables(queries=2, points=6))
    marks = sum(
        len(re.findall("M", path.get("d", "")))
        for sheet in sheets
        for path in sheet.iter(f"{SPACE}path")
        if "z" in path.get("d", "")
    )
    # Each drawing's legend has a mark for each of its three curves.
    assert marks == sum(int(one.is_above.sum()) for one in points.values()) + 3 * len(sheets)
    said = {text.text for text in sheets[0].iter(f"{SPACE}text")}
    assert {"linear", "tree", "groups", "MPR, fraction of top-k's", "similarity, fraction of top-k's"} <= said
    assert {"nurse", "top_k", "mopr (linear)", "mmr"} <= said


def test_unmet_points_are_hollow_and_low_ones_counted():
    points = Points(
        across=np.array([1.0, 0.5, 0.2]),
        up=np.array([1.0, 0.97, 0.3]),
        is_full=np.array([True, False, True]),
        members={("mopr", "linear"): np.array([0, 1, 2])},
        floor=0.9,
        note="",
    )
    line, hollow = points.split(("mopr", "linear"))
    assert line.tolist() == [0] and hollow.tolist() == [1]
    assert points.remark == "1 point below 0.90" and points.limits == pytest.approx((1.05, 0.895, 1.005))


def test_hostile_texts_and_missing_values_make_whole_drawings():
    for made in (hostile.tables(), hostile.broken_tables()):
        sheets, _ = sheet_of(made)
        assert all(sheet.tag == f"{SPACE}svg" for sheet in sheets)


def test_the_overview_has_a_mark_for_each_query_before_and_after():
    results = synthetic.tables(queries=4, points=4)["results"].drop_columns(["item_ids", "witness"]).to_pandas()
    labels = {case: f"case {number}" for number, case in enumerate(results[CASE].itertuples(index=False, name=None))}
    shown = distribution(top_k_rows(results), repaired_rows(results), results, labels)
    assert shown is not None
    drawing = overview_picture(shown).decode()
    # The legend has a mark of each kind, too.
    assert [drawing.count(svg.MARKS[marker]) for marker in "os"] == [5, 5]
    assert all(mark.title.startswith("case ") for mark in (*shown.top_k, *shown.repaired))
    assert "MPR, class linear" in drawing and ">repaired<" in drawing
