"""Items that a run had to leave out: listed with their reasons, counted, and too many of them a failure.

A loader leaves out what has no usable name or labels: such an item is no part of the audit. An item whose picture
cannot be read has labels: it stays in the reference population, which is who is there, and is never retrieved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from ..errors import RunError
from ..plan.plan import Plan
from ..stages.embed import Embed
from ..stages.items import Items
from ..store import FileReceipt, Receipt, Store, unit_file
from ..store.schema import SKIPPED

# What the units that can skip an item call their table, and the folder that all are collected in.
TABLE = "skipped"
# Items that a count names as examples.
NAMED_ITEMS = 5
# A run's summary of its skipped items: {data set: {reason: {"items": how many, "first": [ids]}}}.
Counts = dict[str, dict[str, dict[str, Any]]]


def skipped_items(store: Store, plan: Plan, done: Mapping[str, Receipt]) -> pa.Table:
    """Every item that the plan's finished units skipped, or an engine showed without labels, by data set."""
    found = [*plan.left_out.items()]
    found += [
        (one.catalogue, store.read_table(unit_file(one.stage, one.unit, TABLE))) for one in _skipping_units(plan, done)
    ]
    parts = [SKIPPED.empty_table()]
    for catalogue, rows in found:
        dataset = pa.repeat(pa.scalar(plan.catalogues[catalogue].name), rows.num_rows)
        parts.append(rows.add_column(0, SKIPPED.field("dataset"), dataset).cast(SKIPPED))
    return pa.concat_tables(parts)


def counts_of(skipped: pa.Table) -> Counts:
    """Numbers of skipped items by data set and reason, the most frequent reason first, and the first ids of each."""
    found: Counts = {}
    for dataset, item, reason, _ in zip(*(skipped[name].to_pylist() for name in SKIPPED.names)):
        entry = found.setdefault(dataset, {}).setdefault(reason, {"items": 0, "first": []})
        entry["items"] += 1
        if len(entry["first"]) < NAMED_ITEMS:
            entry["first"].append(item)
    by_size = {name: sorted(reasons.items(), key=lambda one: -one[1]["items"]) for name, reasons in found.items()}
    return {name: dict(reasons) for name, reasons in by_size.items()}


def expect_few_skipped(store: Store, plan: Plan, done: Mapping[str, Receipt]) -> None:
    """Stop a run whose pictures mostly cannot be read, before anything is concluded from the rest.

    The list is written first, so that it can be looked at.
    Raises:  RunError when a data set's share of skipped items is above its `max_skipped_share`.
    """
    numbers = Counter[str]()
    left_out = Counter[str]()
    for one in _skipping_units(plan, done):
        numbers[one.catalogue] += one.items
        if one.stage == Items.stage:
            left_out[one.catalogue] += one.items
    for key, rows in plan.left_out.items():
        numbers[key] += rows.num_rows
        left_out[key] += rows.num_rows
    for key, number in numbers.items():
        catalogue, most = plan.catalogues[key], plan.blocks[key].max_skipped_share
        items = catalogue.size + left_out[key]
        if number > most * items:
            skipped = skipped_items(store, plan, done)
            write_skipped(store, skipped)
            reasons = reasons_text(counts_of(skipped)[catalogue.name])
            raise RunError(
                f"dataset {catalogue.name}: {number:,} of {items:,} items ({number / items:.1%}) are skipped, more "
                f"than max_skipped_share allows ({most:.1%}): {reasons}; they are listed in {store.address(TABLE)}"
            )


def write_skipped(store: Store, skipped: pa.Table) -> dict[str, FileReceipt]:
    """Write the list; it is there, empty, where nothing was skipped.

    Returns: what the file holds, by its name below the root.
    """
    name = f"{TABLE}/part-00000.parquet"
    return {name: store.write_table(name, skipped)}


def reasons_text(reasons: Mapping[str, Mapping[str, Any]]) -> str:
    """Counts by reason, on one line."""
    return ", ".join(f"{entry['items']:,} {reason}" for reason, entry in reasons.items())


class _Skipping(NamedTuple):
    """A finished unit that skipped items of a catalogue; a unit may serve two catalogues with the same items."""

    catalogue: str
    stage: str
    unit: str
    items: int


def _skipping_units(plan: Plan, done: Mapping[str, Receipt]) -> Iterator[_Skipping]:
    for catalogue, parts in plan.parts.items():
        units = [(Items.stage, part) for part in parts]
        units += dict.fromkeys((Embed.stage, shard) for part in parts for shard in plan.shards.get(part, ()))
        for stage, unit in units:
            file = done[unit].files.get(TABLE) if unit in done else None
            if file is not None and file.rows:
                yield _Skipping(catalogue, stage, unit, file.rows)
