"""Attributes that a probe predicts: the labelled data sets, and the levels that items may get from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mprlib.probes import FEWEST_ROWS

from .. import datasets
from ..config.audit import Audit
from ..config.probes import Probe
from ..datasets.block import Dataset
from ..datasets.catalogue import Catalogue
from ..datasets.hand_labels import labelled as with_hand_labels
from ..errors import UsageError, about, said_of
from ..words import numbered


def read_labelled(settings: Audit, folder: Path, embedding_column: str | None) -> dict[str, Catalogue]:
    """The labelled data set of every probe, by the probe's name.

    Raises:  UsageError for a data set that cannot be read, lacks the attribute, or has too few items of a level.
    """
    found = {}
    for name, probe in settings.probes.items():
        with about("probes", name):
            found[name] = datasets.load(probe.dataset, folder, embedding_column)
            _expect_enough(found[name], learnt_attribute(name, probe))
    return found


def _expect_enough(catalogue: Catalogue, learnt: str) -> None:
    if learnt not in catalogue.levels:
        raise UsageError(f"dataset {catalogue.name} has no attribute {learnt!r}; it has {', '.join(catalogue.levels)}")
    known = {level: count for level, count in catalogue.counts(learnt).items() if level != catalogue.missing}
    if len(known) < 2:
        raise UsageError(f"dataset {catalogue.name} has one level of {learnt}: a probe needs two to tell apart")
    rare = min(known, key=known.__getitem__)
    if known[rare] < FEWEST_ROWS:
        raise UsageError(
            f"dataset {catalogue.name} has {numbered(known[rare], 'item')} of {learnt} {rare!r}, too few to train on "
            f"and hold out: at least {FEWEST_ROWS} are expected, merge levels with map or bins"
        )


def learnt_attribute(name: str, probe: Probe) -> str:
    """The attribute of its data set that a probe learns."""
    return probe.attribute or name


def predicted_levels(name: str, probe: Probe, labelled: Catalogue) -> tuple[str, ...]:
    """The levels that the probe may give to an item, in the labelled data set's order."""
    known = tuple(level for level in labelled.levels[learnt_attribute(name, probe)] if level != labelled.missing)
    return (*known, labelled.missing) if probe.least_probability else known


def with_levels(block: Dataset, catalogue: Catalogue, settings: Audit, labelled: Mapping[str, Catalogue]) -> Catalogue:
    """The catalogue with the levels of its predicted attributes, in the configuration's order, and their hand labels.

    Which item has which level is known once its vector is, and is in no catalogue.
    Raises:  UsageError for a hand label of an item or a level that there is not.
    """
    levels = {
        name: catalogue.levels[name]
        if attribute.probe is None
        else predicted_levels(attribute.probe, settings.probes[attribute.probe], labelled[attribute.probe])
        for name, attribute in block.attributes.items()
    }
    by_hand = {}
    with said_of(f"dataset {block.name}"):
        for name, given in catalogue.hand_labels_of_probes.items():
            known = [level for level in levels[name] if level != catalogue.missing]
            by_hand[name] = with_hand_labels(given, dict.fromkeys(catalogue.looked_up[name]), known)
    return replace(catalogue, levels=levels, hand_labels={**catalogue.hand_labels, **by_hand}, hand_labels_of_probes={})
