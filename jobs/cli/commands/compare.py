"""`mpr-audit compare`: what moved between two runs of one configuration."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from jobs.analysis.comparison.limits import LEVEL, THRESHOLD
from jobs.cli.exit_codes import REGRESSION
from jobs.cli.options import AsJson, print_json
from jobs.errors import UsageError


def _finite(value: float | None) -> float | None:
    """Limits of typer's let NaN through, under which nothing is ever a regression."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is given: a finite number is expected")
    return value


Old = Annotated[str, typer.Argument(help="Folder of the earlier run, or its fsspec URL.", show_default=False)]
New = Annotated[str, typer.Argument(help="Folder of the later run.", show_default=False)]
Threshold = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        callback=_finite,
        help="Rise of a query's largest group gap that is a regression: 0.05 is 5 points.",
    ),
]
MprThreshold = Annotated[
    float | None,
    typer.Option(min=0, callback=_finite, help="Rise of a query's MPR that is a regression; default: --threshold."),
]
Level = Annotated[
    float,
    typer.Option(min=1e-6, max=0.5, callback=_finite, help="False discoveries allowed among the queries that moved."),
]
MarkdownFile = Annotated[Path | None, typer.Option(help="Write it as Markdown to this file too.")]


def compare(
    old: Old,
    new: New,
    threshold: Threshold = THRESHOLD,
    mpr_threshold: MprThreshold = None,
    level: Level = LEVEL,
    markdown: MarkdownFile = None,
    as_json: AsJson = False,
) -> int:
    """Compare two runs of one configuration: what moved beyond chance; exit code 4 for a regression."""
    from jobs.analysis.comparison import wording
    from jobs.results.compare import compare_folders

    found, about = compare_folders(old, new, threshold=threshold, mpr_threshold=mpr_threshold, level=level)
    if markdown is not None:
        try:
            markdown.write_text(wording.to_markdown(found, about), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--markdown {markdown}: {error.strerror}") from None
    if as_json:
        print_json(wording.to_json(found, about))
    else:
        print(wording.to_text(found, about))
    return REGRESSION if found.has_regression else 0
