"""How far a data set's labels can be trusted, as a unit keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from mprlib import Confusion, LabelError
from mprlib.arrays import FloatArray, IntArray
from mprlib.probes import Probe

from ..store import Store
from .hand_confusion import read_hand_confusion
from .likely import expected_confusion, likely_confusions
from .prior_shift import shifted_confusion
from .probe import read_probe
from .unit import reads


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfusionTable:
    """A `mprlib.Confusion` as JSON values: shares by true and predicted level, and the labelled items of each true
    level, None where the shares are known exactly."""

    levels: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]
    sizes: tuple[float | None, ...]

    @classmethod
    def of(cls, confusion: Confusion, levels: tuple[str, ...]) -> Self:
        """The table of a confusion whose levels are these, in their order."""
        known = confusion.ordered(levels)
        return cls(
            levels=levels,
            shares=tuple(tuple(row) for row in known.shares.tolist()),
            sizes=tuple(size if np.isfinite(size) else None for size in known.sizes.tolist()),
        )

    def confusion(self) -> Confusion:
        """What the library takes."""
        sizes = np.array([np.inf if size is None else size for size in self.sizes])
        return Confusion(shares=np.array(self.shares), sizes=sizes, levels=self.levels)


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelErrors:
    """Confusions by attribute, of the items and of the reference's people.

    probes, reference_probes: units of probes by attribute, whose confusions on held-out items are those of the labels
    that they predict; by_hand, reference_by_hand: units of what hand labels say of a probe; shifts, reference_shifts:
    units of what a probe's probabilities say of the data set, of attributes by whose probabilities items are read.
    hand_labels: the unit with true levels of some items. probabilities: levels of the attributes whose items have
    columns of them, in the columns' order. likely: units that counted what they say of all items, and so of the labels
    of a reference's people from the same source; is_of_pool: these people are the pool's own items.
    """

    items: Mapping[str, ConfusionTable] = field(default_factory=dict)
    reference: Mapping[str, ConfusionTable] = field(default_factory=dict)
    probes: Mapping[str, str] = reads(default_factory=dict)
    reference_probes: Mapping[str, str] = reads(default_factory=dict)
    by_hand: Mapping[str, str] = reads(default_factory=dict)
    reference_by_hand: Mapping[str, str] = reads(default_factory=dict)
    shifts: Mapping[str, str] = reads(default_factory=dict)
    reference_shifts: Mapping[str, str] = reads(default_factory=dict)
    hand_labels: str | None = reads(default=None)
    probabilities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    likely: tuple[str, ...] = reads(default=())
    is_of_pool: bool = False

    def read(self, store: Store, levels: Mapping[str, Sequence[str]]) -> Self:
        """The same with confusions in the place of the units that know them, for attributes with these levels."""

        def tables(units: Mapping[str, str]) -> dict[str, ConfusionTable]:
            return {name: _of_probe(read_probe(store, key), tuple(levels[name])) for name, key in units.items()}

        def by_hand(units: Mapping[str, str]) -> dict[str, ConfusionTable]:
            return {name: _of_some(read_hand_confusion(store, key), tuple(levels[name])) for name, key in units.items()}

        likely = likely_confusions(store, self.likely, levels) if self.likely else {}
        items = {**self.items, **tables(self.probes), **by_hand(self.by_hand)}
        people = {**self.reference, **tables(self.reference_probes), **by_hand(self.reference_by_hand)}
        likely |= {name: shifted_confusion(store, key, levels[name]) for name, key in self.reference_shifts.items()}
        people |= {name: ConfusionTable.of(one, tuple(levels[name])) for name, one in likely.items()}
        return replace(
            self,
            items=items,
            reference=people,
            probes={},
            reference_probes={},
            likely=(),
            by_hand={},
            reference_by_hand={},
        )

    def label_error(
        self,
        known: Mapping[str, IntArray],
        likely: Mapping[str, FloatArray],
        predicted: Mapping[str, FloatArray],
        weights: FloatArray,
        of_people: Mapping[str, Confusion],
    ) -> LabelError | None:
        """What the library takes, once units are read; None where nothing is known to be wrong.

        known: true levels of items, where given. likely: probabilities (n, L) of items, where given. predicted: one-hot
        rows (n, L) of the items' labels by attribute. weights (n,): of the items as people of a reference. of_people:
        confusions by the probabilities of a reference's people who are a pool of their own.
        """
        assert not self.probes and not self.reference_probes and not self.likely
        if not self.items and not self.reference and not likely:
            return None
        items, people = (
            {name: table.confusion() for name, table in own.items()} for own in (self.items, self.reference)
        )
        if self.is_of_pool:
            people |= {
                name: expected_confusion((own.T * weights) @ predicted[name], own.T @ predicted[name])
                for name, own in likely.items()
            }
        people |= of_people
        return LabelError(items=items, reference=people, known=known, probabilities=likely)


def _of_probe(probe: Probe, levels: tuple[str, ...]) -> ConfusionTable:
    """Its errors on held-out items; levels that it never predicts, of items that are labelled elsewhere, are right."""
    return _of_some(Confusion.of_counts(probe.confusion, probe.levels), levels)


def _of_some(confusion: Confusion, levels: tuple[str, ...]) -> ConfusionTable:
    """The confusion of some of these levels, where labels of the others are right."""
    own = confusion.levels or ()
    return ConfusionTable.of(confusion.with_right_levels([one for one in levels if one not in own]), levels)
