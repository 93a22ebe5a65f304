"""Arguments and options that several commands share, and what `--json` prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

Config = Annotated[Path, typer.Argument(help="The audit's YAML file.", show_default=False)]
Folder = Annotated[str, typer.Argument(help="Folder of a run, or its fsspec URL.", show_default=False)]
Output = Annotated[str | None, typer.Option("--output", help="Folder of the run; default: the configuration's.")]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="Override a setting, as k=10 or a.b=c.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N queries.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def print_json(value: Any) -> None:
    """One JSON object on one line."""
    print(json.dumps(value, ensure_ascii=False))
