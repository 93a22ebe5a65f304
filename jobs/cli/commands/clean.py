"""`mpr-audit clean`: room in a run's folder."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ...words import bytes_of, numbered
from ..options import AsJson, Folder, print_json

if TYPE_CHECKING:
    from ...results.clean import Cleaning

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be removed, remove nothing.")]


def clean(folder: Folder, dry_run: DryRun = False, as_json: AsJson = False) -> int:
    """Remove units of earlier plans and half-written files from a run's folder."""
    from ...results.clean import clean as clean_folder
    from ...store import Store

    found = clean_folder(Store(folder).readable(), lambda text: print(text, file=sys.stderr), is_dry_run=dry_run)
    if as_json:
        print_json(found.to_json())
    else:
        print(cleaning_text(found))
    return 0


def cleaning_text(found: Cleaning) -> str:
    """One line."""
    verb = "would free" if found.is_dry_run else "freed"
    return (
        f"{verb} {bytes_of(found.bytes)} in {found.output}: {numbered(found.units, 'unit')} of earlier plans and "
        f"{numbered(found.temporary_files, 'file')} left half written"
    )
