"""Similarity against MPR, both as fractions of top-k's: every query, class and method, and their means.

Source:     MPR paper, Figure 1 (means over ten queries) and the figures of its appendix (one query each).
Deviation:  values are exact for linear, tree, groups and saturated, where the paper's oracles are lower
            bounds; a constrained set that broke its rho is drawn hollow in a query's panel and is
            not part of the means; means are of step functions, since points of two sweeps do not pair.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ...analysis.cases import CASE
from ...analysis.curves import vertical_floors, why_no_fractions
from ...analysis.frames import grouped
from ...analysis.load import Run
from ...words import shortened
from ..figures import LONGEST_TITLE, drawn_series, points_of
from ..styles import styles_of
from .exhibit import Exhibit, Missing
from .mean_curves import mean_curves, mean_figure, printed
from .panels import draw_panel
from .pictures import PANELS_A_PAGE, Panels, file_part, legend

TITLE = "Similarity kept at fractions of top-k's MPR, means over queries"


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """A drawing of the means per (data set, reference, k), and for each class pages of queries."""
    means = mean_curves(curves, "similarity_fraction")
    if means.empty:
        raise Missing(f"no selection has fractions of top-k's: {why_no_fractions(curves)}")
    figures, floors = {}, vertical_floors(curves)
    for names, own in grouped(curves, ["dataset", "reference", "k"]):
        part = file_part(*names)
        known = means[(means["dataset"] == names[0]) & (means["reference"] == names[1]) & (means["k"] == names[2])]
        if len(known):
            figures[f"{part}-mean"] = mean_figure(known, "similarity, fraction of top-k's").figure
        for (name,), rows in grouped(own, ["function_class"]):
            cases = list(grouped(rows, CASE, sort=True))
            for start in range(0, len(cases), PANELS_A_PAGE):
                page = _query_figure(cases[start : start + PANELS_A_PAGE], name, own, floors)
                figures[f"{part}-{file_part(name)}-{1 + start // PANELS_A_PAGE:02d}"] = page
    return Exhibit(title=TITLE, table=curves, summary=printed(means, 4), figures=figures)


def _query_figure(
    cases: list[tuple[tuple[Any, ...], pd.DataFrame]],
    name: str,
    rows: pd.DataFrame,
    floors: dict[tuple[Any, ...], float],
) -> Figure:
    """One panel per query; colours are those of all methods, so that pages agree."""
    panels, styles = Panels.of(len(cases)), styles_of(drawn_series(rows))
    for panel, (case, own) in zip(panels.axes, cases):
        draw_panel(panel, points_of(own, floors)[*case, name], styles)
        panel.set_title(shortened(str(case[2]), LONGEST_TITLE), fontsize=9, parse_math=False)
        panel.grid(alpha=0.25)
    panels.label(f"MPR ({name}), fraction of top-k's", "similarity, fraction of top-k's")
    legend(panels.figure, rows)
    return panels.figure
