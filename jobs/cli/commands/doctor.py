"""`mpr-audit doctor`: whether this machine, or a cluster, is fit for an audit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ...interruption import FAILED
from ..options import AsJson, Output, Overrides, print_json

MaybeConfig = Annotated[Path | None, typer.Argument(help="The audit's YAML file.", show_default=False)]
Address = Annotated[str | None, typer.Option(help="A running cluster: HOST:PORT, or the dashboard's http address.")]


def doctor(
    config: MaybeConfig = None,
    output: Output = None,
    overrides: Overrides = None,
    address: Address = None,
    as_json: AsJson = False,
) -> int:
    """Check that this machine or cluster is fit for an audit, and say what to do if not; exit code 1 for a problem."""
    from ... import doctor as checking

    address = address or os.environ.get("RAY_ADDRESS")
    is_dashboard = address is not None and address.startswith(("http://", "https://"))
    checks = checking.examine(
        config,
        overrides=tuple(overrides or ()),
        output=output,
        address=None if is_dashboard else address,
        dashboard=address if is_dashboard else os.environ.get("RAY_API_SERVER_ADDRESS"),
    )
    found = checking.to_json(checks)
    if as_json:
        print_json(found)
    else:
        print(checking.to_text(checks))
    return 0 if found["is_fit"] else FAILED
