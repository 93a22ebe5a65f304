"""Arguments and options that several commands share, and what `--json` prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from ..errors import UsageError

Options = TypeVar("Options")

Config = Annotated[Path, typer.Argument(help="The audit's YAML file.", show_default=False)]
Folder = Annotated[str, typer.Argument(help="Folder of a run, or its fsspec URL.", show_default=False)]
Output = Annotated[str | None, typer.Option("--output", help="Folder of the run; default: the configuration's.")]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="Override a setting, as k=10 or a.b=c.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N queries.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def print_json(value: Any) -> None:
    """One JSON object on one line."""
    print(json.dumps(value, ensure_ascii=False))


def write_text(named: str, path: Path, text: str) -> None:
    """Write a file that a command was asked for: whole, or what was there stays.

    Raises:  UsageError naming what asked for it, where it cannot be written.
    """
    from ..store import disk

    data = text.encode("utf-8", errors="replace")
    try:
        # Links and what is no file, such as /dev/stdout, are written through.
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(data)
        else:
            disk.put(path.parent.resolve(strict=True) / path.name, data, is_durable=False)
    except OSError as error:
        raise UsageError(f"{named} {path}: {error.strerror}") from None


def with_options(kind: type[Options]) -> Callable[[Callable[[Options], int]], Callable[..., int]]:
    """For a command with many options: they are the fields of a dataclass, and its function gets them as one value."""

    def decorated(function: Callable[[Options], int]) -> Callable[..., int]:
        def command(**given: Any) -> int:
            return function(kind(**given))

        command.__doc__ = function.__doc__
        # typer reads options from a signature; its types must be found here, where the dataclass is known.
        setattr(command, "__signature__", _signature(kind))  # noqa: B010 - functions have none by their type
        return command

    return decorated


def _signature(kind: type[Any]) -> Signature:
    types = get_type_hints(kind, include_extras=True)
    return Signature(
        [
            Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if field.default is MISSING else field.default,
                annotation=types[field.name],
            )
            for field in fields(kind)
        ]
    )
