"""The data sets of an audit, each with its catalogue's unit: those audited, those of references, those of probes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..config.audit import Audit
from ..datasets.block import NOT_READ, Dataset
from ..datasets.catalogue import Catalogue
from ..stages.catalogue import Catalogue as CatalogueUnit
from ..stages.items import Items
from .inputs import Inputs
from .search_units import Embedded

# Settings of a data set that name or place it without changing its items.
_NAMING = {"name", "path", "root", "labels", "image_fingerprint", "max_skipped_share"}


class Side(NamedTuple):
    """A data set by what it is in the audit, `dataset`, `reference` or `probe`, and its name there."""

    role: str
    name: str


def sources_of(settings: Audit, inputs: Inputs) -> dict[Side, Embedded]:
    """Every data set of the audit."""
    return {side: _embedded(block, catalogue, inputs) for side, block, catalogue in _sides(settings, inputs)}


def _sides(settings: Audit, inputs: Inputs) -> Iterator[tuple[Side, Dataset, Catalogue]]:
    for block in settings.dataset:
        yield Side("dataset", block.name), block, inputs.catalogues[block.name]
    for reference in settings.reference:
        if reference.dataset is not None:
            yield Side("reference", reference.name), reference.dataset, inputs.references[reference.name]
    for name, probe in settings.probes.items():
        yield Side("probe", name), probe.dataset, inputs.labelled[name]


def _embedded(block: Dataset, catalogue: Catalogue, inputs: Inputs) -> Embedded:
    parts = tuple(_items_units(block, catalogue))
    unit = CatalogueUnit(
        title=f"items of {catalogue.name}",
        parts=tuple(part.key for part in parts),
        rows=tuple(part.rows for part in parts),
    )
    return Embedded(
        block=block, catalogue=catalogue, unit=unit, parts=parts, encoder=inputs.item_encoder, cache=inputs.cache
    )


def _items_units(block: Dataset, catalogue: Catalogue) -> Iterator[Items]:
    """A unit for each part of a data set."""
    settings, start = block.model_dump(mode="json", exclude={**dict.fromkeys(_NAMING, True), **NOT_READ}), 0
    for part in catalogue.parts:
        summary = part.summary
        yield Items(
            title=f"{catalogue.name} items {start} to {start + summary.rows - 1}",
            block=settings,
            fingerprint=summary.fingerprint,
            columns=summary.columns,
            missing=catalogue.missing,
            reader=None if part.place is None else part.reader.settings(),
            pieces=None if part.place is None else part.place.to_json(),
            rows=summary.rows,
            size_bytes=summary.memory_bytes,
        )
        start += summary.rows
