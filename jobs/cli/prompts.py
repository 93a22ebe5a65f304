"""Commands that make files of learned tokens for `debias_clip`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from jobs.cli.options import AsJson, Overrides
from jobs.config.file import read_config
from jobs.config.prompts import PromptTraining
from jobs.encoders.prompt_files import convert_published

Training = Annotated[Path, typer.Argument(help="The training's YAML file.", show_default=False)]
Tokens = Annotated[Path | None, typer.Option("--output", help="The file to write; default: the configuration's.")]


def train_prompt(config: Training, output: Tokens = None, overrides: Overrides = None, as_json: AsJson = False) -> int:
    """Train tokens that, before a query, make similarity tell less of an attribute; for `debias_clip`."""
    # Training brings torch, which other commands need not wait for.
    from jobs.plan import prompts

    path, found = prompts.train_prompt(read_config(config, tuple(overrides or ()), PromptTraining), output)
    if as_json:
        print(json.dumps({"tokens": str(path)} | found.to_json(), ensure_ascii=False))
        return 0
    print(f"judged on {found.held_out:,} pictures that were held out (the commonest level: {found.majority:.1%})")
    print(f"  a linear classifier reads the attribute of {found.accuracy_before:.1%}, then {found.accuracy_after:.1%}")
    print(f"  a network reads it of {found.network_accuracy_before:.1%}, then {found.network_accuracy_after:.1%}")
    print(f"  a level's mean similarity is off by {found.gap_before:.2f} deviations, then {found.gap_after:.2f}")
    print(
        f"  a similarity changes by {found.similarity_change:.2f} deviations (root mean square), "
        f"{found.mean_absolute_change:.4f} in cosine on average"
    )
    print(f"tokens: {path}")
    return 0


def convert_prompt(
    source: Annotated[Path, typer.Argument(help="A published torch file of tokens.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="The safetensors file to write.", show_default=False)],
    as_json: AsJson = False,
) -> int:
    """Turn published tokens (a torch file, of which nothing is run) into a file for `debias_clip`."""
    tokens = convert_published(source, target)
    count, width = tokens.shape
    if as_json:
        print(json.dumps({"tokens": str(target), "count": count, "width": width}))
    else:
        print(f"tokens: {target} ({count} of {width} numbers)")
    return 0
