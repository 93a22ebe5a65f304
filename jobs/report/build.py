"""The report of a run in memory: plain functions from its tables to named files; the caller writes them.

files = build(load("runs/demo"))      # {"index.html": b"...", "worst.csv": ..., ...}

A run in a folder is described in parts, by tasks (`jobs.report.publish`); the files are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.curves import trade_offs
from ..analysis.load import Run
from ..analysis.tables import csv
from .assembled import Assembled, assembled
from .described import described
from .figures import curve_pictures, overview_picture, picture_names
from .page import page
from .shared import shared_by


def build(run: Run, *, has_pictures: bool = True) -> dict[str, bytes]:
    """Relative file names and contents of a run's report; the same run gives the same bytes.

    has_pictures: with the drawings, which take most of the time.
    """
    shared, curves = shared_by(run), trade_offs(run.results)
    whole = assembled(
        [described(run, shared, curves)],
        shared,
        manifest=run.manifest,
        ids=run.chosen.ids,
        items=run.items,
        thumbnails=run.thumbnails,
    )
    files = {name: b"".join(content) for name, content in files_of(whole, has_pictures=has_pictures)}
    return files | (dict(curve_pictures(curves, shared.classes, shared.series)) if has_pictures else {})


def files_of(report: Assembled, *, has_pictures: bool = True) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Relative file names and contents, in parts, of all but the drawings of cases.

    index.html is the page; worst.csv every (query, group) pair of the top-k selections, worst
    first; curves.csv every selection under every class; groups.csv the group tables of the top-k
    and the repaired selections; overview.png and curves/<hash>.png the drawings. curves/index.csv
    maps cases to drawings.
    """
    yield "index.html", page(report)
    yield "worst.csv", iter([csv(report.pairs)])
    yield "curves.csv", report.csv("curves")
    yield "groups.csv", report.csv("groups")
    if has_pictures:
        if report.shown is not None:
            yield "overview.png", iter([overview_picture(report.shown)])
        yield "curves/index.csv", iter([csv(picture_names(report.names))])
