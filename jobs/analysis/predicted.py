"""Whose labels are predicted ones: a probe makes them, or the configuration says how often they are wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

# Settings of an attribute that say so.
SAID_BY = ("probe", "confusion", "errors", "probabilities", "hand_labels")
# What a block of settings is in an audit, `dataset` or `reference`, and its name there.
Side = tuple[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Predicted:
    """Names of the data sets of items, and of the references, that have predicted labels."""

    datasets: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def marks(self, rows: pd.DataFrame) -> pd.Series:
        """Whether each row compares predicted labels, also where nothing can be told of the true ones."""
        return rows["dataset"].isin(self.datasets) | rows["reference"].isin(self.references)


NONE_PREDICTED = Predicted()


def predicted_of(manifest: Mapping[str, Any]) -> Predicted:
    """What a run was configured with."""
    return of_sides(side for side, _ in predicted_attributes(manifest))


def of_sides(sides: Iterable[Side]) -> Predicted:
    """The data sets and references of some sides, each once."""
    held = list(dict.fromkeys(sides))
    names = {role: tuple(name for own, name in held if own == role) for role in ("dataset", "reference")}
    return Predicted(datasets=names["dataset"], references=names["reference"])


def predicted_attributes(manifest: Mapping[str, Any]) -> dict[tuple[Side, str], Mapping[str, Any]]:
    """The settings of attributes whose labels are predicted, by side and name."""
    return {
        key: attribute
        for key, attribute in attributes_of(manifest).items()
        if any(attribute.get(name) is not None for name in SAID_BY)
    }


def attributes_of(manifest: Mapping[str, Any]) -> dict[tuple[Side, str], Mapping[str, Any]]:
    """The settings of all attributes, by side and name."""
    blocks = _blocks(manifest.get("settings") or {})
    return {(side, name): attribute for side, attributes in blocks for name, attribute in attributes.items()}


def _blocks(settings: Mapping[str, Any]) -> Iterator[tuple[Side, Mapping[str, Mapping[str, Any]]]]:
    """The attributes of each side."""
    blocks = [(("dataset", one.get("name")), one) for one in settings.get("dataset") or ()]
    blocks += [(("reference", one.get("name")), one.get("dataset")) for one in settings.get("reference") or ()]
    for (role, name), block in blocks:
        yield (role, str(name)), (block or {}).get("attributes") or {}
