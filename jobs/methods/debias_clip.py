"""The query behind learned tokens for `debias_clip`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mprlib.errors import SettingError

from ..encoders.prompt_files import read_tokens
from .named_arrays import Given, MethodNeeds, NamedArrays, OneText


class DebiasClipArrays(NamedArrays):
    """debiased_query (d,): the query's vector with the tokens before its text."""

    keywords = frozenset({"debiased_query"})
    needs_text_tower = True
    settings = {
        "tokens": OneText(
            is_path=True,
            description="required: a file that `train-prompt` or `convert-prompt` has written; needs open_clip",
        )
    }

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        if "tokens" not in settings:
            needs = "debias_clip needs tokens, a file of learned tokens: `mpr-audit train-prompt` makes one"
            raise SettingError(needs)
        return super().checked(settings)

    def needs(self, settings: Mapping[str, Any], folder: Path) -> MethodNeeds:
        return MethodNeeds(tokens=read_tokens(folder / settings["tokens"]))

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {"debiased_query": given.debiased_query()}
