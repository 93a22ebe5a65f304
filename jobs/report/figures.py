"""Trade-off curves and the distribution of MPR as SVG files, for slides and documents; the page draws its own.

Drawings depend on nothing but their data. Both routes to a panel, the lines here and the exhibits' matplotlib
(`jobs.report.exhibits.panels`), take what is drawn from `Points` and how far the axes reach from `Points.limits`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from mprlib.arrays import BoolArray, FloatArray, IntArray

from .. import interruption
from ..analysis.cases import CASE
from ..analysis.curves import is_fulfilled
from ..words import numbered, shortened
from . import svg
from .overview import Distribution
from .styles import Series, Style, series_label, series_of, styles_of

# Colours of what is compared, which no method has (`jobs.report.styles`).
BEFORE, AFTER = "#0072B2", "#D55E00"
# Points of a panel, and of what is around them.
PANEL_WIDTH, HEIGHT = 302.0, 259.0
LEFT, RIGHT, TOP, BOTTOM, BETWEEN = 62.0, 8.0, 42.0, 64.0, 44.0
LEGEND_COLUMNS, LEGEND_SIZE = 6, 8.0
# Steps of an axis of MPR as a part of top-k's.
WIDTH_STEP = 0.25
ROUNDING = 1e-9
# Room above and under the curves, as a part of their height; a flat curve gets a height to part.
VERTICAL_MARGIN = 0.05
SMALLEST_SPAN = 1e-4
# A title longer than this runs into its neighbour; the page has the whole text.
LONGEST_TITLE = 70


def file_name(case: tuple[Any, ...]) -> str:
    """The file of a case's drawing: a hash, since a query's text need not be a valid file name."""
    text = "\x1f".join(str(part) for part in case)
    return f"curves/{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}.svg"


def picture_names(cases: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Which picture belongs to which case."""
    return pd.DataFrame([(*case, file_name(case)) for case in cases], columns=[*CASE, "picture"])


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """The trade-offs of one case under one class, those with a place on the curve.

    Shapes:  across, up, is_full (n,): fractions of top-k's MPR and similarity, and whether a selection did what was
             asked of it. members: positions of each series' points, in the order of the rows. floor: the least height
             that is shown; note: why there may be no point.
    """

    across: FloatArray
    up: FloatArray
    is_full: BoolArray
    members: Mapping[Series, IntArray]
    floor: float
    note: str

    @cached_property
    def is_above(self) -> BoolArray:
        """Whether each point is shown."""
        above: BoolArray = self.up >= self.floor
        return above

    @property
    def limits(self) -> tuple[float, float, float]:
        """The right, lower and upper end of the axes."""
        ceiling = max(1.0, float(self.up.max()))
        margin = VERTICAL_MARGIN * max(ceiling - self.floor, SMALLEST_SPAN)
        # In steps, so that neighbouring cases have the same axes.
        widest = math.ceil(max(1.0, float(self.across.max())) / WIDTH_STEP - ROUNDING) * WIDTH_STEP
        return 1.05 * widest, self.floor - margin, ceiling + margin

    @property
    def remark(self) -> str:
        """How many points are not shown; empty where all are."""
        below = int((~self.is_above).sum())
        return f"{numbered(below, 'point')} below {self.floor:.2f}" if below else ""

    def split(self, series: Series) -> tuple[IntArray, IntArray]:
        """The points of a series that are shown: those of its line, and hollow ones."""
        members = self.members[series]
        shown = members[self.is_above[members]]
        is_full = self.is_full[shown]
        return shown[is_full], shown[~is_full]


def points_of(rows: pd.DataFrame, floors: Mapping[tuple[Any, ...], float]) -> dict[tuple[Any, ...], Points]:
    """The points of each (dataset, reference, query, k, class) of trade-offs. floors: `vertical_floors`."""
    across, up = (rows[name].to_numpy(dtype=float) for name in ("mpr_fraction", "similarity_fraction"))
    is_full = is_fulfilled(rows["status"]).to_numpy(dtype=bool)
    is_shown = ~(np.isnan(across) | np.isnan(up))
    names = [series_of(*one) for one in zip(*(rows[name].tolist() for name in ("method", "target_class")))]
    notes = rows["note"].tolist()
    panels: dict[tuple[Any, ...], list[int]] = {}
    for place, panel in enumerate(zip(*(rows[name].tolist() for name in [*CASE, "function_class"]))):
        panels.setdefault(panel, []).append(place)
    found = {}
    for panel, places in panels.items():
        own = np.array([place for place in places if is_shown[place]], dtype=np.int64)
        members: dict[Series, list[int]] = {}
        for number, place in enumerate(own.tolist()):
            members.setdefault(names[place], []).append(number)
        found[panel] = Points(
            across=across[own],
            up=up[own],
            is_full=is_full[own],
            members={name: np.array(numbers) for name, numbers in members.items()},
            floor=floors.get(panel, 0.0),
            note=next((notes[place] for place in places if notes[place]), "no value"),
        )
    return found


def curve_pictures(
    curves: pd.DataFrame, classes: Sequence[str], series: Sequence[Series], floors: Mapping[tuple[Any, ...], float]
) -> Iterator[tuple[tuple[Any, ...], bytes]]:
    """The drawing of every case: one panel per function class. series: all that any case of the run has; floors:
    `vertical_floors` of the curves."""
    styles, points = styles_of(series), points_of(curves, floors)
    legend = list(_legend(styles, PANEL_WIDTH * max(len(classes), 1)))
    for case in sorted(set(curves[CASE].itertuples(index=False, name=None))):
        interruption.check()
        panels = [points.get((*case, name)) for name in classes]
        yield case, _sheet(str(case[2]), classes, panels, styles, legend)


def _sheet(
    title: str,
    classes: Sequence[str],
    panels: Sequence[Points | None],
    styles: Mapping[Series, Style],
    legend: Sequence[str],
) -> bytes:
    """A row of panels with one legend."""
    width = PANEL_WIDTH * max(len(classes), 1)
    own = (width - LEFT - RIGHT - BETWEEN * (len(classes) - 1)) / max(len(classes), 1)
    parts = [svg.text(shortened(title, LONGEST_TITLE), width / 2, 16, size=12, anchor="middle")]
    for place, (name, points) in enumerate(zip(classes, panels)):
        left = LEFT + place * (own + BETWEEN)
        right, low, high = (1.0, 0.0, 1.0) if points is None or not points.up.size else points.limits
        frame = svg.Frame(
            left=left, top=TOP, right=left + own, bottom=HEIGHT - BOTTOM, across=(0.0, right), up=(low, high)
        )
        parts.append(svg.text(name, left + own / 2, TOP - 6, size=10, anchor="middle"))
        parts += frame.axes("MPR, fraction of top-k's", "" if place else "similarity, fraction of top-k's")
        parts += _curves(frame, points, styles)
    return svg.drawing(width, HEIGHT, [*parts, *legend])


def _curves(frame: svg.Frame, points: Points | None, styles: Mapping[Series, Style]) -> Iterator[str]:
    """Lines, marks, and what is not shown; a sentence where there is nothing to draw."""
    if points is None or not points.up.size:
        middle = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
        yield from svg.wrapped("no value" if points is None else points.note, *middle, frame.right - frame.left)
        return
    places = np.array(frame.places(points.across.tolist(), points.up.tolist()), dtype=object)
    for name in points.members:
        style, (full, hollow) = styles[name], points.split(name)
        if full.size > 1:
            yield svg.line(places[full].tolist(), style.colour, style.dashes)
        if full.size:
            yield svg.marks(places[full].tolist(), style.marker, style.colour)
        if hollow.size:
            yield svg.marks(places[hollow].tolist(), style.marker, style.colour, is_hollow=True)
    if points.remark:
        yield svg.text(points.remark, frame.left + 4, frame.bottom - 4, size=7)


def _legend(styles: Mapping[Series, Style], width: float) -> Iterator[str]:
    """Every curve's name and style, in rows under the panels."""
    names = {one: series_label(*one) for one in styles}
    columns = min(LEGEND_COLUMNS, len(names)) or 1
    step = 30 + max((svg.width_of(name, LEGEND_SIZE) for name in names.values()), default=0.0)
    # Where names are long, rows are shorter.
    columns = max(1, min(columns, int(width // step)))
    rows = math.ceil(len(names) / columns)
    for number, (one, name) in enumerate(names.items()):
        row, column = divmod(number, columns)
        x, y = (width - step * columns) / 2 + step * column, HEIGHT - 6 - 10 * (rows - 1 - row)
        places = [f"{x:.2f} {y - 2.5:.2f}", f"{x + 10:.2f} {y - 2.5:.2f}", f"{x + 20:.2f} {y - 2.5:.2f}"]
        yield svg.line(places, styles[one].colour, styles[one].dashes)
        yield svg.marks(places[1:2], styles[one].marker, styles[one].colour)
        yield svg.text(name, x + 24, y, size=LEGEND_SIZE)


def overview_picture(shown: Distribution) -> bytes:
    """Distribution of MPR over queries, as on the page."""
    width = 504.0
    largest = max(mark.value for mark in (*shown.top_k, *shown.repaired))
    frame = svg.Frame(
        left=LEFT,
        top=12.0,
        right=width - RIGHT,
        bottom=HEIGHT - 40,
        across=(0.0, 1.05 * max(largest, SMALLEST_SPAN)),
        up=(0.0, 1.0),
    )
    parts = [*frame.axes(f"MPR, class {shown.function_class}", "fraction of queries at or below")]
    both = (("top-k", shown.top_k, BEFORE, "o"), ("repaired", shown.repaired, AFTER, "s"))
    for row, (label, marks, colour, marker) in enumerate(one for one in both if one[1]):
        heights = ((np.arange(len(marks)) + 0.5) / len(marks)).tolist()
        parts.append(svg.marks(frame.places([mark.value for mark in marks], heights), marker, colour))
        y = frame.bottom - 22 + 12 * row
        parts.append(svg.marks([f"{frame.right - 64:.2f} {y - 3:.2f}"], marker, colour))
        parts.append(svg.text(label, frame.right - 56, y))
    return svg.drawing(width, HEIGHT, parts)


def drawn_series(rows: pd.DataFrame) -> list[Series]:
    """The curves of rows with the columns method and target_class, in order of their first appearance."""
    series = rows[["method", "target_class"]].drop_duplicates().astype(object)
    return [series_of(method, target) for method, target in series.itertuples(index=False, name=None)]
