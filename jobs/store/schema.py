"""Columns of the tables that the job writes beside its results, with what each says; never inferred from data.

Shares, gaps and precision are fractions of 1, similarities are cosines, times are seconds. The files carry the
descriptions, and docs/columns.md is made of them.
"""

from __future__ import annotations

import pyarrow as pa


def described(name: str, kind: pa.DataType, what: str) -> pa.Field:
    """A column of a table, with what it says."""
    return pa.field(name, kind, metadata={"description": what})


DATASET = described("dataset", pa.string(), "name of the data set")
ITEM_ID = described("item_id", pa.string(), "the item's id in it")

# One row a (selection, named group): what the report's group tables are made of.
GROUPS = pa.schema(
    [
        described("unit", pa.string(), "key of the unit that made it"),
        DATASET,
        described("reference", pa.string(), "name of the reference"),
        described("query", pa.string(), "the query as it was asked"),
        described("k", pa.int64(), "items of the selection"),
        described("method", pa.string(), "what chose them"),
        described("parameter_value", pa.float64(), "value of the method's parameter; null without"),
        described("target_class", pa.string(), "the class whose MPR the method bounds; null without"),
        described("group", pa.string(), "the levels that its people have, of one attribute or of several"),
        described("attributes", pa.int64(), "attributes that the group is of"),
        described("share_selected", pa.float64(), "its share of the selection"),
        described("share_reference", pa.float64(), "its share of the reference"),
        described("share_first_5", pa.float64(), "its share of the first 5 items in order"),
        described("share_first_10", pa.float64(), "its share of the first 10"),
        described(
            "exposure",
            pa.float64(),
            "its share of the attention, under the first of the audit's `attention` that is "
            "not uniform, or else under log2, 1/log2(i + 1) at place i",
        ),
        described(
            "p_chance", pa.float64(), "probability that k independent draws from the reference show its gap or more"
        ),
        described("p_largest", pa.float64(), "probability that they show as much of any named group"),
        described("largest_gap_chance", pa.float64(), "95% point of the largest gap of named groups in such draws"),
        described(
            "share_corrected",
            pa.float64(),
            "its share by the true labels; null where labels are taken as right, and where nothing can be told of the "
            "true ones",
        ),
        described("share_corrected_low", pa.float64(), "lower end of the 95% interval of that share; null where it is"),
        described("share_corrected_high", pa.float64(), "upper end of it; null where it is"),
        described(
            "share_reference_corrected",
            pa.float64(),
            "its share of the reference by the true labels; null where share_corrected is",
        ),
    ]
)

# Every item that some selection holds, so that a report needs nothing outside the run's folder.
ITEMS = pa.schema(
    [
        DATASET,
        ITEM_ID,
        described("text", pa.string(), "its text; null without"),
        described("image", pa.string(), "path or address of its picture; null without"),
        described("relevance", pa.string(), "its true query terms; null where none are known"),
        described("labels", pa.map_(pa.string(), pa.string()), "its level of every attribute"),
    ]
)

# Small WebP pictures of the items that the page shows first.
THUMBNAILS = pa.schema([DATASET, ITEM_ID, described("thumbnail", pa.binary(), "a small picture, as WebP")])

# Items that could not be embedded, with the reason in a few words and a detail: what a unit writes.
SKIPPED_ITEMS = pa.schema(
    [
        ITEM_ID,
        described("reason", pa.string(), "why it was left out, in a few words"),
        described("detail", pa.string(), "what was found"),
    ]
)

# The same of all data sets of a run.
SKIPPED = pa.schema([DATASET, *SKIPPED_ITEMS])
