"""Precision against MPR: what fairness costs where each item's true query term is known.

Source:     MPR paper, the figure of precision on Occupations (45 queries, judged gender).
Deviation:  at each fraction of top-k's MPR, the precision of the most similar selection within it is
            averaged over queries: the most precise one could be chosen by hindsight alone. Precision is a
            share of the k items, not divided by top-k's, which may be 0.
"""

from __future__ import annotations

import pandas as pd

from ...analysis.frames import grouped
from ...analysis.load import Run
from ..figures import drawn_series
from ..styles import styles_of
from .exhibit import Exhibit, Missing
from .mean_curves import draw, mean_curves, printed
from .pictures import Panels, file_part, legend

TITLE = "Precision at fractions of top-k's MPR, means over queries"


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """A drawing per (data set, reference, k), one panel per class."""
    rows = curves.dropna(subset=["precision"])
    means = mean_curves(rows, "precision")
    if means.empty:
        raise Missing("no precision is known: name the column of true query terms as dataset.relevance")
    figures = {}
    for names, own in grouped(means, ["dataset", "reference", "k"]):
        classes = own["function_class"].unique().tolist()
        panels = Panels.of(len(classes))
        for panel, name in zip(panels.axes, classes):
            draw(panel, own[own["function_class"] == name], styles_of(drawn_series(own)))
            panel.set_title(name, fontsize=10, parse_math=False)
            panel.set_ylim(bottom=0)
        panels.axes[0].set_ylabel("precision")
        legend(panels.figure, own)
        figures[file_part(*names)] = panels.figure
    return Exhibit(title=TITLE, table=means, summary=printed(means, 3), figures=figures)
