"""Stored selections measured again, by the code that measures and from what the units hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..stages.case import Case
from ..stages.solve import Solve
from ..store import Store


def remeasure(unit: Solve, store: Store, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """MPR and similarity of each row's items under the row's function class and attention.

    unit: the one that made the rows.
    Raises:  KeyError for an item that the unit's pool lacks, or a class that the unit does not measure.
    """
    case = Case(unit, store)
    positions = {item: at for at, item in enumerate(case.ids_of(np.arange(case.problem.n)))}
    classes = {entry.display: entry for entry in unit.function_classes}
    found = []
    for row in rows:
        items = np.array([positions[item] for item in row["item_ids"]])
        found.append(
            {
                "mpr": case.measure(classes[row["function_class"]], items, row["attention"]).value,
                "similarity": float(np.mean(case.problem.scores[items])),
            }
        )
    return found
