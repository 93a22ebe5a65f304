"""Which gaps are more than luck, over all queries and groups of a run.

Within a query the gap of a group is compared with the largest gap of any named group in lotteries from the
reference (`p_largest`), so that a query with nothing behind it names some group with 5% at most. A query's own
p value is the smallest of its groups'. Over queries, which share people and so depend on each other, the false
discovery rate is controlled (Benjamini and Yekutieli), and a group is beyond chance when its own value passes the
limit that the queries' values set.

Sources: Westfall and Young 1993; Benjamini and Yekutieli 2001; Benjamini and Bogomolov 2014.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from mprlib.arrays import FloatArray
from mprlib.statistics import benjamini_yekutieli

from .cases import CASE

# Expected share of false discoveries among the queries that are said to be beyond chance.
LEVEL = 0.05
# Columns of the groups table that this reads.
CHANCE = ["p_chance", "p_largest", "largest_gap_chance"]


def with_chance(pairs: pd.DataFrame, of_queries: FloatArray | None = None) -> pd.DataFrame:
    """The pairs of one selection per case, with p_adjusted, is_beyond_chance and chance_points.

    chance_points: the points within which the largest gap of 95% of lotteries stays. All are null for a run whose
    groups have no p values. of_queries: the queries' own p values, where the pairs are of some of the queries.
    """
    pairs = pairs.assign(chance_points=100.0 * pairs["largest_gap_chance"].astype(float))
    p_largest = pairs["p_largest"].astype(float)
    if of_queries is None:
        of_queries = values_of_queries(pairs)
    pairs["p_adjusted"] = np.where(
        p_largest.isna(), np.nan, _adjusted_p_values(p_largest.fillna(1.0).to_numpy(), of_queries)
    )
    beyond = (pairs["p_adjusted"] <= LEVEL).astype("boolean")
    pairs["is_beyond_chance"] = beyond.mask(pairs["p_adjusted"].isna())
    return pairs


def values_of_queries(pairs: pd.DataFrame) -> FloatArray:
    """The queries' own p values, from the pairs of one selection a case: the least p_largest of its groups."""
    smallest = pairs["p_largest"].astype(float).groupby([pairs[key] for key in CASE]).min()
    found: FloatArray = smallest.dropna().to_numpy()
    return found


def _adjusted_p_values(values: FloatArray, of_queries: FloatArray) -> FloatArray:
    """Each value times queries * (1 + 1/2 + ... + 1/queries) / discoveries: at most LEVEL where it passes the limit.

    Discoveries are the queries that Benjamini and Yekutieli find at LEVEL, 1 at least; of the queries' own values just
    those pass.
    """
    count = of_queries.size
    if not count:
        return np.ones(values.size)
    discoveries = max(int((benjamini_yekutieli(of_queries) <= LEVEL).sum()), 1)
    factor = count * float(np.sum(1.0 / np.arange(1, count + 1))) / discoveries
    adjusted: FloatArray = np.minimum(values * factor, 1.0)
    return adjusted
