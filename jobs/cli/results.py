"""Commands that read what runs have written, and change nothing in their folders."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from jobs.analysis.comparison import LEVEL, THRESHOLD, wording
from jobs.cli.options import AsJson, Folder
from jobs.cli.texts import exhibits_text
from jobs.errors import UsageError
from jobs.report.publish_exhibits import write_exhibits
from jobs.results.compare import compare_folders
from jobs.results.export import FORMATS
from jobs.results.export import export as export_selections
from jobs.results.verify import verify as verify_folder
from jobs.store import Store

REGRESSION, FAULTY = 4, 1


def _finite(value: float | None) -> float | None:
    """Limits of typer's let NaN through, under which nothing is ever a regression."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is given: a finite number is expected")
    return value


def compare(
    old: Annotated[str, typer.Argument(help="Folder of the earlier run, or its fsspec URL.", show_default=False)],
    new: Annotated[str, typer.Argument(help="Folder of the later run.", show_default=False)],
    threshold: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            callback=_finite,
            help="Rise of a query's largest group gap that is a regression: 0.05 is 5 points.",
        ),
    ] = THRESHOLD,
    mpr_threshold: Annotated[
        float | None,
        typer.Option(min=0, callback=_finite, help="Rise of a query's MPR that is a regression; default: --threshold."),
    ] = None,
    level: Annotated[
        float,
        typer.Option(
            min=1e-6, max=0.5, callback=_finite, help="False discoveries allowed among the queries that moved."
        ),
    ] = LEVEL,
    markdown: Annotated[Path | None, typer.Option(help="Write it as Markdown to this file too.")] = None,
    as_json: AsJson = False,
) -> int:
    """Compare two runs of one configuration: what moved beyond chance; exit code 4 for a regression."""
    found, about = compare_folders(old, new, threshold=threshold, mpr_threshold=mpr_threshold, level=level)
    if markdown is not None:
        try:
            markdown.write_text(wording.to_markdown(found, about), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--markdown {markdown}: {error.strerror}") from None
    print(json.dumps(wording.to_json(found, about), ensure_ascii=False) if as_json else wording.to_text(found, about))
    return REGRESSION if found.has_regression else 0


def export(
    folder: Folder,
    form: Annotated[str, typer.Option("--format", help=f"{', '.join(FORMATS)}: run files, or one table.")],
    output: Annotated[str, typer.Option("--output", help="trec: a folder; long: a .parquet or .csv file.")],
    as_json: AsJson = False,
) -> int:
    """Write a run's selections for other programs: TREC run files, or a table of one row a chosen item."""
    if form not in FORMATS:
        raise UsageError(f"--format {form}: one of {', '.join(FORMATS)} is expected")
    files = export_selections(folder, form, output)
    print(json.dumps({"files": files}, ensure_ascii=False) if as_json else f"{len(files)} files written to {output}")
    return 0


def exhibits(
    folders: Annotated[list[str], typer.Argument(help="Folders of runs, or their fsspec URLs.", show_default=False)],
    output: Annotated[str, typer.Option("--output", help="Folder of the tables and figures.", show_default=False)],
    as_json: AsJson = False,
) -> int:
    """Write the paper's tables and figures from one or more runs, as CSV, LaTeX, PNG and SVG."""
    try:
        written, missing = write_exhibits(folders, Store(output))
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"a run's tables cannot be read, run the audit again to repair them: {error}") from None
    if as_json:
        print(json.dumps({"written": written, "missing": missing}, ensure_ascii=False))
    else:
        print(exhibits_text(written, missing))
    return 0


def verify(
    folder: Folder,
    sample: Annotated[int, typer.Option(min=0, help="Rows of the results whose MPR is measured again.")] = 20,
    as_json: AsJson = False,
) -> int:
    """Read a run's folder again, hash every file, measure a sample anew; exit code 1 for a fault."""
    found = verify_folder(Store(folder).readable(), sample)
    print(json.dumps(found.to_json(), ensure_ascii=False) if as_json else found.to_text())
    return FAULTY if found.faults else 0
