"""Apportionment: whole seats for every level of every attribute, then the most similar set with them.

The reference's share of each level, times k, is rounded to whole targets by Hamilton's rule
(largest remainders) or d'Hondt's (highest quotients), attribute by attribute. Among all sets of k
items the one is taken that misses the targets least, in seats over all attributes, and among those
the most similar. Both are integer programmes over cells, solved to optimality in this order.

Marginal by design: an intersection of levels has no target, so this shows what intersections add.

Worked example: shares (0.5, 0.3, 0.2) and k = 4 give quotas (2, 1.2, 0.8) and Hamilton's targets
(2, 1, 1); d'Hondt gives the seats to 0.5, 0.3, 0.25 = 0.5/2 and 0.2, hence (2, 1, 1) as well.

Source: Lang and Skowron 2018, "Multi-Attribute Proportional Representation".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from scipy.sparse import csr_array, hstack, identity, vstack

from mprlib.cells import cells_of
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, failed, selected
from mprlib.naming import cell_levels
from mprlib.optimisers.cell_pool import CellPool, cell_pool_of
from mprlib.problem import FloatArray, IntArray, Problem
from mprlib.selection import Selection, Status
from mprlib.settings import Choice

# Nodes of branch and bound: a count, so that reruns agree. Two attributes need none.
NODE_LIMIT = 20_000
# A level's quota this close to a whole number is that number, spoilt by the sum of its shares.
ROUNDING = 1e-9


def sweep(
    problem: Problem, oracle: Oracle, values: Sequence[None], rule: Annotated[str, Choice(tuple(RULES))] = "hamilton"
) -> list[Selection]:
    """The same k items for every value: there is no parameter.

    rule: "hamilton" or "dhondt". The message says by how many seats the targets are missed.
    """
    watch = Stopwatch()
    pool = cell_pool_of(problem, cells_of(problem))
    membership, targets = _targets(problem, rule)
    missed, is_missed_proven = _fewest_missed(pool, membership, targets)
    items, is_best_proven = _most_similar(pool, membership, targets, missed) if missed is not None else (None, False)
    seconds = watch.seconds() / len(values)
    if items is None:
        message = f"no set was found within {NODE_LIMIT} nodes of branch and bound"
        return [failed(method="apportionment", value=value, message=message, solve_seconds=seconds) for value in values]
    remarks = [f"targets are missed by {missed} seats over all attributes"] if missed else []
    if not (is_missed_proven and is_best_proven):
        remarks.append(f"stopped at {NODE_LIMIT} nodes of branch and bound: better sets may exist")
    return [
        selected(
            problem,
            oracle,
            items,
            method="apportionment",
            value=value,
            status=Status.DONE,
            solve_seconds=seconds,
            message="; ".join(remarks),
        )
        for value in values
    ]


def hamilton(shares: FloatArray, seats: int) -> IntArray:
    """Whole seats (levels,): quotas rounded down, the rest to the largest remainders, ties to the larger share."""
    quotas = seats * shares / shares.sum()
    given = np.floor(quotas + ROUNDING).astype(np.intp)
    remainders = quotas - given
    by_remainder = np.lexsort((np.arange(shares.size), -shares, -np.round(remainders, 9)))
    given[by_remainder[: seats - given.sum()]] += 1
    return given


def dhondt(shares: FloatArray, seats: int) -> IntArray:
    """Whole seats (levels,): one after another to the highest share / (seats + 1), ties to the larger share."""
    given = np.zeros(shares.size, dtype=np.intp)
    order = np.argsort(-shares, kind="stable")
    for _ in range(seats):
        quotients = shares[order] / (given[order] + 1)
        given[order[np.argmax(quotients)]] += 1
    return given


RULES = {"hamilton": hamilton, "dhondt": dhondt}


def _targets(problem: Problem, rule: str) -> tuple[csr_array, IntArray]:
    """Which cells a level holds (levels, G), levels of all attributes, and the seats (levels,) of each."""
    reference = cells_of(problem).reference_shares
    members, targets = [], []
    for levels in cell_levels(problem).values():
        size = len(levels.names)
        cells = np.arange(levels.codes.size)
        members.append(csr_array((np.ones(cells.size), (levels.codes, cells)), shape=(size, cells.size)))
        targets.append(RULES[rule](np.bincount(levels.codes, weights=reference, minlength=size), problem.k))
    return vstack(members, format="csr"), np.concatenate(targets)


def _fewest_missed(pool: CellPool, membership: csr_array, targets: IntArray) -> tuple[int | None, bool]:
    """Least sum over levels of |seats - target| that counts of the pool attain; whether it is proven."""
    costs = np.concatenate([np.zeros(pool.cell_count), np.ones(2 * targets.size)])
    rows = [_equal(_beside(np.ones((1, pool.cell_count)), targets.size), pool.k), _seats(membership, targets)]
    upper = np.concatenate([pool.capacity, np.full(2 * targets.size, np.inf)])
    result = _solve(costs, rows, upper, whole=pool.cell_count)
    return (None if result.x is None else int(np.rint(result.fun))), result.status == 0


def _most_similar(
    pool: CellPool, membership: csr_array, targets: IntArray, missed: int
) -> tuple[IntArray | None, bool]:
    """Positions (k,) of the most similar items that miss the targets by that much; whether it is proven."""
    size = pool.items.size
    by_item = membership[:, pool.cell]
    costs = np.concatenate([-pool.scores, np.zeros(2 * targets.size)])
    all_missed = np.concatenate([np.zeros(size), np.ones(2 * targets.size)])[None, :]
    rows = [
        _equal(_beside(np.ones((1, size)), targets.size), pool.k),
        _seats(by_item, targets),
        LinearConstraint(csr_array(all_missed), -np.inf, missed),
    ]
    upper = np.concatenate([np.ones(size), np.full(2 * targets.size, np.inf if missed else 0.0)])
    result = _solve(costs, rows, upper, whole=size)
    if result.x is None:
        return None, False
    # Within a cell the best items come first, also where the programme took equally good ones.
    counts = np.rint(np.bincount(pool.cell, weights=np.rint(result.x[:size]), minlength=pool.cell_count))
    return pool.chosen(counts.astype(np.intp)), result.status == 0


def _solve(costs: FloatArray, rows: list[LinearConstraint], upper: FloatArray, *, whole: int) -> OptimizeResult:
    """The first `whole` columns are whole numbers."""
    integrality = np.concatenate([np.ones(whole), np.zeros(costs.size - whole)])
    options = {"node_limit": NODE_LIMIT, "mip_rel_gap": 0.0}
    return milp(costs, constraints=rows, bounds=Bounds(0, upper), integrality=integrality, options=options)


def _seats(membership: csr_array, targets: IntArray) -> LinearConstraint:
    """seats + missing - surplus = target for every level; the two are the last columns."""
    identity_matrix = identity(targets.size, format="csr")
    return _equal(hstack([membership, identity_matrix, -identity_matrix], format="csr"), targets)


def _beside(row: np.ndarray, levels: int) -> csr_array:
    return csr_array(np.concatenate([row, np.zeros((1, 2 * levels))], axis=1))


def _equal(matrix: csr_array, value: IntArray | int) -> LinearConstraint:
    return LinearConstraint(matrix, value, value)
