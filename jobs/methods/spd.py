"""The attributes that `spd` takes off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .named_arrays import Given, NamedArrays, TextList


class SpdArrays(NamedArrays):
    """attributes: names."""

    keywords = frozenset({"attributes"})
    settings = {
        "attributes": TextList(
            names="names of attributes", description="attributes that are removed from the vectors; default: all"
        )
    }

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {"attributes": settings.get("attributes")}
