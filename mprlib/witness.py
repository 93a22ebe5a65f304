"""The witness of a measured gap in names: groups of discrete labels, items of continuous ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells, selection_weights
from mprlib.function_classes.base import Oracle, WorstCase
from mprlib.function_classes.groups import GroupsOracle
from mprlib.naming import MOST_SINGLE_VALUES, cell_names
from mprlib.problem import Problem

# A witness is read by a person and stored on every result row.
LARGEST_WITNESS = 10
# Items named on each side of a continuous labelling: enough to look at side by side.
EXTREME_ITEMS = 5
# Below this a gap is the rounding of sums of n terms in double precision.
ROUNDING = 1e-12
# A named group below this share of the reference is left out of the sentence, though not of the
# groups: with few people behind it, its share says little.
SMALLEST_HEADLINE_SHARE = 0.01

NO_GAP = "No function of the class tells the selection from the reference."


class Group(NamedTuple):
    """One group's shares, as fractions of 1, and its part of the measured gap.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> group = mprlib.measure(problem, [0, 1], "groups").witness.groups[0]
    >>> group.name, group.share_selected, group.share_reference, group.gap
    ('women', 1.0, 0.5, 0.5)
    """

    name: str
    share_selected: float
    share_reference: float
    contribution: float

    @property
    def gap(self) -> float:
        """Share selected minus share in the reference."""
        return self.share_selected - self.share_reference


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """The groups that attain a measured gap, largest contribution first, and one sentence on it.

    groups are cells of the labels, and the contributions of all cells sum to the value; `groups`
    holds the largest. The class `groups` lists its own groups, which overlap: each contributes its
    own gap. With continuous labels they are single items, and items_above and items_below hold ids
    of the retrieved items where the witness function is highest and of other items where it is
    lowest; both are empty otherwise.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> witness = mprlib.measure(problem, [0, 1], "groups").witness
    >>> print(witness)
    women: 100% retrieved, 50% in the reference
    >>> [group.name for group in witness.groups]
    ['women', 'men']
    """

    groups: tuple[Group, ...]
    sentence: str
    items_above: tuple[str, ...] = ()
    items_below: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence


def witness(problem: Problem, oracle: Oracle, worst: WorstCase, items: IntArray) -> Witness:
    """The groups, cells or items that contribute most to a selection's worst case."""
    return witnesses(problem, oracle, [worst], [items])[0]


def witnesses(
    problem: Problem, oracle: Oracle, worst: Sequence[WorstCase], selections: Sequence[IntArray]
) -> list[Witness]:
    """The witness of each of several selections."""
    if isinstance(oracle, GroupsOracle):
        return _named_groups(problem, oracle, worst, selections)
    if is_continuous(oracle.cells, problem):
        weights = (selection_weights(problem, items) for items in selections)
        return [_extreme_items(problem, oracle.cells, *one) for one in zip(worst, weights)]
    return _cell_witnesses(problem, oracle.cells, worst, selections)


def is_continuous(cells: Cells, problem: Problem) -> bool:
    """Whether some label column holds numbers, not levels: most of its values occur once."""
    rows = problem.n + problem.population.table.rows
    # Fewer cells than that, and no column can have so many values.
    if cells.size <= max(MOST_SINGLE_VALUES, rows / 2):
        return False
    return any(np.unique(column).size > max(MOST_SINGLE_VALUES, rows / 2) for column in cells.labels.T)


def _cell_witnesses(
    problem: Problem, cells: Cells, worst: Sequence[WorstCase], selections: Sequence[IntArray]
) -> list[Witness]:
    shares = cells.shares_of_each(selections, problem.place_weights)
    contributions = (shares - cells.reference_shares) * np.array([one.function for one in worst])
    largest = _largest(contributions)
    names = cell_names(problem, largest.ravel())
    groups = _groups(names, largest, shares, cells.reference_shares, contributions)
    return [Witness(groups=own, sentence=_sentence(one.value, own)) for one, own in zip(worst, groups)]


def _named_groups(
    problem: Problem, oracle: GroupsOracle, worst: Sequence[WorstCase], selections: Sequence[IntArray]
) -> list[Witness]:
    """Groups overlap: each contributes its own gap, and the first one's is the value."""
    selected, reference = oracle.shares_of_each(problem, selections)
    contributions = np.abs(selected - reference) * (2 if oracle.signed else 1)
    largest = _largest(contributions)
    names = [oracle.names[group] for group in largest.ravel().tolist()]
    found = []
    for one, groups in zip(worst, _groups(names, largest, selected, reference, contributions)):
        common = [group for group in groups if group.share_reference >= SMALLEST_HEADLINE_SHARE]
        found.append(Witness(groups=groups, sentence=_sentence(one.value, common or groups, most=1)))
    return found


def _largest(contributions: FloatArray) -> IntArray:
    """Places (B, up to 10) of the largest of each row."""
    order: IntArray = np.argsort(-contributions, axis=1, kind="stable")[:, :LARGEST_WITNESS]
    return order


def _extreme_items(problem: Problem, cells: Cells, worst: WorstCase, weights: FloatArray) -> Witness:
    """Selected items in which the witness function is highest, and items of the pool where it is lowest."""
    values = worst.function[cells.pool_cell]
    chosen = problem.ranked(np.flatnonzero(weights > 0))
    contributions = weights[chosen] * values[chosen]
    largest = np.argsort(-contributions, kind="stable")[:LARGEST_WITNESS]
    names = [f"item {item}" for item in _ids(problem, chosen[largest])]
    [groups] = _groups(names, largest[None], weights[chosen][None], np.zeros(chosen.size), contributions[None])
    others = problem.best_first[weights[problem.best_first] == 0]
    above = _ids(problem, chosen[np.argsort(-values[chosen], kind="stable")[:EXTREME_ITEMS]])
    below = _ids(problem, others[np.argsort(values[others], kind="stable")[:EXTREME_ITEMS]])
    if worst.value <= ROUNDING:
        return Witness(groups=groups, sentence=NO_GAP)
    sentence = f"Retrieved are items like {', '.join(above)}"
    if below:
        sentence += f"; the reference is more like {', '.join(below)}, not retrieved"
    return Witness(groups=groups, sentence=sentence, items_above=above, items_below=below)


def _groups(
    names: Sequence[str], places: IntArray, selected: FloatArray, reference: FloatArray, contributions: FloatArray
) -> list[tuple[Group, ...]]:
    """The groups at some places (B, w) of each row, by their names (B w,); selected and contributions (B, G)."""
    numbers = (np.take_along_axis(selected, places, 1), reference[places], np.take_along_axis(contributions, places, 1))
    groups, width = list(map(Group, names, *(one.ravel().tolist() for one in numbers))), places.shape[1]
    return [tuple(groups[start : start + width]) for start in range(0, len(groups), width)]


def _sentence(value: float, groups: tuple[Group, ...] | list[Group], most: int = 3) -> str:
    if value <= ROUNDING:
        return NO_GAP
    return "; ".join(
        f"{group.name}: {_percent(group.share_selected)} retrieved, {_percent(group.share_reference)} in the reference"
        for group in groups[:most]
        if group.contribution > 0
    )


def _percent(share: float) -> str:
    """A percentage with a decimal where a whole number would read 0% or hide the difference."""
    return f"{share:.0%}" if share == 0 or share >= 0.1 else f"{share:.1%}"


def _ids(problem: Problem, items: IntArray) -> tuple[str, ...]:
    """Item ids, or positions where the problem has no ids."""
    return tuple(str(item if problem.item_ids is None else problem.item_ids[item]) for item in items)
