"""The paper's exhibits of finished runs, into a folder of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from ..analysis.curves import trade_offs
from ..analysis.joined_runs import load_together
from ..store import Store
from . import exhibits, published

AGAINST = "against"
INDEX = f"{exhibits.FOLDER}/index.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """Names of files by exhibit and by number of the paper, and for each of the others what the runs lack.

    left_out: files of the authors' that were not read, with the reason.
    """

    exhibits: dict[str, list[str]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, list[str]] = field(default_factory=dict)
    numbers_missing: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def write_exhibits(folders: Sequence[str], store: Store, against: str | None = None) -> Written:
    """Write every exhibit that the runs' tables allow, and every table and figure of the paper.

    against: a folder of the authors' result files, to be drawn beside the runs' own.
    Raises:  UsageError when a folder holds no results or tables that cannot be read, or the store cannot be written.
    """
    run = load_together(folders)
    theirs = None if against is None else published.read_folder(against)
    store.prepare()
    written = Written()
    for name, files in exhibits.build(run):
        _put_exhibit(store, name, files, written.exhibits, written.missing)
    for one, files in exhibits.build_numbered(run):
        _put_exhibit(store, one.number, files, written.numbers, written.numbers_missing)
    if theirs is not None:
        made = exhibits.files_of(AGAINST, published.exhibit(trade_offs(run.results), theirs))
        _put_exhibit(store, AGAINST, made, written.exhibits, written.missing)
        written.left_out.update(theirs.left_out)
    store.write(INDEX, _index_of_paper(written).to_csv(index=False, lineterminator="\n").encode())
    return written


def _put_exhibit(
    store: Store, name: str, files: dict[str, bytes] | str, made: dict[str, list[str]], missing: dict[str, str]
) -> None:
    if isinstance(files, str):
        missing[name] = files
        return
    for file, data in files.items():
        store.write(file, data)
    made[name] = sorted(files)


def _index_of_paper(written: Written) -> pd.DataFrame:
    """What the paper has, where it is, and what each of the others lacks."""
    rows = [
        {
            "number": one.number,
            "shows": one.shows,
            "exhibit": one.exhibit,
            "csv": next((name for name in written.numbers.get(one.number, ()) if name.endswith(".csv")), None),
            "lacks": written.numbers_missing.get(one.number),
        }
        for one in exhibits.NUMBERED
    ]
    return pd.DataFrame(rows)
