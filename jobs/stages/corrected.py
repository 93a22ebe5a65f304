"""What a selection shows by the true labels, where errors of the labels are stated."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from mprlib import registry
from mprlib.arrays import IntArray
from mprlib.label_errors import ChosenBy, Corrected, corrected, corrected_groups

from ..config.entries import ClassEntry
from .case import Case

# Columns of `schema.GROUPS` that are null where nothing is known of errors.
GROUP_COLUMNS = ("share_corrected", "share_corrected_low", "share_corrected_high", "share_reference_corrected")


def chosen_by(method: str) -> ChosenBy:
    """What a method chooses items by."""
    return registry.METHODS[method].chooses_by()


def corrected_of(case: Case, entry: ClassEntry, items: IntArray, method: str) -> Corrected | None:
    """MPR by the true labels of a selection; None where all labels that the class looks at are taken as right."""
    problem = case.view(entry)
    if problem.label_error is None or not items.size:
        return None
    key = ("corrected", entry.display, chosen_by(method), np.sort(items).tobytes())
    function_class = registry.function_class(entry.name, **entry.settings)
    return problem.cached(key, lambda: corrected(problem, items, function_class, chosen_by=chosen_by(method)))


def corrected_columns(
    case: Case, names: tuple[str, ...], max_attributes: int, items: IntArray, method: str
) -> dict[str, pa.Array]:
    """Columns of the named groups' true shares, of the selection with an interval and of the reference."""
    found = corrected_groups(case.problem, items, max_attributes, chosen_by=chosen_by(method))
    if not found:
        return {}
    rows = [found[name] for name in names]
    return {column: pa.array([row[place] for row in rows], pa.float64()) for place, column in enumerate(GROUP_COLUMNS)}
