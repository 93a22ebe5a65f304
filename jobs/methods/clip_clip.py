"""The order of a vector's columns for `clip_clip`, by what they tell about attributes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mprlib.errors import SettingError

from .named_arrays import Given, MethodNeeds, NamedArrays, OneText, TextList


class ClipClipArrays(NamedArrays):
    """order (d,): the columns of the vectors, those first that tell most."""

    keywords = frozenset({"order"})
    settings = {
        "attributes": TextList(
            names="names of attributes",
            description="attributes whose joint level the dropped columns tell most about; default: all",
        ),
        "probe": OneText(
            description="a name of `probes`, instead of attributes: information is measured on the probe's labelled "
            "people, about the attribute that it learns",
        ),
    }

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        if "attributes" in settings and "probe" in settings:
            raise SettingError("both attributes and probe are given: one of them is expected", setting="probe")
        return super().checked(settings)

    def needs(self, settings: Mapping[str, Any], folder: Path) -> MethodNeeds:
        if "probe" in settings:
            return MethodNeeds(columns_by=settings["probe"])
        return MethodNeeds(columns_about=tuple(settings.get("attributes", ())))

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {"order": given.column_order()}
