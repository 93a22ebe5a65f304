"""`mpr-audit exhibits`: the paper's tables and figures of some runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from ..options import AsJson, print_json

Folders = Annotated[list[str], typer.Argument(help="Folders of runs, or their fsspec URLs.", show_default=False)]
Target = Annotated[str, typer.Option("--output", help="Folder of the tables and figures.", show_default=False)]


def exhibits(folders: Folders, output: Target, as_json: AsJson = False) -> int:
    """Write the paper's tables and figures from one or more runs, as CSV, LaTeX, PNG and SVG."""
    from ...report.publish_exhibits import write_exhibits
    from ...store import Store

    written, missing = write_exhibits(folders, Store(output))
    if as_json:
        print_json({"written": written, "missing": missing})
    else:
        print(exhibits_text(written, missing))
    return 0


def exhibits_text(written: Mapping[str, Sequence[str]], missing: Mapping[str, str]) -> str:
    """One line per exhibit: its table and its number of files, or what the runs lack for it."""
    lines = [f"  {name:<24}{len(files):>4} files: {name}.csv, {name}.tex, ..." for name, files in written.items()]
    return "\n".join([*lines, *(f"  {name:<24}   not made: {lack}" for name, lack in missing.items())])
