"""Drawings of exhibits: panels in rows, one legend, the same bytes for the same data."""

from __future__ import annotations

import hashlib
import io
import math
import re
from dataclasses import dataclass

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ...words import numbered
from ..figures import drawn_series
from ..styles import styles_of
from .panels import legend_handles

DOTS_PER_INCH = 110
PANELS_A_ROW = 3
# Panels of one drawing: a page's worth; further queries go to further drawings.
PANELS_A_PAGE = 12
PANEL_INCHES = (3.1, 2.5)
# Letters of a data set's or a query's name in the name of a file.
LONGEST_PART = 60
# A table as a drawing: one line of monospaced type per row.
LONGEST_TABLE, CHARACTER_INCHES, LINE_INCHES, LINE_SPACING = 60, 0.0675, 0.19, 1.45
# Above the panels nothing, under them axis label and legend; left of them the axis label.
LEFT_INCHES, BOTTOM_INCHES, TOP_INCHES = 0.75, 1.1, 0.3


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Panels:
    """A figure of its own canvas and its axes in reading order."""

    figure: Figure
    axes: tuple[Axes, ...]

    @classmethod
    def of(cls, count: int, in_row: int = PANELS_A_ROW) -> Panels:
        """A figure of that many panels, three per row by default."""
        columns = min(count, in_row)
        rows = math.ceil(count / columns)
        width = LEFT_INCHES + columns * PANEL_INCHES[0]
        height = TOP_INCHES + BOTTOM_INCHES + rows * PANEL_INCHES[1]
        figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH)
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
        for unused in axes[count:]:
            unused.remove()
        figure.subplots_adjust(
            left=LEFT_INCHES / width, right=0.98, bottom=BOTTOM_INCHES / height, top=1 - TOP_INCHES / height,
            wspace=0.25, hspace=0.35,
        )  # fmt: skip
        return cls(figure=figure, axes=tuple(axes[:count]))

    def label(self, across: str, up: str) -> None:
        """One label for each axis of the whole figure."""
        height = self.figure.get_figheight()
        self.figure.supxlabel(across, y=0.6 / height, va="bottom", fontsize=10, parse_math=False)
        self.figure.supylabel(up, x=0.01, fontsize=10, parse_math=False)


def legend(figure: Figure, rows: pd.DataFrame) -> None:
    """Every curve of the rows (columns method and target_class), in its style."""
    handles = legend_handles(styles_of(drawn_series(rows)))
    figure.legend(handles=handles, loc="lower center", ncols=max(2, 2 * round(figure.get_figwidth() / 3.5)),
                  fontsize=8, frameon=False)  # fmt: skip


def png(figure: Figure) -> bytes:
    """The drawing in dots."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def svg(figure: Figure) -> bytes:
    """The drawing in lines, its texts as texts; no date and no random names."""
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "exhibit", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def file_part(*names: object) -> str:
    """Names as a part of a file's name; where letters are lost, a hash keeps two names apart."""
    text = "-".join(str(name) for name in names).lower().replace(" ", "-")
    safe = re.sub(r"[^a-z0-9]+", "-", text).strip("-")[:LONGEST_PART]
    if safe == text:
        return safe
    return f"{safe or 'unnamed'}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:4]}"


def table_picture(rows: pd.DataFrame, title: str) -> Figure:
    """A printed table as a drawing, for slides; at most LONGEST_TABLE rows, the rest is counted."""
    shown = rows.head(LONGEST_TABLE).astype(object)
    texts = [[str(name) for name in rows], *([_cell_text(value) for value in row] for row in shown.to_numpy())]
    widths = [max(len(row[column]) for row in texts) for column in range(len(rows.columns))]
    starts = [sum(widths[:column]) + 3 * column for column in range(len(widths))]
    width = (starts[-1] + widths[-1] if widths else 1) * CHARACTER_INCHES + 0.4
    height = (len(texts) + 3) * LINE_INCHES
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    figure.text(0.2 / width, 1 - LINE_INCHES / height, title, fontsize=9, weight="bold", va="center", parse_math=False)
    for start, column in zip(starts, zip(*texts)):
        # A column is two texts, plain and bold, whose lines leave each other room: one text per cell takes far longer.
        for is_bold in (False, True):
            lines = [
                cell.strip("*") if (line == 0 or cell.startswith("*")) == is_bold else ""
                for line, cell in enumerate(column)
            ]
            figure.text(
                (0.2 + start * CHARACTER_INCHES) / width, 1 - 1.7 * LINE_INCHES / height, "\n".join(lines),
                fontsize=8, va="top", family="monospace", weight="bold" if is_bold else "normal",
                linespacing=LINE_SPACING, parse_math=False,
            )  # fmt: skip
    if len(rows) > len(shown):
        figure.text(
            0.2 / width, 0.4 * LINE_INCHES / height, f"and {numbered(len(rows) - len(shown), 'more row')}", fontsize=8
        )
    return figure


def _cell_text(value: object) -> str:
    return "--" if value is None or value != value else str(value)
