"""Some cases of a run as a report shows them: what the page and its tables are put together from.

What is said of a case here depends on its own rows alone, so that it can be kept for other reports: of runs with other
queries beside it. What depends on all queries of a run is found where they are put together (`jobs.report.assembled`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from ..analysis.cases import CASE, SELECTION, repaired_rows, top_k_rows
from ..analysis.curves import COLUMNS, is_fulfilled, trade_offs, vertical_floors
from ..analysis.load import Run
from ..analysis.tables import SHARES, case_shares, lines_by_case
from ..analysis.worst import CASE_PAIRS, case_pairs
from ..stages.result_rows import RESULTS
from ..store.schema import GROUPS
from . import embed
from .figures import curve_pictures
from .packed import deflated
from .shared import Shared

# One row a case. block: deflated JSON; items and groups: what its numbers refer to; curves and drawing: lines of
# curves.csv and an SVG file, compressed.
CASES = pa.schema(
    [
        ("dataset", pa.string()),
        ("reference", pa.string()),
        ("query", pa.string()),
        ("k", pa.int64()),
        ("key", pa.string()),
        ("block", pa.binary()),
        ("items", pa.list_(pa.string())),
        ("groups", pa.list_(pa.string())),
        ("curves", pa.binary()),
        ("drawing", pa.binary()),
    ]
)
CODEC = "zstd"
# Columns of the results that a report says of all queries together.
ABOUT = [*SELECTION, "function_class", "mpr", "mpr_low", "mpr_high", "mpr_chance", "n_pool", "n_reference"]
# What a selection is in the report: what is audited, what repairs it, and the latter under every class.
TOP, REPAIRED, MEASURED = "top", "repaired", "measured"
KINDS = {
    **{one.name: one.type for one in (*GROUPS, *RESULTS)},
    **dict.fromkeys(("selection", "method_repaired", "target_repaired", "role"), pa.string()),
    **dict.fromkeys(("is_largest", "is_predicted", "is_repaired_to_chance"), pa.bool_()),
    "count": pa.int64(),
}


def _schema(names: Sequence[str]) -> pa.Schema:
    """A table of these columns; those that are in no table of a run are numbers."""
    return pa.schema([(name, KINDS.get(name, pa.float64())) for name in names])


# Tables of all cases together, each with the case in its rows.
FRAMES = {
    "pairs": _schema(CASE_PAIRS),
    "shares": _schema(SHARES),
    "selections": _schema([*ABOUT, "role"]),
    "unmet": _schema([*CASE, "method", "status", "count"]),
}


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Described:
    """Some cases: one row a case in the columns CASES, and the FRAMES.

    pairs are `worst.case_pairs`, shares `tables.case_shares`; selections are rows ABOUT the audited and the repaired
    selections; unmet counts selections by method and status.
    """

    cases: pa.Table
    frames: Mapping[str, pa.Table]

    def among(self, is_wanted: Sequence[bool]) -> Described:
        """Some of the cases."""
        if all(is_wanted):
            return self
        cases = self.cases.filter(pa.array(is_wanted, pa.bool_()))
        wanted = set(_cases_of_rows(cases))
        frames = {
            name: table.filter(pa.array([case in wanted for case in _cases_of_rows(table)], pa.bool_()))
            for name, table in self.frames.items()
        }
        return Described(cases=cases, frames=frames)


def described(run: Run, shared: Shared, keys: Mapping[tuple[Any, ...], str]) -> Described:
    """The run's cases. keys: by what each is known."""
    curves, repaired = trade_offs(run.results), repaired_rows(run.results)
    floors = vertical_floors(curves)
    lines = dict(lines_by_case(curves[COLUMNS]))
    drawings = dict(curve_pictures(curves, shared.classes, shared.series, floors))
    rows = [
        {name: block.about[name] for name in CASE}
        | {
            "key": keys[block.case],
            "block": deflated(block.about),
            "items": block.items,
            "groups": block.groups,
            "curves": _compressed(lines[block.case]),
            "drawing": _compressed(drawings[block.case]),
        }
        for block in embed.case_blocks(run, curves, repaired, floors)
    ]
    pairs = case_pairs(run.results, run.groups, minimum_share=shared.minimum_share, predicted=shared.predicted)
    frames = {
        "pairs": pairs,
        "shares": case_shares(run.results, run.groups),
        "selections": _selections(run.results, repaired),
        "unmet": _unmet_counts(run.results),
    }
    return Described(
        cases=pa.Table.from_pylist(rows, schema=CASES),
        frames={
            name: pa.Table.from_pandas(frame, schema=FRAMES[name], preserve_index=False).cast(FRAMES[name])
            for name, frame in frames.items()
        },
    )


def _compressed(content: bytes) -> bytes:
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, CODEC) as packed:
        packed.write(content)
    found: bytes = stream.getvalue().to_pybytes()
    return found


def case_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The case of a row, a block or a pair."""
    return tuple(row[key] for key in CASE)


def _cases_of_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """The case of each row."""
    return zip(*(table[name].to_pylist() for name in CASE))


def _selections(results: pd.DataFrame, repaired: pd.DataFrame) -> pd.DataFrame:
    """The audited and the repaired selections, the latter under every class too."""
    keys = repaired[SELECTION].astype({"parameter_value": float})
    measured = results[ABOUT].astype({"parameter_value": float}).merge(keys, on=SELECTION, how="inner")
    parts = ((TOP, top_k_rows(results)), (REPAIRED, repaired), (MEASURED, measured))
    found = [rows[ABOUT].assign(role=role) for role, rows in parts if len(rows)]
    # A run may have other methods alone.
    return pd.concat(found, ignore_index=True) if found else results[ABOUT].iloc[:0].assign(role=TOP)


def _unmet_counts(results: pd.DataFrame) -> pd.DataFrame:
    """How many selections of each method ended in a status that is not what was asked for."""
    rows = results[~is_fulfilled(results["status"])].drop_duplicates(SELECTION)
    return rows.groupby([*CASE, "method", "status"], sort=True).size().rename("count").reset_index()
