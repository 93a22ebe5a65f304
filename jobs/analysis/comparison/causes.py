"""How much of a group's move is due to items that came and went, to new scores of those that stayed, and to new labels.

A query's selection follows from which items there are, from their scores and from their labels. Of what an engine
showed, its order stands for the scores. Each of the three is taken from the old run or from the new one; a cause's part
of a move is what replacing it changes, averaged over the orders in which the three can be replaced (their Shapley
values), so that the parts sum to the move.

Items are the same where their ids are. An item that was there and below the pool is taken for one that no replacement
brings into the top k, and one whose new label is not known keeps its old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np

from mprlib.level_names import joint_name, level_name

CAUSES = ("items", "scores", "labels")
# An attribute and its level, for each attribute.
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Pooled:
    """A query's pool in one run. is_common: whether the other run's data set has the item.

    Shapes:  ids, labels (n,); scores and is_common (n,).
    """

    ids: Sequence[str]
    scores: np.ndarray
    labels: Sequence[Labels]
    is_common: np.ndarray


def parts_of_moves(old: Pooled, new: Pooled, k: int, groups: Sequence[str]) -> dict[str, dict[str, float]]:
    """The part of each cause in the change of each group's share, by group and cause."""
    labels = (dict(zip(old.ids, old.labels)), dict(zip(new.ids, new.labels)))
    shares: dict[tuple[int, ...], np.ndarray] = {}
    for items, scores in product((0, 1), repeat=2):
        chosen = _best_k(old, new, items, scores, k)
        for named in (0, 1):
            own = [labels[named].get(item) or labels[1 - named][item] for item in chosen]
            shares[items, scores, named] = _shares_of_groups(own, groups)
    parts = np.mean([_replaced_in(order, shares) for order in permutations(range(len(CAUSES)))], axis=0)
    return {group: dict(zip(CAUSES, parts[:, column].tolist())) for column, group in enumerate(groups)}


def _replaced_in(order: Sequence[int], shares: Mapping[tuple[int, ...], np.ndarray]) -> np.ndarray:
    """What each cause (causes, groups) changes when they are replaced in this order."""
    changes = np.zeros((len(CAUSES), len(shares[0, 0, 0])))
    state = [0] * len(CAUSES)
    for cause in order:
        before = shares[tuple(state)]
        state[cause] = 1
        changes[cause] = shares[tuple(state)] - before
    return changes


def _best_k(old: Pooled, new: Pooled, items: int, scores: int, k: int) -> list[str]:
    """The k best of the items of one run by the scores of one: items that only one run has, have its scores."""
    there, scored = (old, new)[items], (old, new)[scores]
    known = dict(zip(scored.ids, scored.scores.tolist()))
    if there is not scored:
        known = {item: known[item] for item, is_common in zip(scored.ids, scored.is_common) if is_common}
        known |= {
            item: score for item, score, is_common in zip(there.ids, there.scores, there.is_common) if not is_common
        }
    return sorted(known, key=lambda item: (-known[item], item))[:k]


def _shares_of_groups(chosen: Sequence[Labels], groups: Sequence[str]) -> np.ndarray:
    """Share (groups,) of the chosen items that belong to each group."""
    place = {group: column for column, group in enumerate(groups)}
    counts = np.zeros(len(groups))
    most = max((group.count(" & ") + 1 for group in groups), default=1)
    for labels in chosen:
        for size in range(1, min(most, len(labels)) + 1):
            for some in combinations(labels, size):
                column = place.get(joint_name(level_name(attribute, level) for attribute, level in some))
                if column is not None:
                    counts[column] += 1
    return counts / max(len(chosen), 1)
