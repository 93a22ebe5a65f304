"""`mpr-audit compare`: what moved between two runs of one configuration, or which of two systems is fairer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ...analysis.comparison.limits import LEVEL, THRESHOLD
from ...errors import UsageError
from ..exit_codes import REGRESSION
from ..options import AsJson, print_json, with_options, write_text


def _finite(value: float | None) -> float | None:
    """Limits of typer's let NaN through, under which nothing is ever a regression."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is given: a finite number is expected")
    return value


Old = Annotated[
    str, typer.Argument(help="Folder of the earlier run, or of system A; or its fsspec URL.", show_default=False)
]
New = Annotated[
    str | None,
    typer.Argument(help="Folder of the later run, or of system B; may be left out with --methods.", show_default=False),
]
Threshold = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        callback=_finite,
        help="A larger rise of a query's largest group gap is a regression: 0.05 is 5 points.",
    ),
]
MprThreshold = Annotated[
    float | None,
    typer.Option(min=0, callback=_finite, help="A larger rise of a query's MPR is a regression; default: --threshold."),
]
Level = Annotated[
    float,
    typer.Option(min=1e-6, max=0.5, callback=_finite, help="False discovery rate among the queries that moved."),
]
MarkdownFile = Annotated[Path | None, typer.Option(help="Also write the comparison to this file, as Markdown.")]
HtmlFile = Annotated[
    Path | None, typer.Option(help="With --systems: also write a page with both systems side by side.")
]
IsSystems = Annotated[
    bool,
    typer.Option(
        "--systems", help="Compare two systems over the same queries, whatever their encoders and engines; exit code 0."
    ),
]
Methods = Annotated[
    tuple[str, str] | None,
    typer.Option(help="Methods of A and B, such as top_k mopr; with one folder both are methods of that run."),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of `compare`."""

    old: Old
    new: New = None
    systems: IsSystems = False
    methods: Methods = None
    threshold: Threshold = THRESHOLD
    mpr_threshold: MprThreshold = None
    level: Level = LEVEL
    markdown: MarkdownFile = None
    html: HtmlFile = None
    as_json: AsJson = False


@with_options(Options)
def compare(options: Options) -> int:
    """Compare two runs of one configuration: what moved beyond chance; exit code 4 for a regression.

    With --systems: which of two systems is nearer to the reference, query by query.
    """
    return _systems(options) if options.systems or options.methods is not None else _runs(options)


def _runs(options: Options) -> int:
    from ...analysis.comparison import wording
    from ...results.compare import compare_folders

    if options.new is None:
        raise UsageError("NEW is missing: two runs are compared, or two methods of one with --methods A B")
    if options.html is not None:
        raise UsageError("--html goes with --systems: a page of two systems side by side")
    found, about = compare_folders(
        options.old,
        options.new,
        threshold=options.threshold,
        mpr_threshold=options.mpr_threshold,
        level=options.level,
    )
    _write("--markdown", options.markdown, lambda: wording.to_markdown(found, about))
    _show(options, lambda: wording.to_json(found, about), lambda: wording.to_text(found, about))
    return REGRESSION if found.has_regression else 0


def _systems(options: Options) -> int:
    from ...analysis.systems import wording
    from ...report.systems import page
    from ...results.compare import compare_system_folders

    if options.new is None and options.methods is None:
        raise UsageError("B is missing: --systems compares two runs, or two methods of one with --methods A B")
    found, about = compare_system_folders(options.old, options.new, methods=options.methods)
    _write("--markdown", options.markdown, lambda: wording.to_markdown(found, about))
    _write("--html", options.html, lambda: page(found, about))
    _show(options, lambda: wording.to_json(found, about), lambda: wording.to_text(found, about))
    return 0


def _write(option: str, path: Path | None, text: Any) -> None:
    if path is not None:
        write_text(option, path, text())


def _show(options: Options, as_json: Any, as_text: Any) -> None:
    if options.as_json:
        print_json(as_json())
    else:
        print(as_text())
