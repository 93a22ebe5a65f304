"""Columns of the tables that the job writes beside its results, with their units; never inferred from data.

Shares, gaps and precision are fractions of 1, similarities are cosines, times are seconds.
"""

from __future__ import annotations

import pyarrow as pa

# One row a (selection, named group): what the report's group tables are made of.
GROUPS = pa.schema(
    [
        ("unit", pa.string()),
        ("dataset", pa.string()),
        ("reference", pa.string()),
        ("query", pa.string()),
        ("k", pa.int64()),
        ("method", pa.string()),
        ("parameter_value", pa.float64()),
        ("target_class", pa.string()),
        ("group", pa.string()),
        ("attributes", pa.int64()),
        ("share_selected", pa.float64()),
        ("share_reference", pa.float64()),
        # The share of the first 5 and of the first 10 items in order, and of the attention, 1/log2(i + 1) at place i.
        ("share_first_5", pa.float64()),
        ("share_first_10", pa.float64()),
        ("exposure", pa.float64()),
        # The probability that k independent draws from the reference show at least this gap of this group, and of
        # any named group; and the 95% point of the largest gap among them.
        ("p_chance", pa.float64()),
        ("p_largest", pa.float64()),
        ("largest_gap_chance", pa.float64()),
        # By the true labels, with the 95% interval; null where labels are taken as right.
        ("share_corrected", pa.float64()),
        ("share_corrected_low", pa.float64()),
        ("share_corrected_high", pa.float64()),
        ("share_reference_corrected", pa.float64()),
    ]
)

# Every item that some selection holds, so that a report needs nothing outside the run's folder.
ITEMS = pa.schema(
    [
        ("dataset", pa.string()),
        ("item_id", pa.string()),
        ("text", pa.string()),
        ("image", pa.string()),
        ("relevance", pa.string()),
        ("labels", pa.map_(pa.string(), pa.string())),
    ]
)

# Small WebP pictures of the items that the page shows first.
THUMBNAILS = pa.schema([("dataset", pa.string()), ("item_id", pa.string()), ("thumbnail", pa.binary())])

# Items that could not be embedded, with the reason in a few words and a detail: what a unit writes.
SKIPPED_ITEMS = pa.schema([("item_id", pa.string()), ("reason", pa.string()), ("detail", pa.string())])

# The same of all data sets of a run.
SKIPPED = pa.schema([("dataset", pa.string()), *SKIPPED_ITEMS])
