"""Trade-off curves as PNG files, for slides and documents; the page draws its own.

Pictures depend on nothing but their data: the metadata that matplotlib would add is left out.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from jobs import interruption
from jobs.analysis.cases import CASE
from jobs.analysis.curves import is_fulfilled, vertical_floors
from jobs.report.overview import Distribution
from jobs.report.styles import Series, Style, series_label, series_of, styles_of
from jobs.words import shortened

# Colours of what is compared, which no method has (`jobs.report.styles`).
BEFORE, AFTER = "#0072B2", "#D55E00"
DOTS_PER_INCH = 110
PANEL_INCHES = (4.2, 3.6)
MOST_TICKS = 5
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

    One figure serves all cases, and only what differs is drawn anew: setting up axes and legend
    takes longer than filling them.
    """
    styles = styles_of(series)
    floors = vertical_floors(curves)
    figure = _figure(len(classes))
    panels = figure.subplots(1, len(classes), squeeze=False)[0]
    for panel, name in zip(panels, classes):
        panel.set_title(name, fontsize=10, parse_math=False)
        panel.set_xlabel("MPR, fraction of top-k's")
        panel.grid(alpha=0.25)
        panel.locator_params(nbins=MOST_TICKS)
    panels[0].set_ylabel("similarity, fraction of top-k's")
    figure.legend(handles=legend_handles(styles), loc="lower center", ncols=6, fontsize=8, frameon=False)
    for case, rows in curves.groupby(CASE, sort=True):
        interruption.check()
        by_class = dict(tuple(rows.groupby("function_class", sort=False)))
        for panel, name in zip(panels, classes):
            for drawn in [*panel.lines, *panel.texts]:
                drawn.remove()
            draw_panel(panel, by_class.get(name, rows.iloc[:0]), styles, floors.get((*case, name), 0.0))
        # parse_math is off for a query with dollar signs.
        figure.suptitle(shortened(str(case[2]), LONGEST_TITLE), parse_math=False)
        yield file_name(case), _png(figure)


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
        panel.plot(across[line], up[line], **style.line(), lw=0.8, ms=4)
        hollow = members[~is_full[members] & is_above[members]]
        if len(hollow):
            panel.plot(across[hollow], up[hollow], style.marker, color=style.colour, mfc="none", ms=5)
    ceiling = max(1.0, float(shown["similarity_fraction"].max()))
    margin = VERTICAL_MARGIN * max(ceiling - floor, SMALLEST_SPAN)
    panel.set_xlim(0, 1.05 * max(1.0, float(shown["mpr_fraction"].max())))
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
