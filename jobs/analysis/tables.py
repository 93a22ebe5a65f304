"""The report's tables as CSV, for a spreadsheet or another program; every number unrounded."""

from __future__ import annotations

import csv as files_of_csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from mprlib.arrays import FloatArray, IntArray

from .cases import CASE, SELECTION, repaired_rows, top_k_rows
from .chance import CHANCE, with_chance
from .frames import numbered, places_of
from .wording import is_missing

# Spreadsheets run a cell that starts so as a formula; texts of the data must not.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


# Columns of the groups' table but for what depends on all queries of a run, and what that is made of.
SHARES = [
    *CASE, "selection", "method", "parameter_value", "target_class", "status",
    "group", "attributes", "share_selected", "share_reference", "share_first_5", "share_first_10", "exposure",
    "gap_points", *CHANCE,
]  # fmt: skip
GROUP_SHARES = [*SHARES[:-2], "p_adjusted", "is_beyond_chance", "chance_points"]


def case_shares(results: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    """Every named group of each case's top-k and repaired selection, selected against reference.

    Returns: one row per (case, selection, group) in the columns SHARES, sorted; shares are fractions of 1, gaps are in
             points.
    """
    both = pd.concat(
        [
            rows[[*SELECTION, "status"]].astype({"parameter_value": float}).assign(selection=name)
            for name, rows in (("top_k", top_k_rows(results)), ("repaired", repaired_rows(results)))
        ]
    )
    # A merge matches null with null, which is what the parameter and target class of top-k are.
    table = both.merge(groups.astype({"parameter_value": float}).drop(columns="unit"), on=SELECTION, how="inner")
    table = table.drop_duplicates([*SELECTION, "selection", "group"])
    table["gap_points"] = 100.0 * (table["share_selected"] - table["share_reference"])
    return table.reindex(columns=SHARES).sort_values([*CASE, "selection", "attributes", "group"], kind="stable")


def group_shares(shares: pd.DataFrame, of_queries: Mapping[str, FloatArray]) -> pd.DataFrame:
    """The shares, with which gaps are more than luck: columns GROUP_SHARES.

    of_queries: the p values of all queries of the run by selection (top_k, repaired).
    """
    parts = [with_chance(own, of_queries[str(name)]) for name, own in shares.groupby("selection", sort=False)]
    return pd.concat(parts or [shares]).reindex(shares.index).reindex(columns=GROUP_SHARES)


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
    header = [list(table.columns)] if has_header else []
    return _csv_bytes([*header, *zip(*(_cell_texts(table[name]) for name in table))])


def lines_by_case(table: pd.DataFrame) -> Iterator[tuple[tuple[Any, ...], bytes]]:
    """Each case of a table, and the lines of its rows."""
    rows = list(zip(*(_cell_texts(column) for _, column in guarded(table).items())))
    for case, places in places_by_case(table):
        yield case, _csv_bytes([rows[place] for place in places.tolist()])


def places_by_case(table: pd.DataFrame) -> Iterator[tuple[tuple[Any, ...], IntArray]]:
    """Each case of a table in order of first appearance, and the positions of its rows."""
    found = places_of(numbered(table, CASE))
    cases = table[CASE].iloc[[places[0] for places in found]].itertuples(index=False, name=None)
    return zip(cases, found)


def _csv_bytes(rows: Sequence[Sequence[str]]) -> bytes:
    stream = io.StringIO()
    files_of_csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode("utf-8", "replace")


def _cell_texts(column: pd.Series) -> list[str]:
    """A column as its cells: numbers repeat, and are written once each."""
    values = column.tolist()
    is_number = pd.api.types.is_float_dtype(column.dtype)
    cells = {value: _number(value) if is_number else str(value) for value in set(values) if not is_missing(value)}
    return [cells.get(value, "") for value in values]


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
