"""The report of a run in memory: plain functions from its tables to named files; the caller writes them.

files = build(load("runs/demo"))      # {"index.html": b"...", "worst.csv": ..., ...}

A run in a folder is described in parts, by tasks (`jobs.report.publish`); the files are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.cases import CASE
from ..analysis.load import Run
from ..analysis.tables import csv
from .assembled import Assembled, assembled
from .described import described
from .figures import file_name, overview_picture, picture_names
from .page import page
from .shared import shared_by


def build(run: Run, *, has_pictures: bool = True) -> dict[str, bytes]:
    """Relative file names and contents of a run's report; the same run gives the same bytes."""
    shared = shared_by(run)
    keys = dict.fromkeys(run.results[CASE].drop_duplicates().itertuples(index=False, name=None), "")
    whole = assembled(
        [described(run, shared, keys)],
        shared,
        manifest=run.manifest,
        ids=run.chosen.ids,
        items=run.items,
        thumbnails=run.thumbnails,
    )
    files = {name: b"".join(content) for name, content in files_of(whole, has_pictures=has_pictures)}
    return files | (dict(drawings_of(whole)) if has_pictures else {})


def files_of(report: Assembled, *, has_pictures: bool = True) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Relative file names and contents, in parts, of all but the drawings of cases.

    index.html is the page; worst.csv every (query, group) pair of the top-k selections, worst
    first; curves.csv every selection under every class; groups.csv the group tables of the top-k
    and the repaired selections; overview.svg and curves/<hash>.svg the drawings. curves/index.csv
    maps cases to drawings.
    """
    yield "index.html", page(report)
    yield "worst.csv", iter([csv(report.pairs)])
    yield "curves.csv", report.curves()
    yield "groups.csv", report.group_shares()
    if has_pictures:
        if report.shown is not None:
            yield "overview.svg", iter([overview_picture(report.shown)])
        yield "curves/index.csv", iter([csv(picture_names(report.names))])


def drawings_of(report: Assembled) -> Iterator[tuple[str, bytes]]:
    """Relative file names and contents of the drawings of cases."""
    return ((file_name(case), drawing) for case, drawing in report.drawings())
