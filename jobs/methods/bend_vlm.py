"""Prompts of an attribute, and the query with each level named, for `bend_vlm`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mprlib.errors import SettingError

from .named_arrays import QUERY, Given, MethodNeeds, NamedArrays, TextList


class BendVlmArrays(NamedArrays):
    """attribute_prompts (count, d) and variants (count, d): the vectors of texts; attributes are names."""

    keywords = frozenset({"attribute_prompts", "variants", "attributes"})
    settings = {
        "attributes": TextList(
            names="names of attributes",
            description="attributes whose levels become equally similar to the query; default: all",
        ),
        "prompts": TextList(
            names="texts that name the attribute",
            description="texts that name the attribute, which are projected off the query",
        ),
        "variants": TextList(
            names=f"texts with {QUERY}, one for each level",
            least=2,
            description=f"the query with each level named, such as `a photo of a female {QUERY}`; half their "
            "differences are projected off the query",
        ),
    }

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        found = super().checked(settings)
        for text in found.get("variants", ()):
            if QUERY not in text:
                raise SettingError(f"variants holds {text!r:.80}: {QUERY} is expected in each", setting="variants")
        return found

    def needs(self, settings: Mapping[str, Any], folder: Path) -> MethodNeeds:
        return MethodNeeds(texts=tuple(settings.get("prompts", ())), variants=tuple(settings.get("variants", ())))

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {
            "attributes": settings.get("attributes"),
            "attribute_prompts": given.text_vectors() if "prompts" in settings else None,
            "variants": given.variant_vectors() if "variants" in settings else None,
        }
