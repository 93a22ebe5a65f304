"""`mpr-audit train-prompt`: tokens that `debias_clip` puts before a query."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...words import numbered
from ..options import AsJson, Overrides, print_json

if TYPE_CHECKING:
    from ...encoders.prompt_judging import Judgement

Training = Annotated[Path, typer.Argument(help="The training's YAML file.", show_default=False)]
Tokens = Annotated[Path | None, typer.Option("--output", help="The file to write; default: the configuration's.")]


def train_prompt(config: Training, output: Tokens = None, overrides: Overrides = None, as_json: AsJson = False) -> int:
    """Train tokens that, put before a query, hide an attribute from similarity; for `debias_clip`."""
    from ...config.file import read_config
    from ...config.prompts import PromptTraining
    from ...plan import prompts

    path, found = prompts.train_prompt(read_config(config, tuple(overrides or ()), PromptTraining), output)
    if as_json:
        print_json({"tokens": str(path)} | found.to_json())
    else:
        print(f"{judgement_text(found)}\ntokens: {path}")
    return 0


def judgement_text(found: Judgement) -> str:
    """How well the tokens work on held-out pictures, as text."""
    return "\n".join(
        [
            (
                f"judged on {numbered(found.held_out, 'picture')} that were held out "
                f"(the commonest level: {found.majority:.1%})"
            ),
            (
                f"  a linear classifier reads the attribute of {found.accuracy_before:.1%}, then "
                f"{found.accuracy_after:.1%}"
            ),
            f"  a network reads it of {found.network_accuracy_before:.1%}, then {found.network_accuracy_after:.1%}",
            f"  a level's mean similarity is off by {found.gap_before:.2f} deviations, then {found.gap_after:.2f}",
            (
                f"  a similarity changes by {found.similarity_change:.2f} deviations (root mean square), "
                f"{found.mean_absolute_change:.4f} in cosine on average"
            ),
        ]
    )
