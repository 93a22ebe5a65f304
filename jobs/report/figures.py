"""Trade-off curves as PNG files, for slides and tickets; the page draws its own.

Pictures depend on nothing but their data: the metadata that matplotlib would add is left out.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from jobs.report.cases import CASE, method_order
from jobs.report.curves import is_fulfilled, vertical_floor
from jobs.report.overview import Distribution

# Okabe and Ito's colours: told apart under every common colour blindness. The markers differ too.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A6A00")
MARKERS = ("D", "o", "s", "^", "v", "P", "X", "<")
DOTS_PER_INCH = 110
PANEL_INCHES = (4.2, 3.4)
# A title longer than this runs into its neighbour; the page has the whole text.
LONGEST_TITLE = 70


def file_name(case: tuple) -> str:
    """Where a case's picture lies: a hash, since a query may hold anything but a file name."""
    text = "\x1f".join(str(part) for part in case)
    return f"curves/{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}.png"


def picture_names(curves: pd.DataFrame) -> pd.DataFrame:
    """Which picture belongs to which case."""
    cases = curves[CASE].drop_duplicates().sort_values(CASE)
    return cases.assign(picture=[file_name(case) for case in cases.itertuples(index=False, name=None)])


def style(methods: list[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each method, in the report's order of methods."""
    ordered = sorted(set(methods), key=method_order)
    return {
        name: (COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]) for place, name in enumerate(ordered)
    }


def curve_pictures(curves: pd.DataFrame) -> Iterator[tuple[str, bytes]]:
    """(file name, PNG) of every case: one panel a function class.

    One figure serves all cases: making a figure takes longer than filling it.
    """
    classes = curves["function_class"].dropna().unique().tolist()
    styles = style(curves["method"].unique().tolist())
    figure = _figure(len(classes))
    panels = figure.subplots(1, len(classes), squeeze=False)[0]
    for case, rows in curves.groupby(CASE, sort=True):
        for panel, name in zip(panels, classes):
            panel.clear()
            _draw_panel(panel, rows[rows["function_class"] == name], name, styles)
        title = str(case[2])
        # parse_math is off for a query with dollar signs.
        figure.suptitle(title if len(title) <= LONGEST_TITLE else title[:LONGEST_TITLE] + "\u2026", parse_math=False)
        panels[0].set_ylabel("similarity, fraction of top-k's")
        panels[0].legend(fontsize=8, loc="lower right")
        yield file_name(case), _png(figure)


def overview_picture(shown: Distribution) -> bytes:
    """Distribution of MPR over queries, as on the page."""
    figure = _figure(1, width=7.0)
    panel = figure.subplots()
    for label, marks, colour, marker in (
        ("top-k", shown.top_k, COLOURS[1], "o"), ("repaired", shown.repaired, COLOURS[2], "D"),
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


def _draw_panel(panel: Axes, rows: pd.DataFrame, name: str, styles: dict[str, tuple[str, str]]) -> None:
    panel.set_title(name, fontsize=10, parse_math=False)
    panel.set_xlabel("MPR, fraction of top-k's")
    panel.grid(alpha=0.25)
    shown = rows.dropna(subset=["mpr_fraction", "similarity_fraction"])
    if shown.empty:
        notes = rows.loc[rows["note"] != "", "note"]
        text = notes.iloc[0] if len(notes) else "no value"
        panel.text(0.5, 0.5, text, ha="center", va="center", wrap=True, transform=panel.transAxes, fontsize=9)
        return
    floor = vertical_floor(rows)
    for (method, target), members in shown.groupby(["method", "target_class"], dropna=False, sort=False):
        colour, marker = styles[method]
        label = method if target != target or target is None else f"{method} ({target})"
        kept = is_fulfilled(members["status"]) & (members["similarity_fraction"] >= floor)
        line = members[kept]
        panel.plot(line["mpr_fraction"], line["similarity_fraction"], color=colour, lw=1, alpha=0.5)
        panel.plot(line["mpr_fraction"], line["similarity_fraction"], marker, color=colour, ms=4, label=label)
        hollow = members[~is_fulfilled(members["status"]) & (members["similarity_fraction"] >= floor)]
        panel.plot(hollow["mpr_fraction"], hollow["similarity_fraction"], marker, color=colour, mfc="none", ms=5)
    panel.set_xlim(0, max(1.05, 1.05 * float(shown["mpr_fraction"].max())))
    panel.set_ylim(floor - 0.04 * (1 - floor), max(1.0, float(shown["similarity_fraction"].max())) + 0.06 * (1 - floor))
    below = int((shown["similarity_fraction"] < floor).sum())
    if below:
        panel.text(0.02, 0.02, f"{below} points below {floor:.2f}", transform=panel.transAxes, fontsize=7)


def _figure(panels: int, width: float = PANEL_INCHES[0]) -> Figure:
    """A figure of its own canvas: nothing global, so that reports may be made in threads."""
    figure = Figure(figsize=(width * max(panels, 1), PANEL_INCHES[1]), dpi=DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    figure.subplots_adjust(left=0.9 / (width * max(panels, 1)), right=0.98, bottom=0.16, top=0.84, wspace=0.22)
    return figure


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
