"""The command that makes room in a run's folder."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from jobs.cli.options import AsJson, Folder
from jobs.results.clean import clean as clean_folder
from jobs.store import Store


def clean(
    folder: Folder,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, remove nothing.")] = False,
    as_json: AsJson = False,
) -> int:
    """Remove units of earlier plans and half-written files from a run's folder."""
    found = clean_folder(Store(folder).readable(), lambda text: print(text, file=sys.stderr), is_dry_run=dry_run)
    print(json.dumps(found.to_json(), ensure_ascii=False) if as_json else found.to_text())
    return 0
