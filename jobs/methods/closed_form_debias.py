"""A text for each level of an attribute for `closed_form_debias`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .named_arrays import Given, MethodNeeds, NamedArrays, TextList, required


class ClosedFormDebiasArrays(NamedArrays):
    """prototypes (levels, d): the vectors of the texts."""

    keywords = frozenset({"prototypes"})
    settings = {
        "prompts": TextList(
            names="texts, one for each level",
            least=2,
            description="required: a text for each level of the attribute, such as `a photo of a man`",
        )
    }

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        found = super().checked(settings)
        required(settings, "prompts", "closed_form_debias", "a text for each level of the attribute")
        return found

    def needs(self, settings: Mapping[str, Any], folder: Path) -> MethodNeeds:
        return MethodNeeds(texts=tuple(settings["prompts"]))

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {"prototypes": given.text_vectors()}
