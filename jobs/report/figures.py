"""Trade-off curves as PNG files, for slides and documents; the page draws its own.

Pictures depend on nothing but their data: the metadata that matplotlib would add is left out.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from .. import interruption
from ..analysis.cases import CASE
from ..analysis.curves import is_fulfilled, vertical_floors
from ..images.drawing import drawing_png
from ..words import shortened
from .overview import Distribution
from .styles import Series, Style, series_label, series_of, styles_of

# Colours of what is compared, which no method has (`jobs.report.styles`).
BEFORE, AFTER = "#0072B2", "#D55E00"
DOTS_PER_INCH = 110
PANEL_INCHES = (4.2, 3.6)
MOST_TICKS = 5
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
    return f"curves/{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}.png"


def picture_names(cases: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Which picture belongs to which case."""
    return pd.DataFrame([(*case, file_name(case)) for case in cases], columns=[*CASE, "picture"])


def curve_pictures(
    curves: pd.DataFrame, classes: Sequence[str], series: Sequence[Series]
) -> Iterator[tuple[str, bytes]]:
    """(file name, PNG) of every case: one panel per function class; series: all that any case of the run has.

    One figure serves all cases, and only what differs is drawn anew: what is drawn once is the background of all.
    """
    styles = styles_of(series)
    floors = vertical_floors(curves)
    sheet = _sheet(tuple(classes), tuple(series))
    for case, rows in curves.groupby(CASE, sort=True):
        interruption.check()
        by_class = dict(tuple(rows.groupby("function_class", sort=False)))
        for panel, name in zip(sheet.panels, classes):
            for drawn in [*panel.lines, *panel.texts]:
                drawn.remove()
            draw_panel(panel, by_class.get(name, rows.iloc[:0]), styles, floors.get((*case, name), 0.0))
        # parse_math is off for a query with dollar signs.
        sheet.figure.suptitle(shortened(str(case[2]), LONGEST_TITLE), parse_math=False)
        yield file_name(case), sheet.png()


class _Sheet:
    """A row of panels whose axes, legend and names stay, while curves, their heights and the title change."""

    def __init__(self, classes: Sequence[str], styles: Mapping[Series, Style]) -> None:
        self.figure = _figure(len(classes))
        self.panels: list[Axes] = list(self.figure.subplots(1, len(classes), squeeze=False)[0])
        for panel, name in zip(self.panels, classes):
            panel.set_title(name, fontsize=10, parse_math=False)
            panel.set_xlabel("MPR, fraction of top-k's")
            panel.grid(alpha=0.25)
            panel.locator_params(nbins=MOST_TICKS)
        self.panels[0].set_ylabel("similarity, fraction of top-k's")
        self.figure.legend(handles=legend_handles(styles), loc="lower center", ncols=6, fontsize=8, frameon=False)
        self._canvas: Any = self.figure.canvas
        # What does not change but with the width of a panel's axis, by panel and that width.
        self._backgrounds: dict[tuple[int, float], Any] = {}

    def png(self) -> bytes:
        """The sheet as it is."""
        changing = [part for panel in self.panels for part in (panel.yaxis, *panel.lines, *panel.spines.values())]
        changing += [*(text for panel in self.panels for text in panel.texts), *self.figure.texts]
        widths = [(place, panel.get_xlim()[1]) for place, panel in enumerate(self.panels)]
        if not self._backgrounds.keys() >= set(widths):
            self._draw_backgrounds(changing, widths)
        for one in widths:
            self._canvas.restore_region(self._backgrounds[one])
        renderer = self._canvas.get_renderer()
        for part in changing:
            part.draw(renderer)
        return drawing_png(self._canvas.buffer_rgba(), self._canvas.get_width_height(), DOTS_PER_INCH)

    def _draw_backgrounds(self, changing: Sequence[Artist], widths: Sequence[tuple[int, float]]) -> None:
        """Draw all that does not change, and keep each panel's column of it."""
        for part in changing:
            part.set_visible(False)
        self._canvas.draw()
        for part in changing:
            part.set_visible(True)
        bounds = [panel.bbox for panel in self.panels]
        cuts = [0.0, *((one.x1 + other.x0) / 2 for one, other in pairwise(bounds)), self.figure.bbox.x1]
        for one, (left, right) in zip(widths, pairwise(cuts)):
            column = Bbox.from_extents(round(left), 0, round(right), self.figure.bbox.y1)
            self._backgrounds[one] = self._canvas.copy_from_bbox(column)


@lru_cache(maxsize=1)
def _sheet(classes: tuple[str, ...], series: tuple[Series, ...]) -> _Sheet:
    """The sheet of a run's drawings, which a process sets up once."""
    return _Sheet(classes, styles_of(series))


def overview_picture(shown: Distribution) -> bytes:
    """Distribution of MPR over queries, as on the page."""
    figure = _figure(1, width=7.0)
    panel = figure.subplots()
    for label, marks, colour, marker in (
        ("top-k", shown.top_k, BEFORE, "o"), ("repaired", shown.repaired, AFTER, "s"),
    ):  # fmt: skip
        if marks:
            place = (np.arange(len(marks)) + 0.5) / len(marks)
            panel.plot([mark.value for mark in marks], place, marker, color=colour, label=label, ms=5)
    panel.set_xlabel(f"MPR, class {shown.function_class}")
    panel.set_ylabel("fraction of queries at or below")
    panel.set_xlim(left=0)
    panel.set_ylim(0, 1)
    panel.grid(alpha=0.25)
    panel.legend()
    return _png(figure)


def drawn_series(rows: pd.DataFrame) -> list[Series]:
    """The curves of rows with the columns method and target_class, in order of their first appearance."""
    series = rows[["method", "target_class"]].drop_duplicates().astype(object)
    return [series_of(method, target) for method, target in series.itertuples(index=False, name=None)]


def legend_handles(styles: Mapping[Series, Style]) -> list[Line2D]:
    """A legend's entry for every curve, in the order of the styles."""
    return [Line2D([], [], **style.line(), ms=4, lw=1, label=series_label(*one)) for one, style in styles.items()]


def draw_panel(panel: Axes, rows: pd.DataFrame, styles: Mapping[Series, Style], floor: float) -> None:
    """One case's trade-offs under one class, into an empty panel; a sentence where there is nothing to draw."""
    shown = rows.dropna(subset=["mpr_fraction", "similarity_fraction"])
    if shown.empty:
        notes = rows.loc[rows["note"] != "", "note"]
        text = notes.iloc[0] if len(notes) else "no value"
        panel.text(0.5, 0.5, text, ha="center", va="center", wrap=True, transform=panel.transAxes, fontsize=9)
        return
    across, up = shown["mpr_fraction"].to_numpy(dtype=float), shown["similarity_fraction"].to_numpy(dtype=float)
    is_full, is_above = is_fulfilled(shown["status"]).to_numpy(dtype=bool), up >= floor
    # Positions of each series: slicing the table itself, once a line, took longer than the drawing.
    series = shown[["method", "target_class"]].groupby(["method", "target_class"], dropna=False, sort=False)
    for key, positions in series.indices.items():
        style, members = styles[series_of(*cast("tuple[str, Any]", key))], np.asarray(positions)
        line = members[is_full[members] & is_above[members]]
        panel.add_line(Line2D(across[line], up[line], **style.line(), lw=0.8, ms=4))
        hollow = members[~is_full[members] & is_above[members]]
        if len(hollow):
            hollow_marks: dict[str, Any] = {
                "ls": "",
                "marker": style.marker,
                "color": style.colour,
                "mfc": "none",
                "ms": 5,
            }
            panel.add_line(Line2D(across[hollow], up[hollow], **hollow_marks))
    ceiling = max(1.0, float(shown["similarity_fraction"].max()))
    margin = VERTICAL_MARGIN * max(ceiling - floor, SMALLEST_SPAN)
    # In steps, so that neighbouring cases have the same axes.
    widest = math.ceil(max(1.0, float(across.max())) / WIDTH_STEP - ROUNDING) * WIDTH_STEP
    panel.set_xlim(0, 1.05 * widest)
    panel.set_ylim(floor - margin, ceiling + margin)
    below = int((~is_above).sum())
    if below:
        panel.text(0.02, 0.02, f"{below} points below {floor:.2f}", transform=panel.transAxes, fontsize=7)


def _figure(panels: int, width: float = PANEL_INCHES[0]) -> Figure:
    """A figure of its own canvas: nothing global, so that reports may be made in threads."""
    figure = Figure(figsize=(width * max(panels, 1), PANEL_INCHES[1]), dpi=DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    figure.subplots_adjust(left=0.9 / (width * max(panels, 1)), right=0.98, bottom=0.24, top=0.84, wspace=0.22)
    return figure


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
