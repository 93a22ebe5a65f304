"""Prompts of an attribute for `orth_cali`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mprlib.errors import SettingError

from .named_arrays import Given, MethodNeeds, NamedArrays, TextList, required


class OrthCaliArrays(NamedArrays):
    """attribute_prompts (count, d) and pairs (count, d): the vectors of texts."""

    keywords = frozenset({"attribute_prompts", "pairs"})
    settings = {
        "prompts": TextList(
            names="texts that name the attribute",
            description="required: texts that name the attribute, such as `a photo of a man`",
        ),
        "pairs": TextList(
            names="texts, two and two in turn",
            least=2,
            may_repeat=True,
            description="pairs of texts that differ only in the attribute, one pair after the other; their "
            "similarities are made to agree",
        ),
    }

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        found = super().checked(settings)
        required(settings, "prompts", "orth_cali", "texts that name the attribute")
        if len(found.get("pairs", ())) % 2:
            odd = f"pairs has {len(found['pairs'])} texts: an even number is expected, two and two in turn"
            raise SettingError(odd, setting="pairs")
        return found

    def needs(self, settings: Mapping[str, Any], folder: Path) -> MethodNeeds:
        return MethodNeeds(texts=(*settings["prompts"], *settings.get("pairs", ())))

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        vectors, count = given.text_vectors(), len(settings["prompts"])
        return {"attribute_prompts": vectors[:count], "pairs": vectors[count:] if "pairs" in settings else None}
