"""Precision against MPR: what fairness costs where each item's true query term is known.

Source:     MPR paper, the figures of precision on Occupations (judged gender), means and single queries.
Deviation:  at each fraction of top-k's MPR, the precision of the most similar selection within it is
            averaged over queries: the most precise one could be chosen by hindsight alone. Precision is a
            share of the k items, not divided by top-k's, which may be 0.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ...analysis.cases import CASE
from ...analysis.frames import grouped
from ...analysis.load import Run
from ...words import shortened
from ..figures import LONGEST_TITLE, drawn_series
from ..styles import styles_of
from .exhibit import Exhibit, Missing
from .mean_curves import draw, mean_curves, mean_figure, printed
from .pictures import PANELS_A_PAGE, Panels, file_part, legend

TITLE = "Precision at fractions of top-k's MPR, means over queries"


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """A drawing of means per (data set, reference, k), and for each class pages of queries.

    The table has a row per fraction of the means, and with a query's name one per fraction of its own curve.
    """
    rows = curves.dropna(subset=["precision"])
    means = mean_curves(rows, "precision")
    if means.empty:
        raise Missing("no precision is known: name the column of true query terms as dataset.relevance")
    figures = {}
    for names, own in grouped(means, ["dataset", "reference", "k"]):
        figures[file_part(*names)] = _mean_figure(own)
    each = [
        mean_curves(own, "precision").assign(query=case[2])
        for (*case, _name), own in grouped(rows, [*CASE, "function_class"])
    ]
    by_query = pd.concat([one for one in each if len(one)], ignore_index=True)
    for (dataset, reference, k, name), own in grouped(by_query, ["dataset", "reference", "k", "function_class"]):
        panels = list(grouped(own, ["query"], sort=True))
        for start in range(0, len(panels), PANELS_A_PAGE):
            part = f"{file_part(dataset, reference, k)}-{file_part(name)}-{1 + start // PANELS_A_PAGE:02d}"
            figures[part] = _query_figure(panels[start : start + PANELS_A_PAGE], name, own)
    table = pd.concat([means, by_query], ignore_index=True)
    table = table[["query", *(name for name in table if name != "query")]]
    return Exhibit(title=TITLE, table=table, summary=printed(means, 3), figures=figures)


def _mean_figure(own: pd.DataFrame) -> Figure:
    panels = mean_figure(own, "precision")
    for panel in panels.axes:
        panel.set_ylim(bottom=0)
    return panels.figure


def _query_figure(cases: list[tuple[tuple[Any, ...], pd.DataFrame]], name: str, rows: pd.DataFrame) -> Figure:
    """One panel per query, in the same styles on every page."""
    panels, styles = Panels.of(len(cases)), styles_of(drawn_series(rows))
    for panel, ((query,), own) in zip(panels.axes, cases):
        draw(panel, own, styles)
        panel.set_title(shortened(str(query), LONGEST_TITLE), fontsize=9, parse_math=False)
        panel.set_ylim(-0.02, 1.02)
        panel.set_xlabel("")
    panels.label(f"MPR ({name}), fraction of top-k's", "precision")
    legend(panels.figure, rows)
    return panels.figure
