"""Whether two runs' predicted labels are one labeller's, and whether the same is known of how often it is wrong.

A probe that was trained anew, or another classifier behind a column, labels the same people otherwise, and shares of
predicted groups change though the engine shows whom it showed. What one run alone cannot tell of a column is seen in
items that both hold: few of its labels should have changed. A probe that both runs describe in the same words is one
labeller, whatever new vectors make of an item.

Where hand labels were added, or a confusion revised, the labels are the same, and so are shares of predicted groups:
only values by the true labels are others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import scipy

from ...words import numbered, shortened
from ..load import Run
from ..predicted import NONE_PREDICTED, Predicted, Side, attributes_of, of_sides, predicted_attributes
from ..wording import percent
from .limits import LEVEL

# Characters of a setting in a sentence.
LONGEST_SETTING = 80
# Settings of an attribute that say who labelled it, and what is known of errors.
LABELLED_BY, KNOWN_BY = ("column", "probe"), ("confusion", "errors", "probabilities", "hand_labels")
# Those that name files, whose content the manifest has.
OF_FILES = ("confusion", "hand_labels")
# A column is another labeller's where this part of the items that both runs hold, or more, has another label. Pictures
# that were replaced under their ids, and labels that were mended, are fewer, and count as items that left and entered;
# they move no group's share by more than this, which is below the rise that is a regression.
RELABELLED = 0.03

# A side and the name of one of its attributes; how its labels differ between an old and a new run, empty where they do
# not.
Attribute = tuple[Side, str]
Reason = Callable[[Attribute, Run, Run], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Labellers:
    """predicted: whose labels are predicted in either run; changed: of these, whose labels are another labeller's in
    the later run; unlike: those, and others of whose errors another thing is known; said: a clause for each attribute
    of either; attributes: data sets and names of the attributes of items that are predicted; of_items: references whose
    people have the items' labels."""

    predicted: Predicted = NONE_PREDICTED
    changed: Predicted = NONE_PREDICTED
    unlike: Predicted = NONE_PREDICTED
    said: tuple[str, ...] = ()
    attributes: frozenset[tuple[str, str]] = frozenset()
    of_items: tuple[str, ...] = ()

    def marks_references(self, rows: pd.DataFrame, sides: Predicted) -> pd.Series:
        """Whether the labels of each row's reference are those of some sides."""
        of_items = rows["dataset"].isin(sides.datasets) & rows["reference"].isin(self.of_items)
        return rows["reference"].isin(sides.references) | of_items


SAME = Labellers()


def labellers(old: Run, new: Run) -> Labellers:
    """What two runs know of their labels."""
    labelled = labelled_attributes(old, new)
    changed = {
        key: why
        for key in labelled
        if (why := _first_difference((_other_labeller, _other_probe, _relabelled_items), key, old, new))
    }
    known = {key: _first_difference((_other_knowledge, _other_confusion), key, old, new) for key in labelled}
    unlike = {key: why for key, other in known.items() if (why := changed.get(key) or other)}
    return Labellers(
        predicted=of_sides(side for side, _ in labelled),
        changed=of_sides(side for side, _ in changed),
        unlike=of_sides(side for side, _ in unlike),
        said=tuple(f"{' '.join(side)}: labels of {name!r}: {why}" for (side, name), why in unlike.items()),
        attributes=frozenset((name, attribute) for (role, name), attribute in labelled if role == "dataset"),
        of_items=tuple(_of_items(new.manifest)),
    )


def labelled_attributes(old: Run, new: Run) -> dict[tuple[Side, str], None]:
    """Sides and names of the attributes whose labels are predicted in either run."""
    return dict.fromkeys(key for run in (old, new) for key in predicted_attributes(run.manifest))


def without_labellers(settings: Mapping[str, Any], labelled: Collection[tuple[Side, str]]) -> dict[str, Any]:
    """Settings without those of some attributes that say who labelled them, and how often that is wrong."""

    def of_block(side: Side, block: Mapping[str, Any]) -> dict[str, Any]:
        attributes = {
            name: {key: value for key, value in one.items() if key not in LABELLED_BY + KNOWN_BY}
            if (side, name) in labelled
            else one
            for name, one in (block.get("attributes") or {}).items()
        }
        return {**block, "attributes": attributes}

    references = [
        {**one, "dataset": of_block(("reference", str(one.get("name"))), one["dataset"])} if one.get("dataset") else one
        for one in settings.get("reference") or ()
    ]
    datasets = [of_block(("dataset", str(one.get("name"))), one) for one in settings.get("dataset") or ()]
    return {**settings, "dataset": datasets, "reference": references}


def _of_items(manifest: Mapping[str, Any]) -> Iterator[str]:
    """References that are neither stated nor have a data set of their own."""
    for one in (manifest.get("settings") or {}).get("reference") or ():
        if not one.get("dataset") and one.get("kind") not in ("balanced", "shares"):
            yield str(one.get("name"))


def _first_difference(reasons: Sequence[Reason], key: Attribute, old: Run, new: Run) -> str:
    """The first reason by which an attribute's labels differ between two runs; empty where there is none."""
    return next((why for reason in reasons if (why := reason(key, old, new))), "")


def _other_labeller(key: Attribute, old: Run, new: Run) -> str:
    return _other_settings(LABELLED_BY, key, old, new)


def _other_knowledge(key: Attribute, old: Run, new: Run) -> str:
    left_out = OF_FILES if _are_stated(old, new) else ()
    return _other_settings([name for name in KNOWN_BY if name not in left_out], key, old, new)


def _other_settings(names: Collection[str], key: Attribute, old: Run, new: Run) -> str:
    before, after = (attributes_of(run.manifest).get(key, {}) for run in (old, new))
    both = ((name, before.get(name), after.get(name)) for name in names)
    return next(
        (
            f"{name} differs ({setting_text(one)} and {setting_text(other)})"
            for name, one, other in both
            if one != other
        ),
        "",
    )


def _other_confusion(key: Attribute, old: Run, new: Run) -> str:
    if not _are_stated(old, new) or _stated_confusion(key, old.manifest) == _stated_confusion(key, new.manifest):
        return ""
    return "what is known of their errors differs (another confusion, or other hand labels)"


def _are_stated(old: Run, new: Run) -> bool:
    """Whether both manifests have the content of files of confusions and of hand labels."""
    return all("label_errors" in run.manifest for run in (old, new))


def _stated_confusion(key: Attribute, manifest: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The confusion that a manifest has of an attribute."""
    (role, name), attribute = key
    named = {"role": role, "name": name, "attribute": attribute}
    return next((one for one in manifest.get("label_errors") or () if named.items() <= one.items()), None)


def _other_probe(key: Attribute, old: Run, new: Run) -> str:
    before, after = _probes_in_manifests(key, old, new)
    # A later version may say more of a probe.
    if before is None or after is None or all(before[name] == after[name] for name in before.keys() & after.keys()):
        return ""
    return (
        f"the probe {after['probe']} was trained anew ({percent(before.get('accuracy'))} of held-out items right in "
        f"OLD, {percent(after.get('accuracy'))} in NEW)"
    )


def _probes_in_manifests(key: Attribute, old: Run, new: Run) -> list[Mapping[str, Any] | None]:
    """What both manifests say of an attribute's probe; None where a run says nothing."""
    probe = predicted_attributes(new.manifest).get(key, {}).get("probe")
    return [
        next((one for one in run.manifest.get("probes") or () if one.get("probe") == probe), None) for run in (old, new)
    ]


def _relabelled_items(key: Attribute, old: Run, new: Run) -> str:
    """Items of both runs whose label changed, as far as some selection holds them; of a probe only where a run does not
    say which it was."""
    (role, name), attribute = key
    if role != "dataset" or None not in _probes_in_manifests(key, old, new):
        return ""
    before, after = (dict(_labels_of(run, name, attribute)) for run in (old, new))
    common = before.keys() & after.keys()
    changed = sum(before[item] != after[item] for item in common)
    # Of few items some change by chance.
    if not changed or scipy.stats.binom.sf(changed - 1, len(common), RELABELLED) > LEVEL:
        return ""
    has = "has" if changed == 1 else "have"
    return f"{changed:,} of the {numbered(len(common), 'item')} that both runs show {has} another one in NEW"


def _labels_of(run: Run, dataset: str, attribute: str) -> Iterator[tuple[str, str | None]]:
    own = run.items[run.items.index.get_level_values("dataset") == dataset]
    for item, labels in zip(own.index.get_level_values("item_id"), own["labels"]):
        yield str(item), (labels or {}).get(attribute)


def setting_text(value: Any) -> str:
    """A setting's value in a sentence."""
    return "none" if value is None else shortened(value, LONGEST_SETTING)
