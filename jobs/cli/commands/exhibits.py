"""`mpr-audit exhibits`: the paper's tables and figures of some runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import room_in
from ..options import AsJson, print_json

if TYPE_CHECKING:
    from ...report.publish_exhibits import Written

Folders = Annotated[list[str], typer.Argument(help="Folders of runs, or their fsspec URLs.", show_default=False)]
Target = Annotated[str, typer.Option("--output", help="Folder of the tables and figures.", show_default=False)]


Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        help="Folder of the authors' result files (.pkl), whose curves are drawn beside the runs' own.",
        show_default=False,
    ),
]


def exhibits(folders: Folders, output: Target, against: Against = None, as_json: AsJson = False) -> int:
    """Write the paper's tables and figures from one or more runs, as CSV, LaTeX, PNG and SVG."""
    from ...report.publish_exhibits import write_exhibits
    from ...store import Store

    with room_in(output):
        written = write_exhibits(folders, Store(output), against)
    if as_json:
        paper = {"written": written.numbers, "missing": written.numbers_missing}
        found = {"written": written.exhibits, "missing": written.missing, "paper": paper}
        print_json(found if against is None else found | {"left_out": written.left_out})
    else:
        print("\n".join([*_exhibit_lines(written), *_paper_lines(written)]))
    return 0


def _exhibit_lines(written: Written) -> Iterator[str]:
    """One line per exhibit: its table and its number of files, or what the runs lack for it."""
    for name, files in written.exhibits.items():
        yield f"  {name:<24}{len(files):>4} files: {name}.csv, {name}.tex, ..."
    for name, lack in written.missing.items():
        yield f"  {name:<24}   not made: {lack}"
    if written.left_out:
        name, reason = next(iter(written.left_out.items()))
        yield f"  {len(written.left_out):,} of the authors' files are left out; the first, {name:.80}, holds {reason}"


def _paper_lines(written: Written) -> Iterator[str]:
    """One line per number of the paper; runs that have nothing to do with it have one line for all."""
    if not written.numbers:
        yield "the paper's tables and figures need runs of its experiments: docs/paper.md"
        return
    yield "the paper's tables and figures:"
    from ...report.exhibits.numbered import IN_DOCUMENTS

    width = 2 + max(map(len, [*written.numbers, *written.numbers_missing]))
    for name, files in written.numbers.items():
        yield f"  {name:<{width}}{next(file for file in files if file.endswith('.csv'))}"
    for name, where in IN_DOCUMENTS.items():
        yield f"  {name:<{width}}{where}"
    for name, lack in written.numbers_missing.items():
        yield f"  {name:<{width}}lacks: {lack}"
