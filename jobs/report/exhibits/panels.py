"""A panel of trade-offs, and the legend of its curves, as matplotlib draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..figures import Points
from ..styles import Series, Style, series_label


def legend_handles(styles: Mapping[Series, Style]) -> list[Line2D]:
    """A legend's entry for every curve, in the order of the styles."""
    return [Line2D([], [], **style.line(), ms=4, lw=1, label=series_label(*one)) for one, style in styles.items()]


def draw_panel(panel: Axes, points: Points, styles: Mapping[Series, Style]) -> None:
    """One case's trade-offs under one class, into an empty panel; a sentence where there is nothing to draw."""
    if not points.up.size:
        panel.text(0.5, 0.5, points.note, ha="center", va="center", wrap=True, transform=panel.transAxes, fontsize=9)
        return
    for name in points.members:
        style, (line, hollow) = styles[name], points.split(name)
        panel.add_line(Line2D(points.across[line], points.up[line], **style.line(), lw=0.8, ms=4))
        if len(hollow):
            hollow_marks: dict[str, Any] = {
                "ls": "",
                "marker": style.marker,
                "color": style.colour,
                "mfc": "none",
                "ms": 5,
            }
            panel.add_line(Line2D(points.across[hollow], points.up[hollow], **hollow_marks))
    right, low, high = points.limits
    panel.set_xlim(0, right)
    panel.set_ylim(low, high)
    if points.remark:
        panel.text(0.02, 0.02, points.remark, transform=panel.transAxes, fontsize=7)
