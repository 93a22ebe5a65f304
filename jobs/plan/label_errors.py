"""How far the labels of each data set can be trusted: read, and fitted to the levels that pool and reference share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from mprlib import Confusion

from ..config.audit import Audit
from ..config.population import Reference
from ..datasets.block import Dataset
from ..datasets.confusions import confusion_of
from ..errors import UsageError, about, said_of
from ..stages.label_errors import ConfusionTable, LabelErrors

# Of a data set by its attributes; of all data sets by what they are in the audit, `dataset` or `reference`, and name.
Confusions = Mapping[str, Confusion]
AllConfusions = Mapping[tuple[str, str], Confusions]


def read_confusions(settings: Audit, folder: Path) -> AllConfusions:
    """The confusions of every data set.

    Raises:  BadSetting for one that cannot be used.
    """
    found = {}
    for side, block, key in _blocks(settings):
        own = {}
        for name, attribute in block.attributes.items():
            with about(*key, "attributes", name, "confusion"):
                confusion = confusion_of(attribute, folder)
            if confusion is not None:
                own[name] = confusion
        found[side] = own
    return found


def _blocks(settings: Audit) -> Iterator[tuple[tuple[str, str], Dataset, tuple[str | int, ...]]]:
    for place, block in enumerate(settings.dataset):
        yield ("dataset", block.name), block, ("dataset", place)
    for place, reference in enumerate(settings.reference):
        if reference.dataset is not None:
            yield ("reference", reference.name), reference.dataset, ("reference", place, "dataset")


def with_their_levels(levels: dict[str, list[str]], *sides: Confusions) -> dict[str, list[str]]:
    """Levels with those that labels may truly be, though no item is predicted to be."""
    return {
        name: list(dict.fromkeys([*own, *(level for one in sides if name in one for level in one[name].levels or ())]))
        for name, own in levels.items()
    }


def label_errors(
    dataset: str, levels: Mapping[str, tuple[str, ...]], missing: str, items: Confusions, reference: Confusions
) -> LabelErrors:
    """What a unit keeps of the confusions of items and of the reference's people.

    Raises:  UsageError for a level that some item has and the confusion lacks.
    """
    with said_of(f"dataset {dataset}"):
        return LabelErrors(
            items={name: _table(name, one, levels[name], missing) for name, one in items.items()},
            reference={name: _table(name, one, levels[name], missing) for name, one in reference.items()},
        )


def _table(name: str, confusion: Confusion, levels: tuple[str, ...], missing: str) -> ConfusionTable:
    known = confusion.levels or ()
    absent = [level for level in levels if level not in known and level != missing]
    if absent:
        raise UsageError(
            f"the confusion of {name!r} has no row of the level {absent[0]!r}, which items or the reference have; it "
            f"has {', '.join(known)}"
        )
    # Who has no label keeps having none.
    added = [level for level in levels if level not in known]
    size = len(known) + len(added)
    shares = np.eye(size)
    shares[: len(known), : len(known)] = confusion.shares
    sizes = np.concatenate([confusion.sizes, np.full(len(added), np.inf)])
    return ConfusionTable.of(Confusion(shares=shares, sizes=sizes, levels=(*known, *added)), levels)


def confusions_of(reference: Reference, dataset: str, confusions: AllConfusions) -> tuple[Confusions, Confusions]:
    """The confusions of a data set and of the people of a reference; none of one that is stated."""
    items = confusions["dataset", dataset]
    if reference.kind in ("balanced", "shares"):
        return items, {}
    return items, items if reference.dataset is None else confusions["reference", reference.name]
