"""The report of a run: plain functions from its tables to named files; the caller writes them.

files = build(load("runs/demo"))      # {"index.html": b"...", "worst.csv": ..., ...}
"""

from __future__ import annotations

from jobs.analysis.cases import repaired_rows, top_k_rows
from jobs.analysis.curves import trade_offs
from jobs.analysis.load import Run
from jobs.analysis.tables import csv, group_shares
from jobs.analysis.worst import worst_pairs
from jobs.report.figures import curve_pictures, overview_picture, picture_names
from jobs.report.overview import distribution
from jobs.report.page import render


def build(run: Run, *, has_pictures: bool = True) -> dict[str, bytes]:
    """Relative file names and contents of a run's report; the same run gives the same bytes.

    index.html is the page; worst.csv every (query, group) pair of the top-k selections, worst
    first; curves.csv every selection under every class; groups.csv the group tables of the top-k
    and the repaired selections; overview.png and curves/<hash>.png the drawings, which take most
    of the time and are left out without has_pictures. curves/index.csv maps cases to drawings.
    """
    placed = trade_offs(run.results)
    pairs = worst_pairs(run.results, run.groups, minimum_share=run.minimum_share)
    shown = distribution(top_k_rows(run.results), repaired_rows(run.results), run.results)
    files = {
        "index.html": render(run, placed, pairs, shown),
        "worst.csv": csv(pairs),
        "curves.csv": csv(placed),
        "groups.csv": csv(group_shares(run.results, run.groups)),
    }
    if has_pictures:
        if shown is not None:
            files["overview.png"] = overview_picture(shown)
        files |= dict(curve_pictures(placed))
        files["curves/index.csv"] = csv(picture_names(placed))
    return files
