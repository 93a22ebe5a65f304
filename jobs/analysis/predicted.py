"""Whose labels are predicted ones: the configuration says of them how often they are wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

# Settings of an attribute that say so.
SAID_BY = ("confusion", "errors", "probabilities", "hand_labels")


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
    settings = manifest.get("settings") or {}
    return Predicted(
        datasets=tuple(_names((one.get("name"), one) for one in settings.get("dataset") or ())),
        references=tuple(_names((one.get("name"), one.get("dataset")) for one in settings.get("reference") or ())),
    )


def _names(blocks: Iterable[tuple[Any, Any]]) -> list[str]:
    return [
        str(name)
        for name, block in blocks
        if any(one.get(key) is not None for one in ((block or {}).get("attributes") or {}).values() for key in SAID_BY)
    ]
