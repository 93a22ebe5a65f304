"""The columns of result rows: name, type, what each says and how it is found, in one place.

One row a (data set, reference, query, k, method, value, target class, function class, attention). Shares, gaps
and precision are fractions of 1, similarities are cosines, times are seconds. run_id and unit are filled in when
results are collected: a cached unit serves many runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from mprlib import metrics, registry

from ..config.entries import ClassEntry
from ..store.keys import digest
from .row_values import (
    Row,
    message,
    number,
    of_corrected,
    of_gains,
    of_measured,
    of_order,
    similarity_of_items,
)

TEXT, NUMBER, COUNT = pa.string(), pa.float64(), pa.int64()
WITNESS = pa.list_(
    pa.struct([("group", TEXT), ("share_selected", NUMBER), ("share_reference", NUMBER), ("contribution", NUMBER)])
)


class Column(NamedTuple):
    """A column of result rows; what it says is written into the table beside it."""

    name: str
    type: pa.DataType
    what: str
    value: Callable[[Row], Any]


# Methods whose choice no error of the reference can flatter.
UNFITTED = ", ".join(name for name, kind in registry.METHODS.items() if not kind.reads_reference)
COLUMNS = (
    Column("run_id", TEXT, "the run that collected the row", lambda row: None),
    Column("unit", TEXT, "key of the unit that made it", lambda row: None),
    Column("dataset", TEXT, "name of the data set", lambda row: row.unit.dataset),
    Column("reference", TEXT, "name of the reference", lambda row: row.unit.reference.name),
    Column("query", TEXT, "the query as it was asked", lambda row: row.unit.query),
    Column("prompt", TEXT, "the text that was embedded", lambda row: row.unit.prompt),
    Column("k", COUNT, "items of the selection", lambda row: row.case.problem.k),
    Column(
        "method",
        TEXT,
        "what chose them, and in brackets the name that the configuration gives to its settings, where it gives one",
        lambda row: row.unit.method.display,
    ),
    Column(
        "parameter",
        TEXT,
        "name of what the method is swept over; null without",
        lambda row: registry.METHODS[row.unit.method.name].parameter,
    ),
    Column("parameter_value", NUMBER, "its value", lambda row: number(row.selection.value)),
    Column(
        "target_class",
        TEXT,
        "the function class whose MPR the method bounds; null without",
        lambda row: row.unit.target and row.unit.target.display,
    ),
    Column(
        "target_attention",
        TEXT,
        "the attention under which it bounds it; null without",
        lambda row: row.unit.target_attention,
    ),
    Column("function_class", TEXT, "the class that the row measures under", lambda row: row.entry.display),
    Column(
        "attention",
        TEXT,
        "how much each place counts in mpr and what goes with it: uniform is a set, log2 counts place i as "
        "1/log2(i + 1), geometric(p) as p^(i-1)",
        lambda row: row.attention,
    ),
    Column("status", TEXT, "what is proven of the selection", lambda row: str(row.selection.status)),
    Column(
        "mpr",
        NUMBER,
        "multi-group proportional representation of the selection",
        of_measured(lambda found: found.value),
    ),
    Column(
        "mpr_upper_bound",
        NUMBER,
        "proven upper bound of it, equal where the class is exact",
        of_measured(lambda found: found.upper_bound),
    ),
    Column(
        "mpr_low",
        NUMBER,
        "lower end of the row's own 95% interval by the sampling error of the reference, and of the items where they "
        "are draws; null where neither is a sample. It is of this selection by itself, and its upper end depends on "
        f"the method: nothing was fitted to the sample by {UNFITTED}; what other methods choose was, and by how much "
        "that flatters it is allowed for",
        lambda row: None if row.seen.interval is None else row.seen.interval.low,
    ),
    Column(
        "mpr_high",
        NUMBER,
        "upper end of it",
        lambda row: None if row.seen.interval is None else row.seen.interval.high,
    ),
    Column(
        "mpr_corrected",
        NUMBER,
        "MPR of the selection by the true labels, estimated from what is known of their errors; null where labels are "
        "taken as right, where nothing can be told of the true ones, and in rows of another attention than uniform, as "
        "its interval is of items that count alike",
        of_corrected(lambda found: found.value),
    ),
    Column(
        "mpr_corrected_low",
        NUMBER,
        "lower end of its 95% interval; null where mpr_corrected is",
        of_corrected(lambda found: found.low),
    ),
    Column(
        "mpr_corrected_high",
        NUMBER,
        "upper end of it; null where mpr_corrected is",
        of_corrected(lambda found: found.high),
    ),
    Column(
        "p_chance",
        NUMBER,
        "probability that k independent draws from the reference show at least this MPR; null for classes that are "
        "searched by a heuristic",
        lambda row: row.seen.p_value,
    ),
    Column(
        "mpr_chance",
        NUMBER,
        "95% point of the MPR of such draws",
        lambda row: row.seen.chance_level,
    ),
    Column("chi", NUMBER, "MPR on a scale that is free of sizes", of_measured(lambda found: found.chi)),
    Column("mpr_top_k", NUMBER, "MPR of the k most similar items", lambda row: row.top_k.value),
    Column("similarity", NUMBER, "mean similarity of the selection", similarity_of_items),
    Column(
        "similarity_top_k",
        NUMBER,
        "mean similarity of the k most similar items",
        lambda row: float(np.mean(row.case.problem.scores[row.case.top_k])),
    ),
    Column(
        "relaxation_bound",
        NUMBER,
        "upper bound on similarity at this rho, by the convex relaxation; where target_attention is not uniform, this "
        "and similarity_bound are of the mean by the weights of places, which gap compares",
        lambda row: row.selection.relaxation_bound,
    ),
    Column(
        "similarity_bound",
        NUMBER,
        "the best proven upper bound on similarity at this rho",
        lambda row: row.selection.similarity_bound,
    ),
    Column(
        "gap",
        NUMBER,
        "how far similarity may be from the best: (similarity_bound - similarity) / |similarity_bound|",
        lambda row: row.selection.gap,
    ),
    Column("rho", NUMBER, "the bound on MPR that was asked for; null without", lambda row: row.selection.rho),
    Column(
        "p_rho",
        NUMBER,
        "probability that the MPR of the true labels, under the target class, is at most rho, which the status is "
        "about then; null without a rho and where labels that the target class looks at are taken as right",
        lambda row: row.selection.p_rho,
    ),
    Column(
        "rho_min",
        NUMBER,
        "proven lower bound on the MPR of every set of k whole items; a rho below it is infeasible",
        lambda row: row.selection.rho_min,
    ),
    Column(
        "precision",
        NUMBER,
        "share of items whose true term is the query; null where none is known",
        of_gains(lambda shown, pool: metrics.precision(shown)),
    ),
    Column(
        "ndcg",
        NUMBER,
        "nDCG of the items in order, against the best order of the pool: gain 1 where the true term is the query, "
        "discount 1/log2(i + 1); null where no term is known or none is the query",
        of_gains(metrics.ndcg),
    ),
    Column(
        "awrf",
        NUMBER,
        "1 - Jensen-Shannon divergence, in nats, of the levels' attention, 1/log2(max(i, 2)), from their shares of the "
        "reference, as in TREC 2021 and 2022; smallest of the attributes",
        of_order(lambda found: found.awrf),
    ),
    Column(
        "ndkl",
        NUMBER,
        "mean of the Kullback-Leibler divergences, in nats, of all prefixes from the reference, with weights "
        "1/log2(i + 1) (Geyik et al. 2019); largest of the attributes; infinite as max_skew is",
        of_order(lambda found: found.ndkl),
    ),
    Column(
        "max_skew",
        NUMBER,
        "largest ln(share of the items / share of the reference) of a level (Geyik et al. 2019); largest of the "
        "attributes; infinite where a level is shown that the reference gives no share",
        of_order(lambda found: found.max_skew),
    ),
    Column(
        "min_skew",
        NUMBER,
        "smallest such logarithm; smallest of the attributes; minus infinity where a level of the reference is missing",
        of_order(lambda found: found.min_skew),
    ),
    Column("n_pool", COUNT, "items in the pool", lambda row: row.case.problem.n),
    Column("n_reference", COUNT, "rows of the reference", lambda row: row.case.problem.population.table.rows),
    Column("reference_size", NUMBER, "effective size of the reference", lambda row: row.case.problem.m),
    Column("solve_seconds", NUMBER, "wall time of the selection", lambda row: row.selection.solve_seconds),
    Column("seed", COUNT, "the audit's", lambda row: row.unit.seed),
    Column(
        "item_ids",
        pa.list_(TEXT),
        "ids of the chosen items in order: the most similar first, unless the method has an order of its own",
        lambda row: row.case.ids_of(row.selection.items),
    ),
    Column(
        "witness",
        WITNESS,
        "the groups that make most of MPR, with their shares",
        # Fields in the order of WITNESS.
        of_measured(lambda found: found.witness.groups),
    ),
    Column("message", TEXT, "what a reader should know of the row", message),
)
RESULTS = pa.schema([pa.field(column.name, column.type, metadata={"description": column.what}) for column in COLUMNS])
# An attention and a function class under which a selection is measured.
View = tuple[str, ClassEntry]
# Columns that are the same in every row of a unit.
OF_THE_UNIT = (
    *("run_id", "unit", "dataset", "reference", "query", "prompt", "k", "method", "parameter", "target_class"),
    *("target_attention", "similarity_top_k", "n_pool", "n_reference", "reference_size", "seed"),
)
# Columns of what was chosen and how: they are the same under every attention and class.
CHOSEN = (
    *("parameter_value", "status", "similarity", "relaxation_bound", "similarity_bound", "gap", "rho", "p_rho"),
    *("rho_min", "precision", "ndcg", "awrf", "ndkl", "max_skew", "min_skew", "solve_seconds", "item_ids", "message"),
)
COLUMNS_OF_THE_UNIT, COLUMNS_CHOSEN, OTHER_COLUMNS = (
    [column for column in COLUMNS if is_meant(column.name)]
    for is_meant in (OF_THE_UNIT.__contains__, CHOSEN.__contains__, lambda name: name not in OF_THE_UNIT + CHOSEN)
)
# In the key of every unit that writes such rows: with another column they are computed anew.
FORM = digest([[column.name, str(column.type)] for column in COLUMNS])
