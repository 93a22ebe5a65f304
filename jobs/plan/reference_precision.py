"""How well a reference of people knows the shares of groups, and how many people a point takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import prod

from mprlib.statistics import reference_size, share_interval

from ..config.audit import Audit
from ..words import numbered
from .inputs import Inputs

# All groups at once are within their intervals with this probability.
CONFIDENCE = 0.95
# Shares are asked for to a point.
ASKED = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferencePrecision:
    """people: rows of the reference; error: how far the share of any of so many groups may be from that of the
    population behind them; people_asked: rows that bring it to ASKED."""

    reference: str
    dataset: str
    people: int
    groups: int
    error: float
    people_asked: int
    is_weighted: bool

    def __str__(self) -> str:
        asked = f"; 1 point takes {self.people_asked:,}" if self.error > ASKED else ""
        weighted = " (by their weights they count as fewer)" if self.is_weighted else ""
        return (
            f"{self.reference}: {numbered(self.people, 'person', 'people')}{weighted} tell the shares of "
            f"{numbered(self.groups, 'group')} to {100 * self.error:.1f} points{asked}"
        )


def reference_precisions(settings: Audit, inputs: Inputs) -> Iterator[ReferencePrecision]:
    """Of every reference that is a sample of people; stated shares have no error, conditioned ones are none."""
    for block in settings.reference:
        if block.kind not in ("population", "dataset") or block.query_conditioned:
            continue
        for dataset in settings.dataset:
            catalogue = inputs.catalogues[dataset.name]
            compared = inputs.references.get(block.name, catalogue)
            groups = _group_count(compared.levels, settings.report.group_attributes)
            error = partial(_largest_error, groups)
            people = block.dataset if block.dataset is not None else dataset
            yield ReferencePrecision(
                reference=block.name,
                dataset=dataset.name,
                people=compared.size,
                groups=groups,
                error=error(compared.size),
                people_asked=reference_size(error, ASKED),
                is_weighted=people.weight is not None,
            )


def _group_count(levels: Mapping[str, Sequence[str]], most_attributes: int) -> int:
    """Groups that have names: levels, and intersections of so many attributes' levels."""
    return sum(
        prod(len(levels[name]) for name in names)
        for size in range(1, min(most_attributes, len(levels)) + 1)
        for names in combinations(levels, size)
    )


def _largest_error(groups: int, people: float) -> float:
    """Half of the widest interval of a share, that of one half, where all groups' hold together (Bonferroni)."""
    low, high = share_interval(0.5, people, 1.0 - (1.0 - CONFIDENCE) / groups)
    return (high - low) / 2
