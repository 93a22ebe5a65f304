"""Sizes of pools and references, on which MPR of the normalised classes depends; shares of people do not.

Where a configuration decides the sizes, runs of two sizes are refused. What an engine showed has the length that it
has: there MPR of the queries whose sizes differ is left out, that is said, and gaps are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from mprlib.arrays import FloatArray

from ..cases import CASE, function_classes, is_in_shares
from ..frames import records
from ..load import Run
from .pairing import shared_cases
from .references import own_references
from .true_labels import VALUES

# MPR of the normalised classes scales with the sizes; a change of that scale below this is accepted, with a remark.
UNIT_TOLERANCE = 0.02
# Columns of results that hold MPR.
OF_MPR = ("mpr", *VALUES)
# References whose numbers of people differ by less are of one size: it is a sum of weights.
SAME_PEOPLE = 0.5


def mpr_per_chi(pool: FloatArray, reference: FloatArray, k: FloatArray) -> FloatArray:
    """MPR (n,) of a normalised class is chi times this: sqrt(D / (n + m)) with D = m k / (m + k)."""
    found: FloatArray = np.sqrt(reference * k / (reference + k) / (pool + reference))
    return found


def refused_sizes(old: Run, new: Run) -> Iterator[str]:
    """Pools of a search that changed their size, and references that should stay the same and did."""
    if not _sized_classes(new):
        return
    both, own = shared_cases(old, new), own_references(new.manifest)
    if not _is_list(new):
        for row in records(both[both["n_pool_old"] != both["n_pool_new"]]):
            yield (
                f"the pool of {row['query']!r} holds {row['n_pool_old']:,} items in OLD and {row['n_pool_new']:,} in "
                f"NEW: MPR does not compare; run both with prefilter.top of at most "
                f"{min(row['n_pool_old'], row['n_pool_new']):,}"
            )
    both["n_pool_new"] = both["n_pool_old"]
    for row in records(both[_have_other_units(both) & ~both["reference"].isin(own)]):
        yield (
            f"reference {row['reference']} counts {row['reference_size_old']:,.0f} people in OLD and "
            f"{row['reference_size_new']:,.0f} in NEW: MPR does not compare; give both one reference, as kind dataset "
            "or shares"
        )


def size_remarks(old: Run, new: Run) -> Iterator[str]:
    """References of another size, and queries whose MPR is left out."""
    both = shared_cases(old, new)
    own = own_references(new.manifest)
    stated = both[~both["reference"].isin(own)].drop_duplicates("reference")
    sizes = stated[["reference", "reference_size_old", "reference_size_new"]]
    for reference, old_size, new_size in sizes.itertuples(index=False):
        if abs(old_size - new_size) > SAME_PEOPLE:
            yield f"reference {reference} counts {old_size:,.0f} people in OLD and {new_size:,.0f} in NEW"
    left_out = both[_have_other_units(both)] if _sized_classes(new) else both[:0]
    if len(left_out):
        row = records(left_out[:1])[0]
        yield (
            f"MPR under {', '.join(_sized_classes(new))} is not compared for {len(left_out)} of {len(both)} cases, "
            f"whose lists or references changed their size, on which it depends (first {row['query']!r}, "
            f"k = {row['k']}: {row['n_pool_old']:,} items and a reference of {row['reference_size_old']:,.0f} in OLD, "
            f"{row['n_pool_new']:,} and {row['reference_size_new']:,.0f} in NEW); gaps are shares, and are compared"
        )


def with_comparable_mpr(old: Run, new: Run) -> tuple[Run, Run]:
    """Both runs without the MPR of cases whose sizes differ, under the classes that depend on them."""
    both = shared_cases(old, new)
    cases = pd.MultiIndex.from_frame(both.loc[_have_other_units(both), CASE])
    if cases.empty:
        return old, new
    left, right = (_without_mpr(run, cases) for run in (old, new))
    return left, right


def _without_mpr(run: Run, cases: pd.MultiIndex) -> Run:
    is_other = pd.MultiIndex.from_frame(run.results[CASE]).isin(cases)
    is_other &= run.results["function_class"].isin(_sized_classes(run)).to_numpy()
    values = [name for name in OF_MPR if name in run.results.columns]
    left_out = {name: run.results[name].astype(float).where(~is_other) for name in values}
    return replace(run, results=run.results.assign(**left_out))


def _have_other_units(both: pd.DataFrame) -> pd.Series:
    """Whether each case's unit of MPR (n,) is another one in the later run."""
    units = [
        mpr_per_chi(*(both[name].to_numpy(dtype=float) for name in (f"n_pool_{side}", f"reference_size_{side}", "k")))
        for side in ("old", "new")
    ]
    return pd.Series(np.abs(units[1] / units[0] - 1.0) > UNIT_TOLERANCE, index=both.index)


def _sized_classes(run: Run) -> list[str]:
    """Classes whose values depend on sizes."""
    return [name for name in function_classes(run.results) if not is_in_shares(run.results, name)]


def _is_list(run: Run) -> bool:
    """Whether pools are an engine's lists."""
    return bool((run.manifest.get("settings") or {}).get("results"))
