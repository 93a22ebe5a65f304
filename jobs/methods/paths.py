"""The subspace of describing phrases for `paths`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..queries import read_phrases
from .named_arrays import Given, MethodNeeds, NamedArrays, OneText


class PathsArrays(NamedArrays):
    """subspace (count, d): the vectors of the phrases."""

    keywords = frozenset({"subspace"})
    settings = {
        "phrases": OneText(
            is_path=True, description="a file with one phrase per line; default: the list that comes with the job"
        )
    }

    def needs(self, settings: Mapping[str, Any], folder: Path) -> MethodNeeds:
        return MethodNeeds(texts=tuple(read_phrases(settings.get("phrases"), folder)))

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {"subspace": given.text_vectors()}
