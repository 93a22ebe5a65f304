"""Every stage by name, in the order in which stages run."""

from __future__ import annotations

from jobs.stages.catalogue import Catalogue
from jobs.stages.debiased import Debiased
from jobs.stages.embed import Embed
from jobs.stages.information import Information
from jobs.stages.labels import Labels
from jobs.stages.merge import Merge
from jobs.stages.order import Order
from jobs.stages.pool import Pool
from jobs.stages.prefilter import Prefilter
from jobs.stages.probe import Probe
from jobs.stages.queries import Queries
from jobs.stages.rescore import Rescore
from jobs.stages.solve import Solve
from jobs.stages.texts import Texts
from jobs.stages.tokens import Tokens
from jobs.stages.unit import EncodingUnit, Unit

STAGES: dict[str, type[Unit]] = {
    one.stage: one
    for one in (
        Catalogue,
        Tokens,
        Queries,
        Texts,
        Debiased,
        Embed,
        Probe,
        Labels,
        Information,
        Order,
        Prefilter,
        Merge,
        Rescore,
        Pool,
        Solve,
    )
}


def needs_encoder(stage: str) -> bool:
    """Whether units of the stage of that name need an encoder."""
    return issubclass(STAGES[stage], EncodingUnit)
