"""`mpr-audit convert-prompt`: published tokens as a file for `debias_clip`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..options import AsJson, print_json

Source = Annotated[Path, typer.Argument(help="A published torch file of tokens.", show_default=False)]
Target = Annotated[Path, typer.Argument(help="The safetensors file to write.", show_default=False)]


def convert_prompt(source: Source, target: Target, as_json: AsJson = False) -> int:
    """Turn published tokens (a torch file, whose code is never run) into a file for `debias_clip`."""
    from ...encoders.prompt_files import convert_published

    tokens = convert_published(source, target)
    count, width = tokens.shape
    if as_json:
        print_json({"tokens": str(target), "count": count, "width": width})
    else:
        print(f"tokens: {target} ({count} of {width} numbers)")
    return 0
