"""Classes of items for `pbm`: from texts, from probes, or from the joint levels of attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mprlib.baselines import group_labels
from mprlib.errors import SettingError
from mprlib.requirements import pool_embeddings

from .joint_levels import joint_names
from .named_arrays import Given, MethodNeeds, NamedArrays, TextList


class PbmArrays(NamedArrays):
    """group_labels (n,): a class of every item, or neutral."""

    keywords = frozenset({"group_labels"})
    settings = {
        "attributes": TextList(
            names="names of attributes",
            description="whose joint levels are the classes; default: all. An unknown level is neutral",
        ),
        "prompts": TextList(
            names="a neutral text and one for each class",
            least=2,
            description="a neutral text, then one per class: the encoder predicts each item's class",
        ),
        "probes": TextList(names="names of probes", description="names of `probes` whose joint levels are the classes"),
    }

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        sources = [name for name in self.settings if name in settings]
        if len(sources) > 1:
            both = f"both {sources[0]} and {sources[1]} are given: one of them is expected"
            raise SettingError(both, setting=sources[1])
        return super().checked(settings)

    def needs_embeddings(self, settings: Mapping[str, Any]) -> bool:
        return "prompts" in settings

    def needs(self, settings: Mapping[str, Any], folder: Path) -> MethodNeeds:
        return MethodNeeds(texts=tuple(settings.get("prompts", ())), probes=tuple(settings.get("probes", ())))

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        return {"group_labels": self._labels(settings, given)}

    def _labels(self, settings: Mapping[str, Any], given: Given) -> np.ndarray:
        problem = given.problem
        if "prompts" in settings:
            return group_labels.zero_shot(pool_embeddings(problem, "pbm"), given.text_vectors())
        if "probes" in settings:
            columns = given.probe_levels()
        else:
            columns = [
                np.array(given.levels[name], dtype=object)[
                    problem.labels[:, list(problem.attributes[name])].argmax(axis=1)
                ].tolist()
                for name in settings.get("attributes", problem.attributes)
            ]
        return _classes(list(zip(*columns)), given.missing)


def _classes(rows: Sequence[Sequence[str]], missing: str) -> np.ndarray:
    """Classes of the items by all their levels; an item that lacks one is neutral."""
    names = joint_names(rows)
    neutral = {name for name, row in zip(names, rows) if missing in row}
    return group_labels.from_levels(names, neutral=neutral)
