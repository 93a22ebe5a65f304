"""Units that predict attributes: probes on labelled data sets, and labels, shard by shard, of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..config.audit import Audit
from ..datasets.block import Dataset
from ..datasets.catalogue import Catalogue
from ..stages.embed import Embed
from ..stages.hand_confusion import HandConfusion
from ..stages.labels import Labels
from ..stages.prior_shift import PriorShifts
from ..stages.probe import Probe
from .probes import learnt_attribute
from .search_units import Embedded, embed_units


@dataclass(frozen=True, kw_only=True, slots=True)
class OfPredictions:
    """Keys of the units of what is known of a data set's predicted labels, by attribute: of what a probe's
    probabilities say of it, and of how often its labels are wrong by hand labels."""

    shifts: Mapping[str, str] = field(default_factory=dict)
    by_hand: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Probing:
    """The units of all probes of an audit; labels and shifts grow as data sets ask for theirs.

    shards are the vectors of the labelled data sets; fits has a probe by name; shifts are what probabilities say of
    whole data sets, by_hand what hand labels say of probes.
    """

    settings: Audit
    shards: list[Embed]
    fits: Mapping[str, Probe]
    labels: dict[str, Labels] = field(default_factory=dict)
    shifts: dict[str, PriorShifts] = field(default_factory=dict)
    by_hand: dict[str, HandConfusion] = field(default_factory=dict)

    def predicted(self, block: Dataset, shards: Sequence[Embed]) -> dict[str, tuple[str, ...]]:
        """Keys of the labels units of a data set's predicted attributes, by attribute."""
        return {
            name: self.labels_of(attribute.probe, shards, is_calibrated=attribute.errors == "probabilities")
            for name, attribute in block.attributes.items()
            if attribute.probe is not None
        }

    def labels_of(self, probe: str, shards: Sequence[Embed], *, is_calibrated: bool = False) -> tuple[str, ...]:
        """Keys of the units that label a data set's shards by a probe, in the order of the shards. is_calibrated: with
        calibrated probabilities."""
        units = [self._labels_unit(probe, shard, is_calibrated) for shard in shards]
        self.labels.update({one.key: one for one in units})
        return tuple(one.key for one in units)

    def known_of(
        self, block: Dataset, source: Embedded, catalogue: Catalogue, predicted: Mapping[str, tuple[str, ...]]
    ) -> OfPredictions:
        """Units of what is known of a data set's predicted labels. catalogue: with the levels that probes give;
        predicted: what `predicted` gave of it."""
        shifts, by_hand = {}, {}
        for name, attribute in block.attributes.items():
            if attribute.probe is not None and attribute.errors == "probabilities":
                shifts[name] = self._shift(name, attribute.probe, source, predicted[name])
            elif attribute.probe is not None and attribute.hand_labels is not None:
                by_hand[name] = self._by_hand(name, catalogue, predicted[name])
        self.shifts.update({unit.key: unit for unit in shifts.values()})
        self.by_hand.update({unit.key: unit for unit in by_hand.values()})
        return OfPredictions(
            shifts={name: unit.key for name, unit in shifts.items()},
            by_hand={name: unit.key for name, unit in by_hand.items()},
        )

    def _shift(self, name: str, probe: str, source: Embedded, labels: tuple[str, ...]) -> PriorShifts:
        return PriorShifts(
            title=f"{name} of {source.catalogue.name} by {probe}",
            catalogue=source.unit.key,
            probe=self.fits[probe].key,
            labels=labels,
            items=source.catalogue.size,
        )

    def _by_hand(self, name: str, catalogue: Catalogue, labels: tuple[str, ...]) -> HandConfusion:
        given = catalogue.hand_labels[name]
        return HandConfusion(
            title=f"{name} of {catalogue.name} by hand",
            labels=labels,
            levels=catalogue.levels[name],
            missing=catalogue.missing,
            true=dict(zip(given.ids, given.true)),
            probabilities=dict(zip(given.ids, given.probabilities)),
        )

    def _labels_unit(self, probe: str, shard: Embed, is_calibrated: bool) -> Labels:
        fit = self.fits[probe]
        return Labels(
            title=f"{shard.title}: {probe}",
            probe=fit.key,
            vectors=shard.key,
            least_probability=self.settings.probes[probe].least_probability,
            missing=fit.missing,
            is_calibrated=is_calibrated,
        )


def probing(settings: Audit, labelled: Mapping[str, Embedded]) -> Probing:
    """The probes of an audit; labelled has each one's data set, by the probe's name."""
    shards: list[Embed] = []
    fits: dict[str, Probe] = {}
    for name, probe in settings.probes.items():
        catalogue, source = labelled[name].catalogue, labelled[name].unit
        vectors = embed_units(settings, labelled[name])
        shards += vectors
        fits[name] = Probe(
            title=f"{name} of {catalogue.name}",
            catalogue=source.key,
            vectors=tuple(shard.key for shard in vectors),
            attribute=learnt_attribute(name, probe),
            missing=catalogue.missing,
            held_out_share=probe.held_out_share,
            seed=settings.seed,
        )
    return Probing(settings=settings, shards=shards, fits=fits)


def probe_notes(settings: Audit, labelled: Mapping[str, Catalogue]) -> Iterator[str]:
    """What a reader must know of labels that nobody gave."""
    blocks = [*settings.dataset, *(reference.dataset for reference in settings.reference if reference.dataset)]
    for block in blocks:
        for name, attribute in block.attributes.items():
            if attribute.probe is not None:
                yield (
                    f"dataset {block.name}: attribute {name!r} is predicted by the probe {attribute.probe}, trained on "
                    f"{labelled[attribute.probe].name}; its errors on held-out items are in the report"
                )
