"""The report's tables as CSV, for a spreadsheet or another program; every number unrounded."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import pandas as pd

from mprlib.arrays import FloatArray

from .cases import CASE, SELECTION, repaired_rows, top_k_rows
from .chance import with_chance

# Spreadsheets run a cell that starts so as a formula; texts of the data must not.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def group_shares(
    results: pd.DataFrame, groups: pd.DataFrame, of_queries: Mapping[str, FloatArray] | None = None
) -> pd.DataFrame:
    """Every named group of each case's top-k and repaired selection, selected against reference.

    of_queries: p values of all queries by selection (top_k, repaired), where these are some of the queries.
    Returns: one row per (case, selection, group); shares are fractions of 1, gaps are in points.
    """
    both = pd.concat(
        [
            rows[[*SELECTION, "status"]].astype({"parameter_value": float}).assign(selection=name)
            for name, rows in (("top_k", top_k_rows(results)), ("repaired", repaired_rows(results)))
        ]
    )
    rows = groups.drop_duplicates([*SELECTION, "group"]).astype({"parameter_value": float})
    table = both.merge(rows.drop(columns="unit"), on=SELECTION, how="inner")
    both_selections = [
        with_chance(own, None if of_queries is None else of_queries[str(name)])
        for name, own in table.groupby("selection", sort=False)
    ]
    table = pd.concat([table.iloc[:0], *both_selections])
    table["gap_points"] = 100.0 * (table["share_selected"] - table["share_reference"])
    columns = [
        *CASE, "selection", "method", "parameter_value", "target_class", "status",
        "group", "attributes", "share_selected", "share_reference", "share_first_5", "share_first_10", "exposure",
        "gap_points", "p_chance", "p_adjusted", "is_beyond_chance", "chance_points",
    ]  # fmt: skip
    return table.reindex(columns=columns).sort_values([*CASE, "selection", "attributes", "group"], kind="stable")


def csv(table: pd.DataFrame) -> bytes:
    """UTF-8 with a header and Unix line ends; texts that a spreadsheet would run get an apostrophe."""
    return lines(guarded(table), has_header=True)


def guarded(table: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before texts that a spreadsheet would run."""
    safe = table.copy()
    for name in safe.columns:
        if pd.api.types.is_string_dtype(safe[name]):
            starts = safe[name].str.startswith(FORMULA_STARTS).fillna(False).astype(bool)
            safe[name] = safe[name].where(~starts, "'" + safe[name])
    return safe


def lines(table: pd.DataFrame, *, has_header: bool = False) -> bytes:
    """The rows of a guarded table as CSV."""
    text = table.to_csv(index=False, header=has_header, lineterminator="\n", float_format=_number)
    return text.encode("utf-8", "replace")


def read_csv(content: bytes, texts: Sequence[str]) -> pd.DataFrame:
    """A table that `csv` wrote, with these columns as the texts that they were."""
    types = dict.fromkeys(texts, str)
    # A query may be called NA: only what is empty is missing.
    table = pd.read_csv(io.BytesIO(content), dtype=types, keep_default_na=False, na_values=[""])
    for name in texts:
        is_guarded = table[name].str.startswith(tuple(f"'{start}" for start in FORMULA_STARTS)).fillna(False)
        table[name] = table[name].mask(is_guarded.astype(bool), table[name].str[1:])
    return table


def _number(value: object) -> str:
    """Twelve digits: what follows is the order of a sum's terms, 0.9800000000000005 for 0.98."""
    return repr(float(f"{value:.12g}"))
