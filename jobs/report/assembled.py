"""The described cases of a run, put together for the page and its tables; what depends on all of them is found here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from ..analysis import wording
from ..analysis.cases import CASE
from ..analysis.chance import values_of_queries
from ..analysis.curves import COLUMNS
from ..analysis.frames import records
from ..analysis.tables import GROUP_SHARES, group_shares, lines, lines_by_case
from ..analysis.worst import judged, largest, worst_off
from ..errors import UsageError
from .described import ABOUT, CODEC, MEASURED, REPAIRED, TOP, Described, case_of
from .overview import Distribution, distribution
from .packed import as_text, digits, digits_for
from .shared import Shared

# Selections of the two kinds that have group shares.
OF_SHARES = ("top_k", "repaired")


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Assembled:
    """A whole run.

    cases are those of `Described`, in any order, and order sorts them; labels are their names in that order. groups are
    all named ones; ids those that items of blocks refer to, items their descriptions by (dataset, item_id), and
    thumbnails their pictures. pairs are all worst pairs, worst first, and lacking the groups that are most
    underrepresented, by case; shares the lines of groups.csv by case. top are the audited selections; shown is the
    distribution of MPR, None without values; unmet counts selections by method and status.
    """

    shared: Shared
    manifest: Mapping[str, Any]
    cases: pa.Table
    order: Sequence[int]
    names: Sequence[tuple[Any, ...]]
    labels: Sequence[str]
    groups: Sequence[str]
    ids: Sequence[str]
    items: pd.DataFrame
    thumbnails: Mapping[tuple[str, str], bytes]
    pairs: pd.DataFrame
    lacking: Mapping[tuple[Any, ...], dict[str, Any]]
    shares: Mapping[tuple[Any, ...], bytes]
    top: pd.DataFrame
    shown: Distribution | None
    unmet: pd.DataFrame

    def column(self, name: str) -> Iterator[Any]:
        """A column of the cases, in their order, a value at a time."""
        values = self.cases[name]
        return (values[place].as_py() for place in self.order)

    def blocks(self) -> Iterator[str]:
        """Each case's element of the page: which items and groups its numbers are, and its block.

        Raises:  UsageError naming an item that nothing is known of.
        """
        item, group = ({name: place for place, name in enumerate(names)} for names in (self.ids, self.groups))
        for items, groups, block in zip(*(self.column(name) for name in ("items", "groups", "block"))):
            try:
                of_items = digits([item[one] for one in items], self.item_width)
            except KeyError as missing:
                raise UsageError(
                    f"item {missing.args[0]!r:.200} is in results/ and not in items/: run the audit again to repair "
                    "them"
                ) from None
            of_groups = digits([group[one] for one in groups], self.group_width)
            yield f"{of_items}.{of_groups}.{as_text(block)}"

    @property
    def item_width(self) -> int:
        """Digits of an item's number in the page."""
        return digits_for(len(self.ids))

    @property
    def group_width(self) -> int:
        """Digits of a group's number in the page."""
        return digits_for(len(self.groups))

    def said(self) -> dict[tuple[Any, ...], tuple[str, bool]]:
        """The verdict on each case that has a worst pair, and whether that is of several attributes together."""
        return {
            case_of(row): (wording.verdict(row, self.lacking.get(case_of(row))), row["attributes"] > 1)
            for row in records(largest(self.pairs))
        }

    def curves(self) -> Iterator[bytes]:
        """The lines of curves.csv, case by case."""
        yield lines(pd.DataFrame(columns=COLUMNS), has_header=True)
        yield from map(_decompressed, self.column("curves"))

    def group_shares(self) -> Iterator[bytes]:
        """The lines of groups.csv, case by case."""
        yield lines(pd.DataFrame(columns=GROUP_SHARES), has_header=True)
        yield from (self.shares.get(case, b"") for case in self.names)

    def drawings(self) -> Iterator[tuple[tuple[Any, ...], bytes]]:
        """Each case's drawing."""
        return zip(self.names, map(_decompressed, self.column("drawing")))


def assembled(
    parts: Sequence[Described],
    shared: Shared,
    *,
    manifest: Mapping[str, Any],
    ids: Sequence[str],
    items: pd.DataFrame,
    thumbnails: Mapping[tuple[str, str], bytes],
) -> Assembled:
    """The parts of a run as one."""
    cases = pa.concat_tables(part.cases for part in parts)
    unordered = list(zip(*(cases[name].to_pylist() for name in CASE)))
    order = sorted(range(len(unordered)), key=unordered.__getitem__)
    names = [unordered[place] for place in order]
    labels = wording.case_labels(names)
    pairs = judged(_concatenated(parts, "pairs"))
    selections = _concatenated(parts, "selections")
    top, repaired, measured = (
        selections.loc[selections["role"] == role, ABOUT].reset_index(drop=True) for role in (TOP, REPAIRED, MEASURED)
    )
    counted = _concatenated(parts, "unmet").groupby(["method", "status"], sort=True)["count"].sum().reset_index()
    return Assembled(
        shared=shared,
        manifest=manifest,
        cases=cases,
        order=order,
        names=names,
        labels=labels,
        groups=sorted({name for own in cases["groups"].to_pylist() for name in own}),
        ids=ids,
        items=items,
        thumbnails=thumbnails,
        pairs=pairs,
        lacking={case_of(row): row for row in records(worst_off(pairs, minimum_share=shared.minimum_share))},
        shares=_share_lines(parts),
        top=top,
        shown=distribution(top, repaired, measured, dict(zip(names, labels))),
        unmet=counted,
    )


def _concatenated(parts: Sequence[Described], name: str) -> pd.DataFrame:
    frame: pd.DataFrame = pa.concat_tables(part.frames[name] for part in parts).to_pandas()
    return frame


def _share_lines(parts: Sequence[Described]) -> dict[tuple[Any, ...], bytes]:
    """The lines of groups.csv by case; a part at a time, as they are many."""
    values = {}
    for name in OF_SHARES:
        shares = pa.concat_tables(part.frames["shares"].select([*CASE, "selection", "p_largest"]) for part in parts)
        frame = shares.to_pandas()
        values[name] = values_of_queries(frame[frame["selection"] == name])
    found: dict[tuple[Any, ...], bytes] = {}
    for part in parts:
        found |= dict(lines_by_case(group_shares(part.frames["shares"].to_pandas(), values)))
    return found


def _decompressed(content: bytes) -> bytes:
    # Lengths are not kept beside what is compressed.
    with pa.input_stream(pa.py_buffer(content), compression=CODEC) as stream:
        unpacked: bytes = stream.read()
    return unpacked
