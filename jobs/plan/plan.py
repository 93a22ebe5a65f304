"""A plan: the units of an audit, and which of its queries must be searched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ..datasets.block import Dataset
from ..datasets.catalogue import Catalogue
from ..stages.pool import Pool
from ..stages.probe import Probe
from ..stages.solve import Solve
from ..stages.unit import Tables, Unit
from ..store.keys import digest


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Units by stage, in the order in which stages run, and remarks for the reader of the run.

    catalogues are those that the catalogue units write, blocks their settings, and parts the items units of their
    parts, all by the unit's key; shards has the embed units of a part by the key of its items unit; made has the tables
    of units that reading the inputs has made already, by key; probes are the units that train them, by name; left_out
    are items that an engine showed and nobody labelled, by the key of the catalogue that lacks them.
    """

    stages: Mapping[str, Sequence[Unit]]
    catalogues: Mapping[str, Catalogue]
    blocks: Mapping[str, Dataset]
    parts: Mapping[str, tuple[str, ...]]
    shards: Mapping[str, tuple[str, ...]]
    made: Mapping[str, Callable[[], Tables]]
    probes: Mapping[str, Probe]
    notes: tuple[str, ...]
    left_out: Mapping[str, pa.Table] = field(default_factory=dict)

    @property
    def units(self) -> list[Unit]:
        """All units, in order."""
        return [unit for units in self.stages.values() for unit in units]

    @property
    def solved(self) -> list[Solve]:
        """The units that solve."""
        return [unit for unit in self.units if isinstance(unit, Solve)]

    @property
    def fingerprint(self) -> str:
        """Names the content of the results."""
        return digest([unit.key for unit in self.solved])


def unanswered(plan: Plan, done: Collection[str]) -> set[str] | None:
    """Prompts whose queries must be searched, or their vectors read, for what is not done; None for all.

    A query that is new is searched alone; the pools and selections of the others stay. Where the whole search is
    done already, or no pool is, all are asked.
    """
    pools = [unit for unit in plan.units if isinstance(unit, Pool)]
    searched = {key for pool in pools for key in pool.scored}
    if searched <= set(done) or not any(pool.key in done for pool in pools):
        return None
    missing = {pool.prompt for pool in pools if pool.key not in done}
    return missing | {
        unit.prompt for unit in plan.solved if unit.key not in done and (unit.queries or unit.asked.debiased)
    }
