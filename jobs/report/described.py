"""Some cases of a run as a report shows them: what the page and its tables are put together from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ..analysis import wording
from ..analysis.cases import CASE, SELECTION, repaired_rows, top_k_rows
from ..analysis.curves import is_fulfilled
from ..analysis.frames import grouped, records
from ..analysis.load import Run
from ..analysis.tables import group_shares, guarded, lines
from ..analysis.worst import largest, worst_off, worst_pairs
from . import embed
from .shared import Shared

CASES = pa.schema(
    [
        ("dataset", pa.string()),
        ("reference", pa.string()),
        ("query", pa.string()),
        ("k", pa.int64()),
        ("label", pa.string()),
        ("is_ranked", pa.bool_()),
        ("block", pa.string()),
        ("curves", pa.binary()),
        ("groups", pa.binary()),
    ]
)
# Columns of the results that a report says of all queries together.
ABOUT = [*SELECTION, "function_class", "mpr", "mpr_low", "mpr_high", "mpr_chance", "n_pool", "n_reference"]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Described:
    """Some cases.

    cases has one row a case in the columns CASES, sorted: its label, whether a group of it is ranked, its packed block
    of the page, and its lines of curves.csv and groups.csv. headers are the first lines of those two files. pairs are
    the worst pairs; top and repaired one row a case in the columns ABOUT, measured those of the repaired selections
    under every class; unmet counts selections by method and status.
    """

    cases: pa.Table
    headers: Mapping[str, bytes]
    pairs: pd.DataFrame
    top: pd.DataFrame
    repaired: pd.DataFrame
    measured: pd.DataFrame
    unmet: pd.DataFrame


def described(run: Run, shared: Shared, curves: pd.DataFrame) -> Described:
    """The run's cases. curves: its trade-offs."""
    chance = None if shared.chance is None else {name: np.array(values) for name, values in shared.chance.items()}
    of_top_k = None if chance is None else chance["top_k"]
    pairs = worst_pairs(
        run.results, run.groups, minimum_share=shared.minimum_share, of_queries=of_top_k, predicted=shared.predicted
    )
    repaired = repaired_rows(run.results)
    blocks = embed.case_blocks(run, curves, repaired, list(shared.groups))
    verdicts = _verdicts(pairs, shared.minimum_share)
    for block in blocks:
        block.update({"label": shared.label(case_of(block))} | verdicts.get(case_of(block), {}))
    curve_lines, curve_header = _lines_by_case(curves)
    group_lines, group_header = _lines_by_case(group_shares(run.results, run.groups, chance))
    rows = [
        {name: block[name] for name in (*CASE, "label")}
        | {
            "is_ranked": "verdict" in block,
            "block": embed.pack(block),
            "curves": curve_lines.get(case_of(block), b""),
            "groups": group_lines.get(case_of(block), b""),
        }
        for block in blocks
    ]
    return Described(
        cases=pa.Table.from_pylist(rows, schema=CASES),
        headers={"curves": curve_header, "groups": group_header},
        pairs=pairs,
        top=top_k_rows(run.results)[ABOUT],
        repaired=repaired[ABOUT],
        measured=_measured(run.results, repaired),
        unmet=_unmet(run.results),
    )


def case_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The case of a row, a block or a pair."""
    return tuple(row[key] for key in CASE)


def _verdicts(pairs: pd.DataFrame, minimum_share: float) -> dict[tuple[Any, ...], dict[str, Any]]:
    """What is said of each case that has a worst pair."""
    lacking = {case_of(row): row for row in records(worst_off(pairs, minimum_share=minimum_share))}
    return {
        case_of(row): {
            "verdict": wording.verdict(row, lacking.get(case_of(row))),
            "worst_is_crossed": row["attributes"] > 1,
        }
        for row in records(largest(pairs))
    }


def _lines_by_case(table: pd.DataFrame) -> tuple[dict[tuple[Any, ...], bytes], bytes]:
    """A table's lines of CSV by case, and the header."""
    safe = guarded(table)
    found = {case: lines(own) for (case, _), own in zip(grouped(table, CASE), _groups(safe, table))}
    return found, lines(safe.iloc[:0], has_header=True)


def _groups(safe: pd.DataFrame, table: pd.DataFrame) -> list[pd.DataFrame]:
    """The same rows of the guarded table; its texts may differ from the case's own."""
    numbers = table.groupby(CASE, sort=False).ngroup().to_numpy()
    return [own for _, own in safe.groupby(numbers, sort=False)]


def _measured(results: pd.DataFrame, repaired: pd.DataFrame) -> pd.DataFrame:
    """The repaired selections under every class."""
    keys = repaired[SELECTION].astype({"parameter_value": float})
    return results[ABOUT].astype({"parameter_value": float}).merge(keys, on=SELECTION, how="inner")


def _unmet(results: pd.DataFrame) -> pd.DataFrame:
    """How many selections of each method ended in a status that is not what was asked for."""
    rows = results[~is_fulfilled(results["status"])].drop_duplicates(SELECTION)
    return rows.groupby(["method", "status"], sort=True).size().rename("count").reset_index()
