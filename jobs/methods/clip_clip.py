"""The order of a vector's columns for `clip_clip`, by what they tell about attributes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .named_arrays import Asked, Given, NamedArrays, TextList


class ClipClipArrays(NamedArrays):
    """order (d,): the columns of the vectors, those first that tell most."""

    keywords = frozenset({"order"})
    settings = {
        "attributes": TextList(
            names="names of attributes",
            description="whose joint level the dropped columns tell about; default: all",
        )
    }

    def asked(self, settings: Mapping[str, Any], folder: Path) -> Asked:
        return Asked(columns_about=tuple(settings.get("attributes", ())))

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {"order": given.column_order()}
