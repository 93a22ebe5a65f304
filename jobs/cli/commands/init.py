"""`mpr-audit init`: a first configuration for a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import UsageError
from ..options import AsJson, print_json, write_text

File = Annotated[Path, typer.Argument(help="A table, a result list, or a folder of pictures.", show_default=False)]
Target = Annotated[
    Path | None, typer.Option("--output", help="The configuration to write; default: the file's name with .yaml, here.")
]


def init(file: File, output: Target = None, as_json: AsJson = False) -> int:
    """Write a commented configuration for a table, a result list or a folder of pictures."""
    from ...proposal import proposal

    path = output or Path(f"{file.stem}.yaml")
    if path.exists():
        raise UsageError(f"{path} exists: give --output another name, or remove it")
    write_text("--output", path, proposal(file, path.parent))
    if as_json:
        print_json({"config": str(path)})
    else:
        print(f"configuration: {path}; look at it, then: mpr-audit run {path}")
    return 0
