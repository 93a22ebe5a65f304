"""Which queries and groups moved beyond chance: the exchange test, adjusted over queries.

Where other labels were given to the same items, exchanges of items say nothing: there groups' shares by the true labels
are compared, beyond the intervals of both and a chance exchange of items, and where these are not known nothing counts
as moved.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pandas as pd

from mprlib.statistics import benjamini_hochberg, exchange_test, group_p_values, moved_groups

from ..cases import QUESTION
from ..frames import grouped
from ..load import Run
from ..predicted import NONE_PREDICTED, Predicted
from .pairing import Pair, Question, pairs
from .true_labels import true_moves

# At most this many groups that follow from a found one are listed, the largest first.
LARGEST_FOLLOWERS = 10


def movement(
    old: Run, new: Run, level: float, changed: Predicted = NONE_PREDICTED
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Queries with their p-values, and the groups that moved in those that moved beyond chance.

    `level` bounds the expected share of false queries among those reported as moved (Benjamini and
    Hochberg), and within a moved query the chance of a false group, at level times the share of
    queries that moved (Benjamini and Bogomolov). changed: whose labels are another labeller's in the later run.

    Returns: queries (dataset, query, k, items_changed, p_value, p_adjusted, is_moved) and groups
             (dataset, query, k, group, change_share, p_value, is_found); a group that only follows
             from the found ones has is_found False and the p-value of its own test.
    """
    found = dict(pairs(old, new, changed.datasets))
    relabelled = {key: pair for key, pair in found.items() if key[0] in changed.datasets}
    moves = dict(grouped(true_moves(old, new, relabelled), QUESTION)) if relabelled else {}

    def p_value(key: Question, pair: Pair) -> float:
        if key[0] not in changed.datasets:
            return exchange_test(pair.left, pair.entered, pair.near, seed=_seed_of_question(key))
        # Of all groups together, by Bonferroni's bound.
        return min(1.0, len(moves[key]) * float(moves[key]["p_value"].min())) if key in moves else 1.0

    queries = pd.DataFrame(
        [(*key, pair.exchanged, p_value(key, pair)) for key, pair in found.items()],
        columns=[*QUESTION, "items_changed", "p_value"],
    )
    queries["p_adjusted"] = benjamini_hochberg(queries["p_value"])
    queries["is_moved"] = queries["p_adjusted"] <= level
    own_level = level * float(queries["is_moved"].mean()) if len(queries) else level
    rows = [
        (*key, *row)
        for key in queries.loc[queries["is_moved"], QUESTION].itertuples(index=False, name=None)
        for row in (_true_groups(moves[key], own_level) if key in moves else _found_groups(key, found[key], own_level))
    ]
    groups = pd.DataFrame(rows, columns=[*QUESTION, "group", "change_share", "p_value", "is_found"])
    return queries, groups


def _true_groups(moves: pd.DataFrame, level: float) -> list[tuple[str, float, float, bool]]:
    """The same by the true labels."""
    order = moves.sort_values("p_value", kind="stable")
    is_found = order["p_value"] * len(order) <= level
    kept = order.assign(is_found=is_found)[is_found | (order["p_value"] <= level)].head(LARGEST_FOLLOWERS)
    return list(kept[["group", "change_share", "p_value", "is_found"]].itertuples(index=False, name=None))


def _found_groups(key: Question, pair: Pair, level: float) -> list[tuple[str, float, float, bool]]:
    """Found groups in the order of their finding, then those that follow, largest change first."""
    k = key[2]
    changes = (pair.entered.sum(axis=0) - pair.left.sum(axis=0)) / k
    found = moved_groups(pair.left, pair.entered, pair.near, level=level, seed=_seed_of_question(key))
    rows = [(pair.names[one.column], float(changes[one.column]), one.p_value, True) for one in found]
    values = group_p_values(pair.left, pair.entered)
    others = [column for column in np.argsort(-np.abs(changes), kind="stable") if values[column] <= level]
    others = [column for column in others if column not in {one.column for one in found}][:LARGEST_FOLLOWERS]
    return rows + [(pair.names[at], float(changes[at]), float(values[at]), False) for at in others]


def _seed_of_question(key: Question) -> int:
    """Of the question itself, so that other queries in a run do not change its p-value."""
    return crc32(repr(key).encode())
