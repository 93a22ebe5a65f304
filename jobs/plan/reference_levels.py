"""The levels that a data set and a reference share, and what is wrong with stated shares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mprlib import InputError
from mprlib.encoding import Encoding
from mprlib.populations import target_shares
from mprlib.reference import STATED_SIZE
from mprlib.reference import Reference as Population

from ..config.population import Reference
from ..datasets.block import Dataset
from ..datasets.catalogue import Catalogue
from ..errors import BadSetting, UsageError
from .targets import Targets

# Combinations of levels of a stated reference: each is a row of every query's problem.
LARGEST_COMBINATIONS = 100_000


def shared_levels(
    catalogue: Catalogue,
    reference: Reference,
    people: Catalogue,
    block: Dataset | None = None,
    others: Sequence[Catalogue] = (),
    place: int = 0,
    targets: Targets | None = None,
) -> tuple[dict[str, list[str]], list[str]]:
    """Levels of both sides, the data set's order first, and a remark on each one-sided level.

    block: the data set's settings; others: the audit's other data sets; place: the reference's in the configuration;
    targets: of each query, where the reference has them.
    Raises:  UsageError for too many combinations of levels, and for shares of an attribute or level that nobody has,
             or that contradict each other.
    """
    stated: Mapping[str, Sequence[str]] = catalogue.levels
    if reference.shares is not None or targets is not None:
        levels = _known_levels(catalogue, block, others)
        _expect_few_combinations(reference, levels)
        if targets is not None:
            stated = _targeted_levels(catalogue, reference, levels, place, targets)
        else:
            stated = _stated_levels(catalogue, reference, levels, place)
        levels = {
            attribute: [level for level in known if level in catalogue.levels[attribute] or level in stated[attribute]]
            for attribute, known in levels.items()
        }
    elif reference.kind == "balanced":
        levels = {attribute: list(own) for attribute, own in catalogue.levels.items()}
        _expect_few_combinations(reference, levels)
    else:
        stated = people.levels
        levels = {
            attribute: [*own, *(level for level in stated[attribute] if level not in own)]
            for attribute, own in catalogue.levels.items()
        }
    return levels, list(_one_sided(catalogue, reference, levels, stated))


def _one_sided(
    catalogue: Catalogue,
    reference: Reference,
    levels: Mapping[str, Sequence[str]],
    stated: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    for attribute, known in levels.items():
        for level in known:
            sides = [level in catalogue.levels[attribute], level in stated[attribute]]
            if sum(sides) == 1:
                side = f"dataset {catalogue.name}" if sides[0] else f"reference {reference.name}"
                yield f"attribute {attribute!r}: the value {level!r} occurs in {side} only"


def _known_levels(catalogue: Catalogue, block: Dataset | None, others: Sequence[Catalogue]) -> dict[str, list[str]]:
    """Levels that shares may name: those that somebody has in a data set of the audit, and those that `order` names.

    So a group that the data set ought to have and lacks can be stated on purpose, and a slip of the pen is found.
    """
    known = {}
    for attribute, own in catalogue.levels.items():
        settings = None if block is None else block.attributes[attribute]
        elsewhere = (level for other in others for level in other.levels.get(attribute, ()))
        known[attribute] = list(dict.fromkeys([*own, *elsewhere, *(settings.order if settings else ())]))
    return known


def _expect_few_combinations(reference: Reference, levels: Mapping[str, Sequence[str]]) -> None:
    combinations = math.prod(len(names) for names in levels.values())
    if combinations > LARGEST_COMBINATIONS:
        raise UsageError(
            f"reference {reference.name}: the attributes have {combinations:,} combinations of levels, more than "
            f"{LARGEST_COMBINATIONS:,}: bin or drop attributes, or take kind population or dataset"
        )


def _stated_levels(
    catalogue: Catalogue, reference: Reference, levels: Mapping[str, Sequence[str]], place: int
) -> dict[str, list[str]]:
    """Levels that the shares give something to, by attribute.

    Raises:  BadSetting for shares that the library refuses, named by their key as closely as can be said.
    """
    encoding = Encoding(levels={name: tuple(names) for name, names in levels.items()})
    stated = reference.shares or {}
    for attributes, shares in stated.items():
        key = ("reference", place, "shares", attributes)
        for level in shares if attributes in levels else ():
            if level not in levels[attributes]:
                raise BadSetting(
                    f"reference {reference.name}: nobody in dataset {catalogue.name} has the {attributes} {level!r}; "
                    f"known are {', '.join(levels[attributes])}; name it in the attribute's `order` to state it all "
                    "the same",
                    *key,
                    level,
                )
        _target(reference, encoding, {attributes: shares}, *key)
    labels = _target(reference, encoding, stated, "reference", place, "shares").labels
    has_share = np.any(labels > 0, axis=0)
    return {
        attribute: [level for level, column in zip(levels[attribute], columns) if has_share[column]]
        for attribute, columns in encoding.attributes.items()
    }


def _targeted_levels(
    catalogue: Catalogue, reference: Reference, levels: Mapping[str, Sequence[str]], place: int, targets: Targets
) -> dict[str, list[str]]:
    """Levels that the targets of some query give something to, by attribute.

    Raises:  BadSetting naming the query of shares that the library refuses.
    """
    found: dict[str, dict[str, None]] = {attribute: {} for attribute in levels}
    for query, target in targets.items():
        own = reference.model_copy(update={"shares": target.shares})
        try:
            stated = _stated_levels(catalogue, own, levels, place)
        except BadSetting as error:
            raise BadSetting(
                f"{error.message}, in the target of query {query!r:.80}", "reference", place, "path"
            ) from None
        for attribute, names in stated.items():
            found[attribute].update(dict.fromkeys(names))
    return {attribute: list(names) for attribute, names in found.items()}


def _target(
    reference: Reference, encoding: Encoding, shares: Mapping[str, Mapping[str, float]], *key: str | int
) -> Population:
    try:
        return target_shares(encoding, shares, reference.size or STATED_SIZE)
    except InputError as error:
        raise BadSetting(f"reference {reference.name}: {error}", *key) from None
