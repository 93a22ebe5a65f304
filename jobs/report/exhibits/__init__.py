"""The paper's tables and figures from finished runs: one module per exhibit.

files, missing = build(load("runs/paper"))      # {"trade_off.csv": b"...", ...}, {"precision": "..."}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pandas as pd

from ... import interruption
from ...analysis.curves import trade_offs
from ...analysis.load import Run
from ...analysis.tables import csv
from . import (
    contact_sheets,
    cutting_plane_and_cone,
    intersections,
    joint_shares,
    lp_and_integer,
    oracle_and_closed_form,
    order_measures,
    over_k,
    precision,
    running_times,
    shown_and_expected,
    smallest_mpr,
    trade_off,
)
from .exhibit import Exhibit, Missing
from .latex import table
from .numbered import NUMBERED, Numbered
from .numbered_part import joined, part_of
from .pictures import png, svg, table_picture

# Where the paper's numbers are, below the exhibits.
FOLDER = "paper"
__all__ = ["EXHIBITS", "FOLDER", "NUMBERED", "build", "build_numbered", "files_of"]

EXHIBITS: Mapping[str, Callable[[Run, pd.DataFrame], Exhibit]] = {
    "trade_off": trade_off.make,
    "intersections": intersections.make,
    "joint_shares": joint_shares.make,
    "running_times": running_times.make,
    "smallest_mpr": smallest_mpr.make,
    "lp_and_integer": lp_and_integer.make,
    "cutting_plane_and_cone": cutting_plane_and_cone.make,
    "oracle_and_closed_form": oracle_and_closed_form.make,
    "precision": precision.make,
    "order_measures": order_measures.make,
    "over_k": over_k.make,
    "contact_sheets": contact_sheets.make,
    "shown_and_expected": shown_and_expected.make,
}


def build(run: Run) -> Iterator[tuple[str, dict[str, bytes] | str]]:
    """Each exhibit's name with its files (relative names and contents), or with what the run lacks for it.

    NAME.csv holds every number, NAME.tex the printed table, NAME.png and NAME.svg the drawing; several
    drawings are NAME/PART.png. An exhibit without a drawing of its own gets one of its printed table.
    """
    curves = trade_offs(run.results)
    for name, make in EXHIBITS.items():
        interruption.check()
        try:
            yield name, files_of(name, make(run, curves))
        except Missing as lack:
            yield name, str(lack)


def build_numbered(run: Run) -> Iterator[tuple[Numbered, dict[str, bytes] | str]]:
    """Each of the paper's numbers with its files, below the folder FOLDER, or with what the run lacks for it."""
    run, curves = joined(run, trade_offs(run.results))
    for one in NUMBERED:
        interruption.check()
        try:
            part, own = part_of(run, curves, one)
            exhibit = EXHIBITS[one.exhibit](part, own)
            without = one.lacking(part.results["method"])
            title = f"{one.number}: {exhibit.title}" + (f"; without {', '.join(without)}" if without else "")
            yield one, files_of(f"{FOLDER}/{one.stem}", replace(exhibit, title=title))
        except Missing as lack:
            yield one, str(lack)


def files_of(name: str, exhibit: Exhibit) -> dict[str, bytes]:
    """An exhibit's files by their names, which begin with its own."""
    files = {
        f"{name}.csv": csv(exhibit.table),
        f"{name}.tex": table(exhibit.summary, exhibit.title, f"tab:{name.rpartition('/')[2].replace('_', '-')}"),
    }
    for part, figure in (exhibit.figures or {"": table_picture(exhibit.summary, exhibit.title)}).items():
        stem = f"{name}/{part}" if part else name
        files[f"{stem}.png"] = png(figure)
        files[f"{stem}.svg"] = svg(figure)
    return files
