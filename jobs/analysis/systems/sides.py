"""One side of a comparison of systems: the selection of one method for each query, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import UsageError
from ..cases import (
    AS_SHOWN,
    CASE,
    SELECTION,
    TOP_K,
    function_classes,
    is_constrained,
    repaired_rows,
)
from ..load import Run

# What shows a system as it is, before what a repair would show.
AS_IT_IS = (AS_SHOWN, TOP_K)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Side:
    """One system.

    rows: one per case, the chosen selection as the class in `function_class` measures it; the index is that of the
    run's results. shares: (CASE, group, share_selected, share_reference) of those selections.
    """

    run: Run
    method: str
    rows: pd.DataFrame
    shares: pd.DataFrame

    @classmethod
    def of(cls, run: Run, method: str | None) -> Side:
        """The side of that method; by default what the system shows as it is.

        Raises:  UsageError for a method that the run does not have.
        """
        methods = run.results["method"].dropna().unique().tolist()
        chosen = method or next((name for name in AS_IT_IS if name in methods), None)
        if chosen is None or chosen not in methods:
            asked = f"no selection of method {chosen}" if chosen else f"none of the methods {', '.join(AS_IT_IS)}"
            raise UsageError(f"a run holds {asked}: it has {', '.join(sorted(methods))}")
        rows = _chosen_rows(run.results, chosen)
        keys = rows[SELECTION].astype({"parameter_value": float})
        groups = run.groups.drop_duplicates([*SELECTION, "group"]).astype({"parameter_value": float})
        shares = groups.merge(keys, on=SELECTION, how="inner")
        return cls(
            run=run,
            method=chosen,
            rows=rows,
            shares=shares[[*CASE, "group", "attributes", "share_selected", "share_reference"]],
        )

    def measured(self, name: str) -> pd.DataFrame:
        """The chosen selections as that class measures them."""
        keys = self.rows[SELECTION].astype({"parameter_value": float})
        own = self.run.results[self.run.results["function_class"] == name].astype({"parameter_value": float})
        return own.merge(keys, on=SELECTION, how="inner").drop_duplicates(CASE)

    def items(self) -> Mapping[tuple[str, str, str, int], frozenset[str]]:
        """Ids of each case's items."""
        ids = self.run.chosen.ids
        cases = self.rows[CASE].itertuples(index=True, name=None)
        return {
            (dataset, reference, query, int(k)): frozenset(ids[code] for code in self.run.chosen.row(int(place)))
            for place, dataset, reference, query, k in cases
        }


def _chosen_rows(results: pd.DataFrame, method: str) -> pd.DataFrame:
    """One row per case: the only selection of a method, of a constrained one the most similar within chance, of other
    sweeps the one with the smallest MPR under the first class."""
    own = results[results["method"] == method]
    if is_constrained(method):
        return repaired_rows(own)
    first = own[own["function_class"] == function_classes(own)[0]]
    order = first.assign(_mpr=first["mpr"].astype(float).fillna(np.inf)).sort_values([*CASE, "_mpr"], kind="stable")
    return order.drop_duplicates(CASE).drop(columns="_mpr")
