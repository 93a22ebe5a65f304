"""The engine's order for `as_shown`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .named_arrays import Given, NamedArrays


class AsShownArrays(NamedArrays):
    """places (n,): where the engine's list has each item, which comes with the list."""

    keywords = frozenset({"places"})
    needs_list = True

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {"places": given.places()}
