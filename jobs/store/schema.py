"""Columns of every table that the job writes, with their units; never inferred from data.

Shares, gaps and precision are fractions of 1, similarities are cosines, times are seconds.
"""

from __future__ import annotations

import pyarrow as pa

WITNESS = pa.list_(
    pa.struct(
        [
            ("group", pa.string()),
            ("share_selected", pa.float64()),
            ("share_reference", pa.float64()),
            ("contribution", pa.float64()),
        ]
    )
)

# One row a (dataset, reference, query, k, method, parameter_value, target_class, function_class).
RESULTS = pa.schema(
    [
        ("run_id", pa.string()),
        ("unit", pa.string()),
        ("dataset", pa.string()),
        ("reference", pa.string()),
        ("query", pa.string()),
        ("prompt", pa.string()),
        ("k", pa.int64()),
        ("method", pa.string()),
        ("parameter", pa.string()),
        ("parameter_value", pa.float64()),
        ("target_class", pa.string()),
        ("function_class", pa.string()),
        ("status", pa.string()),
        ("mpr", pa.float64()),
        ("mpr_upper_bound", pa.float64()),
        ("mpr_low", pa.float64()),
        ("mpr_high", pa.float64()),
        ("chi", pa.float64()),
        ("mpr_top_k", pa.float64()),
        ("similarity", pa.float64()),
        ("similarity_top_k", pa.float64()),
        ("relaxation_bound", pa.float64()),
        ("similarity_bound", pa.float64()),
        ("gap", pa.float64()),
        ("rho", pa.float64()),
        ("rho_min", pa.float64()),
        ("precision", pa.float64()),
        ("n_pool", pa.int64()),
        ("n_reference", pa.int64()),
        ("reference_size", pa.float64()),
        ("solve_seconds", pa.float64()),
        ("seed", pa.int64()),
        ("item_ids", pa.list_(pa.string())),
        ("witness", WITNESS),
        ("message", pa.string()),
    ]
)

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
    ]
)

# Every item that some selection holds, so that a report needs nothing outside the run's folder.
ITEMS = pa.schema(
    [
        ("dataset", pa.string()),
        ("item_id", pa.string()),
        ("text", pa.string()),
        ("image", pa.string()),
        ("labels", pa.map_(pa.string(), pa.string())),
    ]
)

# Small WebP pictures of the items that the page shows first.
THUMBNAILS = pa.schema([("dataset", pa.string()), ("item_id", pa.string()), ("thumbnail", pa.binary())])

# Items that could not be embedded, with the reason in a few words and a detail: what a unit writes.
SKIPPED_ITEMS = pa.schema([("item_id", pa.string()), ("reason", pa.string()), ("detail", pa.string())])

# The same of all data sets of a run.
SKIPPED = pa.schema([("dataset", pa.string()), *SKIPPED_ITEMS])
