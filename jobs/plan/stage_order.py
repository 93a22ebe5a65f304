"""Stages in their order, and the units of each."""

from __future__ import annotations

from collections.abc import Iterable

from ..stages.catalogue import Catalogue as CatalogueUnit
from ..stages.cells import Cells
from ..stages.debiased import Debiased
from ..stages.embed import Embed
from ..stages.hand_confusion import HandConfusion
from ..stages.hand_labels import HandLabels
from ..stages.information import Information
from ..stages.items import Items
from ..stages.labels import Labels
from ..stages.likely import Likely
from ..stages.merge import Merge
from ..stages.order import Order
from ..stages.pool import Pool
from ..stages.prefilter import Prefilter
from ..stages.prior_shift import PriorShifts
from ..stages.probe import Probe
from ..stages.queries import Queries
from ..stages.reference import ReferenceCells
from ..stages.rescore import Rescore
from ..stages.solve import Solve
from ..stages.texts import Texts
from ..stages.tokens import Tokens
from ..stages.unit import Unit

# Stages in the order in which they run. Those that need an encoder are neighbours, so that it is loaded once.
ORDER: tuple[type[Unit], ...] = (
    Items,
    CatalogueUnit,
    Tokens,
    Queries,
    Texts,
    Debiased,
    Embed,
    Probe,
    Labels,
    PriorShifts,
    HandConfusion,
    Cells,
    Likely,
    ReferenceCells,
    HandLabels,
    Information,
    Order,
    Prefilter,
    Merge,
    Rescore,
    Pool,
    Solve,
)


def by_stage(units: Iterable[Unit]) -> dict[str, list[Unit]]:
    """Units by stage, in the order of stages; two blocks may ask for the same content, which is one unit."""
    distinct = {unit.key: unit for unit in units}
    found: dict[type[Unit], list[Unit]] = {kind: [] for kind in ORDER}
    for unit in distinct.values():
        found[type(unit)].append(unit)
    return {kind.stage: of_stage for kind, of_stage in found.items() if of_stage}


def shards_by_part(units: Iterable[Unit]) -> dict[str, tuple[str, ...]]:
    """Keys of shards by the part that they are of; those of the same items are of each part that has them."""
    shards: dict[str, dict[str, None]] = {}
    for unit in units:
        if isinstance(unit, Embed):
            shards.setdefault(unit.part, {})[unit.key] = None
    return {key: tuple(keys) for key, keys in shards.items()}
