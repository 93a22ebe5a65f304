"""`mpr-audit export`: a run's selections for other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import UsageError
from ...results.export.formats import FORMATS
from ...words import numbered
from ..options import AsJson, Folder, print_json

Form = Annotated[str, typer.Option("--format", help=f"{', '.join(FORMATS)}: run files, or one table.")]
Target = Annotated[str, typer.Option("--output", help="trec: a folder; long: a .parquet or .csv file.")]


def export(folder: Folder, form: Form, output: Target, as_json: AsJson = False) -> int:
    """Write a run's selections for other programs: TREC run files, or a table of one row per chosen item."""
    from ...results.export.write import write

    if form not in FORMATS:
        raise UsageError(f"--format {form}: one of {', '.join(FORMATS)} is expected")
    files = write(folder, form, output)
    if as_json:
        print_json({"files": files})
    else:
        print(f"{numbered(len(files), 'file')} written to {output}")
    return 0
