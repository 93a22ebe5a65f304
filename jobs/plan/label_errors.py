"""How far the labels of each data set can be trusted: read, and fitted to the levels that pool and reference share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from mprlib import Confusion
from mprlib.label_errors.weakness import weak_confusion

from ..config.audit import Audit
from ..config.population import Reference
from ..datasets.block import Dataset
from ..datasets.catalogue import Catalogue
from ..datasets.confusions import confusion_of
from ..datasets.hand_labels import confusion_of as confusion_of_hand_labels
from ..datasets.hand_labels import unlabelled_levels
from ..errors import BadSetting, UsageError, about, said_of
from ..stages.hand_labels import HandLabels
from ..stages.label_errors import ConfusionTable, LabelErrors
from ..stages.probe import Probe
from ..words import examples
from .probe_units import OfPredictions

# Of a data set by its attributes; of all data sets by what they are in the audit, `dataset` or `reference`, and name.
Confusions = Mapping[str, Confusion]
AllConfusions = Mapping[tuple[str, str], Confusions]


@dataclass(frozen=True, kw_only=True, slots=True)
class Probes:
    """Units of probes by attribute, of the items and of the reference's people: those whose errors on held-out items
    are a confusion; and what is known of what they predict of the data sets."""

    held_out: Mapping[str, str]
    people_held_out: Mapping[str, str]
    items: OfPredictions
    people: OfPredictions


def read_confusions(
    settings: Audit, folder: Path, catalogues: Mapping[str, Catalogue], references: Mapping[str, Catalogue]
) -> AllConfusions:
    """The confusions of every data set, given ones and those that hand labels say.

    Raises:  BadSetting for one that cannot be used.
    """
    found = {}
    for side, block, key in _blocks(settings):
        own = dict(_by_hand(block, (catalogues if side[0] == "dataset" else references)[side[1]]))
        for name, attribute in block.attributes.items():
            with about(*key, "attributes", name, "confusion"):
                confusion = confusion_of(attribute, folder)
                if confusion is not None:
                    with said_of(attribute.confusion) if isinstance(attribute.confusion, str) else nullcontext():
                        _expect_no_exchange(confusion)
                    own[name] = confusion
            if attribute.probabilities is not None and side[0] == "reference":
                raise BadSetting(
                    "probabilities are those of items that are retrieved: give a confusion of the reference's people",
                    *key, "attributes", name, "probabilities",
                )  # fmt: skip
        found[side] = own
    return found


def _by_hand(block: Dataset, catalogue: Catalogue) -> Iterator[tuple[str, Confusion]]:
    """The confusions that hand labels say of columns; what a probe predicts is not known yet."""
    for name, labels in catalogue.hand_labels.items():
        if block.attributes[name].probe is None:
            levels, counts = catalogue.levels[name], catalogue.counts(name)
            yield name, confusion_of_hand_labels(labels, levels, counts, catalogue.missing)


def hand_labels_unit(catalogue: Catalogue) -> HandLabels | None:
    """The unit with the true levels of a data set's items; None where nobody has labelled any."""
    levels = {name: dict(zip(labels.ids, labels.true)) for name, labels in catalogue.hand_labels.items()}
    return HandLabels(title=f"hand labels of {catalogue.name}", levels=levels) if levels else None


def hand_label_notes(catalogue: Catalogue) -> Iterator[str]:
    """Sentences on levels that no hand label has."""
    for name, labels in catalogue.hand_labels.items():
        absent = unlabelled_levels(labels, catalogue.levels[name], catalogue.missing)
        if absent:
            yield (
                f"dataset {catalogue.name}: no item was labelled by hand as {examples(absent)} of {name!r}, so that "
                "how often labels of such items are wrong is not known: they are taken to be right"
            )


def confusion_notes(
    settings: Audit, confusions: AllConfusions, catalogues: Mapping[str, Catalogue], references: Mapping[str, Catalogue]
) -> Iterator[str]:
    """Sentences on confusions that say too little, or something that nobody may have meant."""
    for side, block, _ in _blocks(settings):
        catalogue = (catalogues if side[0] == "dataset" else references)[side[1]]
        for name, confusion in confusions.get(side, {}).items():
            said = [weak_confusion(name, confusion), _transposed(name, confusion)]
            # Hand labels have the levels of the items, and what a probe predicts is not known yet.
            if block.attributes[name].confusion is not None and block.attributes[name].probe is None:
                said.append(_without_items(name, confusion, catalogue.counts(name)))
            yield from (f"{side[0]} {side[1]}: {one}" for one in said if one)


def _expect_no_exchange(confusion: Confusion) -> None:
    """A headline must not change its sign over what is nearly always a table with its levels or its axes in another
    order.

    Raises:  UsageError for a confusion by which levels are exchanged.
    """
    exchanged = confusion.exchanged()
    if exchanged:
        raise UsageError(f"{exchanged}. If the labels are exchanged, name them as they are meant, with map")


def _transposed(name: str, confusion: Confusion) -> str:
    """What is said of a confusion by which a level is mostly taken for another one."""
    levels, likeliest = confusion.levels or (), confusion.shares.argmax(axis=1)
    for place, other in enumerate(likeliest.tolist()):
        row = confusion.shares[place]
        if levels and row[other] > row[place]:
            return (
                f"by the confusion of {name!r} most items that are {levels[place]!r} are labelled {levels[other]!r}: "
                "rows are true levels and columns predicted ones; are they exchanged?"
            )
    return ""


def _without_items(name: str, confusion: Confusion, counts: Mapping[str, int]) -> str:
    absent = [level for level in confusion.levels or () if not counts.get(level)]
    if not absent:
        return ""
    return (
        f"the confusion of {name!r} has {examples(absent)}, and no item has that label: is it spelt as the labels are?"
    )


def _blocks(settings: Audit) -> Iterator[tuple[tuple[str, str], Dataset, tuple[str | int, ...]]]:
    for place, block in enumerate(settings.dataset):
        yield ("dataset", block.name), block, settings.dataset_key(place)
    for place, reference in enumerate(settings.reference):
        if reference.dataset is not None:
            yield ("reference", reference.name), reference.dataset, ("reference", place, "dataset")


def probabilities_of(block: Dataset) -> dict[str, tuple[str, ...]]:
    """The levels of attributes whose items have columns of probabilities, in those columns' order."""
    return {
        name: tuple(attribute.probabilities)
        for name, attribute in block.attributes.items()
        if attribute.probabilities is not None
    }


def probes_of(
    block: Dataset, reference: Reference, fits: Mapping[str, Probe], items: OfPredictions, people: OfPredictions | None
) -> Probes:
    """What is known of the labels of probes. items, people: of the data set, and of the reference's own."""

    def held_out(own: Dataset) -> dict[str, str]:
        probes = {name: one.probe for name, one in own.attributes.items() if one.errors == "held_out"}
        return {name: fits[probe].key for name, probe in probes.items() if probe is not None}

    own = block if reference.dataset is None else reference.dataset
    is_stated = reference.kind in ("balanced", "shares")
    return Probes(
        held_out=held_out(block),
        people_held_out={} if is_stated else held_out(own),
        items=items,
        people=OfPredictions() if is_stated else items if people is None else people,
    )


def with_their_levels(
    levels: dict[str, list[str]], items: Confusions, people: Confusions, likely: Mapping[str, tuple[str, ...]]
) -> dict[str, list[str]]:
    """Levels with those that labels may truly be, though no item is predicted to be."""
    possible = {name: [*(items[name].levels or ())] for name in items}
    for name, confusion in people.items():
        possible.setdefault(name, []).extend(confusion.levels or ())
    for name, own in likely.items():
        possible.setdefault(name, []).extend(own)
    return {name: list(dict.fromkeys([*own, *possible.get(name, ())])) for name, own in levels.items()}


def label_errors(
    catalogue: Catalogue,
    levels: Mapping[str, tuple[str, ...]],
    confusions: tuple[Confusions, Confusions],
    by_hand: HandLabels | None,
    probabilities: Mapping[str, tuple[str, ...]],
    likely: tuple[str, ...],
    is_of_pool: bool,
    probes: Probes,
) -> LabelErrors:
    """What a unit keeps of the confusions of items and of the reference's people, of hand labels, and of columns with
    probabilities. likely: units that counted these over the data set that the reference's people are from; is_of_pool:
    these people are each pool's own.

    Raises:  UsageError for a level that some item has and the confusion lacks.
    """
    items, reference = confusions
    # Who has no label keeps having none; of levels that the data set lacks no item was labelled.
    right = {name: own if name in catalogue.hand_labels else (catalogue.missing,) for name, own in levels.items()}
    with said_of(f"dataset {catalogue.name}"):
        return LabelErrors(
            items={name: _table(name, one, levels[name], right.get(name, ())) for name, one in items.items()},
            reference={name: _table(name, one, levels[name], right.get(name, ())) for name, one in reference.items()},
            probes=probes.held_out,
            reference_probes=probes.people_held_out,
            by_hand=probes.items.by_hand,
            reference_by_hand=probes.people.by_hand,
            shifts=probes.items.shifts,
            reference_shifts=probes.people.shifts,
            hand_labels=None if by_hand is None else by_hand.key,
            probabilities=probabilities,
            likely=likely,
            is_of_pool=is_of_pool,
        )


def _table(name: str, confusion: Confusion, levels: tuple[str, ...], right: Collection[str]) -> ConfusionTable:
    """The confusion in the order of the levels. right: levels that may be lacking, of which all labels are right."""
    known = confusion.levels or ()
    absent = [level for level in levels if level not in known and level not in right]
    if absent:
        raise UsageError(
            f"the confusion of {name!r} has no row of the level {absent[0]!r}, which items or the reference have; it "
            f"has {', '.join(known)}"
        )
    return ConfusionTable.of(confusion.with_right_levels([level for level in levels if level not in known]), levels)


def confusions_of(reference: Reference, dataset: str, confusions: AllConfusions) -> tuple[Confusions, Confusions]:
    """The confusions of a data set and of the people of a reference; none of one that is stated."""
    items = confusions["dataset", dataset]
    if reference.kind in ("balanced", "shares"):
        return items, {}
    return items, items if reference.dataset is None else confusions["reference", reference.name]
