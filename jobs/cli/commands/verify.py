"""`mpr-audit verify`: whether a run's folder is what the run wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ...interruption import FAILED
from ...words import bytes_of, numbered
from ..options import AsJson, Folder, print_json

if TYPE_CHECKING:
    from ...results.verify import Verification

Sample = Annotated[int, typer.Option(min=0, help="Rows of the results whose MPR is measured again.")]
FAULTS_SHOWN = 50


def verify(folder: Folder, sample: Sample = 20, as_json: AsJson = False) -> int:
    """Read a run's folder again, hash every file, measure a sample again; exit code 1 for a fault."""
    from ...results.verify import verify as verify_folder
    from ...store import Store

    found = verify_folder(Store(folder).readable(), sample)
    if as_json:
        print_json(found.to_json())
    else:
        print(verification_text(found))
    return FAILED if found.faults else 0


def verification_text(found: Verification) -> str:
    """One line per fault, and what was checked."""
    lines = [f"{fault.file}: {fault.what}; {fault.remedy}" for fault in found.faults[:FAULTS_SHOWN]]
    if len(found.faults) > FAULTS_SHOWN:
        lines.append(f"... and {len(found.faults) - FAULTS_SHOWN} more faults: --json names all")
    state = "" if found.is_complete else "; the run is not complete"
    lines.append(
        f"{numbered(len(found.faults), 'fault') if found.faults else 'no faults'} in {numbered(found.files, 'file')} "
        f"({bytes_of(found.bytes)}); {numbered(found.rows, 'row')} checked, {found.remeasured:,} measured again{state}"
    )
    return "\n".join(lines)
