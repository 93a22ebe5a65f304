"""Two top-k selections of one query, paired by their items: who left, who entered, and their groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from mprlib.level_names import joint_name, level_name

from ..cases import CASE, QUESTION, is_audited, top_k_rows
from ..load import Run

# Data set, query, k.
Question = tuple[str, str, int]
# An item and its labels: one whose labels changed counts as left and as entered.
Member = tuple[str, tuple[tuple[str, str], ...]]
# Attributes and levels that a group's members share. Names are for people: levels may hold what joins them.
Group = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Pair:
    """What differs between a query's selections. names are sorted, fewest attributes first. An item with another label
    than before left and entered, unless its labels are another labeller's. shown: items of the smaller selection.

    Shapes:  left (items, groups) and entered (items, groups), whether an item belongs to a group; near (items, groups),
             the same of the lower halves of both selections.
    """

    left: np.ndarray
    entered: np.ndarray
    near: np.ndarray
    names: list[str]
    shown: int

    @property
    def exchanged(self) -> int:
        """How many items entered."""
        return len(self.entered)

    def members(self) -> dict[str, int]:
        """How many of the items that left or entered belong to each group."""
        counts = self.left.sum(axis=0) + self.entered.sum(axis=0)
        return dict(zip(self.names, counts.tolist()))


def pairs(old: Run, new: Run, relabelled: Collection[str] = ()) -> Iterator[tuple[Question, Pair]]:
    """Each (dataset, query, k) that both runs retrieved items for; references share a selection. relabelled: data sets
    whose labels are another labeller's."""
    before, after = _selections(old), _selections(new)
    attributes = _group_attributes(old, new)
    for key in sorted(before.keys() & after.keys()):
        if before[key] and after[key]:
            yield key, _pair(before[key], after[key], attributes, is_by_id=key[0] in relabelled)


def shared_cases(old: Run, new: Run) -> pd.DataFrame:
    """The top-k rows of cases that both runs hold, columns with _old and _new, in the cases' order."""
    both = top_k_rows(old.results).merge(top_k_rows(new.results), on=CASE, suffixes=("_old", "_new"))
    return both.sort_values(CASE, kind="stable").reset_index(drop=True)


def groups_with(old: Run, new: Run, attributes: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Data sets and names of the groups of shown items that one of these attributes, of a data set each, is part of."""
    most = _group_attributes(old, new)
    seen = {
        (dataset, tuple((labels or {}).items()))
        for run in (old, new)
        for dataset, labels in zip(run.items.index.get_level_values("dataset"), run.items["labels"])
    }
    return {
        (dataset, _group_name(group))
        for dataset, labels in seen
        for group in _groups_of_item(labels, most)
        if any((dataset, attribute) in attributes for attribute, _ in group)
    }


def _selections(run: Run) -> dict[Question, list[Member]]:
    """The top-k items of every question, best first."""
    rows = run.results[is_audited(run.results)].drop_duplicates(CASE)
    rows = rows.drop_duplicates(QUESTION)
    labels = {key: tuple((value or {}).items()) for key, value in run.items["labels"].items()}
    return {
        (dataset, query, int(k)): [
            (name, labels.get((dataset, name), ())) for name in (run.chosen.ids[code] for code in run.chosen.row(place))
        ]
        for place, dataset, query, k in rows[QUESTION].itertuples(name=None)
    }


def _group_attributes(old: Run, new: Run) -> int:
    """Attributes that a named group intersects, at most."""
    return int(max([1, *(run.groups["attributes"].max() for run in (old, new) if not run.groups.empty)]))


def _pair(before: list[Member], after: list[Member], attributes: int, *, is_by_id: bool) -> Pair:
    left, entered = _not_in(after, before, is_by_id=is_by_id), _not_in(before, after, is_by_id=is_by_id)
    near = [*before[len(before) // 2 :], *after[len(after) // 2 :]]
    left_groups, entered_groups, near_groups = (
        [set(_groups_of_item(labels, attributes)) for _, labels in side] for side in (left, entered, near)
    )
    every = sorted(
        {group for own in (*left_groups, *entered_groups) for group in own},
        key=lambda one: (len(one), _group_name(one)),
    )
    matrices = [
        np.array([[group in own for group in every] for own in side], dtype=bool).reshape(len(side), len(every))
        for side in (left_groups, entered_groups, near_groups)
    ]
    return Pair(
        left=matrices[0],
        entered=matrices[1],
        near=matrices[2],
        names=[_group_name(group) for group in every],
        shown=min(len(before), len(after)),
    )


def _not_in(other: list[Member], members: list[Member], *, is_by_id: bool) -> list[Member]:
    """The members that the other selection does not hold, sorted."""
    if not is_by_id:
        return sorted(set(members) - set(other))
    held = {item for item, _ in other}
    return sorted(member for member in members if member[0] not in held)


def _groups_of_item(labels: tuple[tuple[str, str], ...], attributes: int) -> Iterator[Group]:
    """Every group that an item belongs to."""
    for size in range(1, attributes + 1):
        yield from combinations(labels, size)


def _group_name(group: Group) -> str:
    """As the groups table names it."""
    return joint_name(level_name(attribute, level) for attribute, level in group)
