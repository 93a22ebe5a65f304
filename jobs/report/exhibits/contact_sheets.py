"""What two people would see: the first items of each method, side by side.

Source:     MPR paper, the appendix's pages of retrieved images (top-k beside MOPR and the baselines).
Deviation:  six columns as in the paper: top-k, the first constrained method, then baselines before further
            constrained ones. Methods are shown at their smallest MPR of the first configured class; a picture
            is shown where the run kept its thumbnail, which it does for top-k and the repaired selections within
            `report.thumbnail_megabytes`; all other items are shown by their text, labels or id. The labels
            that the audit used are in the table, so that a reader need not judge people by their looks.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...analysis.cases import CASE, function_classes, is_constrained
from ...analysis.frames import grouped
from ...analysis.load import Run
from ...analysis.wording import is_missing
from ...images import ImageLimits, decode
from .exhibit import Exhibit, Missing
from .operating_points import in_order, smallest_mpr
from .pictures import file_part
from .sheet import Sheet

TITLE = "First items of each method at its smallest MPR"
# What a page holds; the table holds the same.
SHEETS, COLUMNS, ITEMS, PRINTED_ITEMS = 10, 6, 12, 5
# Lines of a cell: alone, and beside a picture.
LINE_CHARACTERS, NARROW_CHARACTERS, LINES = 32, 19, 4


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """One row per (query, method, rank) of the first SHEETS queries of each data set, reference and k."""
    first_class = function_classes(run.results)[0]
    points = smallest_mpr(curves[curves["function_class"] == first_class])
    points = points[[len(run.chosen.row(number)) > 0 for number in points.index]]
    if points.empty:
        raise Missing(f"no selection with items has an MPR under {first_class}")
    columns = _columns(points, in_order(points["series"], curves))
    order = run.results[CASE].drop_duplicates().groupby(["dataset", "reference", "k"], sort=False).head(SHEETS)
    rows, figures = [], {}
    for case in order.itertuples(index=False, name=None):
        own = points[(points[CASE] == list(case)).all(axis=1) & points["series"].isin(columns)]
        shown = [one for series in columns for one in _items(run, own[own["series"] == series], case)]
        if shown:
            rows += shown
            names = [name for name in columns if name in set(own["series"])]
            figures[file_part(*case)] = _sheet(run, case, shown, names)
    table = pd.DataFrame(rows)
    return Exhibit(title=TITLE, table=table, summary=_printed(table, columns), figures=figures)


def _columns(points: pd.DataFrame, ordered: list[str]) -> list[str]:
    """The series that a sheet has room for."""
    method = points.drop_duplicates("series").set_index("series")["method"]
    constrained = [name for name in ordered if is_constrained(method[name])]
    return sorted(ordered, key=lambda name: name in constrained[1:])[:COLUMNS]


def _items(run: Run, points: pd.DataFrame, case: tuple[Any, ...]) -> list[dict[str, Any]]:
    """The first items of the one selection in points, described."""
    found = []
    selections = points[["series", "mpr_fraction"]].itertuples(name=None)
    for place, series, mpr_fraction in selections:
        for rank, code in enumerate(run.chosen.row(place)[:ITEMS], start=1):
            item = run.chosen.ids[code]
            about = run.items.loc[(case[0], item)] if (case[0], item) in run.items.index else {}
            labels = {name: level for name, level in (about.get("labels") or {}).items() if not is_missing(level)}
            found.append(
                {
                    **dict(zip(CASE, case)),
                    "series": series,
                    "mpr_fraction": mpr_fraction,
                    "rank": rank,
                    "item_id": item,
                    "text": None if is_missing(about.get("text")) else about["text"],
                    "image": None if is_missing(about.get("image")) else about["image"],
                    "labels": "; ".join(f"{name}={level}" for name, level in labels.items()),
                }
            )
    return found


def _sheet(run: Run, case: tuple[Any, ...], shown: list[dict[str, Any]], columns: list[str]) -> Figure:
    pictures = {item["item_id"]: run.thumbnails.get((case[0], item["item_id"])) for item in shown}
    has_pictures = any(picture is not None for picture in pictures.values())
    rows = max(item["rank"] for item in shown)
    sheet = Sheet.of(len(columns), rows, f"{case[2]} ({case[0]}, k = {case[3]})", has_pictures=has_pictures)
    characters = NARROW_CHARACTERS if has_pictures else LINE_CHARACTERS
    for item in shown:
        place, row, picture = columns.index(item["series"]), item["rank"] - 1, pictures[item["item_id"]]
        if row == 0:
            sheet.head(place, item["series"])
        if picture is not None:
            sheet.draw(place, row, np.asarray(decode(picture, ImageLimits())))
        sheet.write(place, row, _wrapped(str(item["text"] or item["labels"] or item["item_id"]), characters))
    return sheet.figure


def _wrapped(text: str, characters: int) -> str:
    return "\n".join(textwrap.wrap(text, characters, max_lines=LINES, placeholder="\u2026"))


def _printed(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The first few ranks, one column per method."""
    few = table[table["rank"] <= PRINTED_ITEMS]
    rows = []
    for (_dataset, _reference, query, _k, rank), own in grouped(few, [*CASE, "rank"]):
        texts = dict(zip(own["series"], own["text"].fillna(own["item_id"])))
        shown = {name: textwrap.shorten(str(texts.get(name, "--")), 2 * LINE_CHARACTERS) for name in columns}
        rows.append({"query": query, "rank": rank} | shown)
    return pd.DataFrame(rows)
