"""The levels that a data set and a reference speak of together, and what is wrong with stated shares."""

from __future__ import annotations

import math

from jobs.config.audit import Reference
from jobs.datasets import Catalogue
from jobs.errors import UsageError
from mprlib import InputError
from mprlib.encoding import Encoding
from mprlib.reference import target_shares

# Combinations of levels of a stated reference: each is a row of every query's problem.
LARGEST_COMBINATIONS = 100_000


def shared_levels(
    catalogue: Catalogue, reference: Reference, people: Catalogue
) -> tuple[dict[str, list[str]], list[str]]:
    """Levels of both sides, the data set's order first, and a remark on each one-sided level.

    Raises:  UsageError for shares of an attribute that the data set lacks, or that contradict
             each other.
    """
    stated = _stated_levels(catalogue, reference)
    levels, notes = {}, []
    for attribute, own in catalogue.levels.items():
        others = stated.get(attribute, own) if reference.shares is not None else people.levels[attribute]
        levels[attribute] = [*own, *(level for level in others if level not in own)]
        for level in levels[attribute]:
            if (level in own) != (level in others):
                side = f"dataset {catalogue.name}" if level in own else f"reference {reference.name}"
                notes.append(f"attribute {attribute!r}: the value {level!r} occurs in {side} only")
    if reference.kind in ("shares", "balanced"):
        _check_shares(reference, levels)
    return levels, notes


def _check_shares(reference: Reference, levels: dict[str, list[str]]) -> None:
    """Shares that contradict each other are found before anything is computed, as are too many groups."""
    combinations = math.prod(len(names) for names in levels.values())
    if combinations > LARGEST_COMBINATIONS:
        raise UsageError(
            f"reference {reference.name}: the attributes have {combinations:,} combinations of levels, more than "
            f"{LARGEST_COMBINATIONS:,}: bin or drop attributes, or take kind population or dataset"
        )
    if reference.shares is None:
        return
    try:
        encoding = Encoding(levels={name: tuple(names) for name, names in levels.items()})
        target_shares(encoding, reference.shares, reference.size)
    except InputError as error:
        raise UsageError(f"reference {reference.name}: {error}") from None


def _stated_levels(catalogue: Catalogue, reference: Reference) -> dict[str, list[str]]:
    """Levels that a reference's shares name, by attribute; joint shares name one of each."""
    found: dict[str, list[str]] = {}
    for attributes, shares in (reference.shares or {}).items():
        names = [name.strip() for name in attributes.split("&")]
        for name in names:
            if name not in catalogue.levels:
                raise UsageError(
                    f"reference {reference.name}: shares names the attribute {name!r}; "
                    f"dataset {catalogue.name} has {', '.join(catalogue.levels)}"
                )
        for group in shares:
            parts = [part.strip() for part in group.split("&")] if len(names) > 1 else [group]
            # A level that holds "&" itself cannot be told apart here; the shares' own check says so.
            for name, level in zip(names, parts) if len(parts) == len(names) else ():
                if level not in found.setdefault(name, []):
                    found[name].append(level)
    return found
