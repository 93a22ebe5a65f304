"""Rows of `mopr` whose items are returned in a fair order.

The items of a row are ordered (`mprlib.optimisers.order`). Where no order of them keeps every prefix within its rho,
another set is looked for, items and order together. The row's status and bounds stay those of its set; what does not
hold of its prefixes is said in its message.
"""

from __future__ import annotations

from dataclasses import replace

from mprlib.attention import FIRST
from mprlib.function_classes.base import Oracle
from mprlib.method import Proof, selected
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.order import KEPT, FairOrder, ordered
from mprlib.problem import Problem
from mprlib.selection import Selection, Status
from mprlib.spelling import numbered


def in_fair_order(problem: Problem, oracle: Oracle, pool: CellPool, row: Selection) -> Selection:
    """The row with items in order; of a row that does not meet rho, in the order nearest to its limits."""
    assert row.rho is not None and row.mpr is not None
    found = ordered(problem, oracle, row.items, row.rho, problem.k)
    if found.status in KEPT:
        return replace(row, items=found.items)
    if row.mpr > row.rho:
        return replace(row, items=found.items, message=_joined(row.message, _nearest(found, "of these items")))
    other = None if pool.has_many_cells else ordered(problem, oracle, pool.items, row.rho, problem.k)
    if other is not None and other.status in KEPT:
        return _of_other(problem, oracle, row, other)
    # What is proven of all items is more than what is proven of these.
    is_proven = other is not None and other.status == Status.INFEASIBLE
    remark = _nearest(found, f"of {numbered(problem.k, 'item')}" if is_proven else "of these items")
    return replace(row, items=found.items, message=_joined(row.message, remark))


def _of_other(problem: Problem, oracle: Oracle, row: Selection, order: FairOrder) -> Selection:
    """The row with another set, in that order: it meets rho, as the longest prefix does."""
    proof = Proof(similarity_bound=row.similarity_bound, relaxation_bound=row.relaxation_bound, rho_min=row.rho_min)
    remark = f"no order of the most similar set keeps every prefix of {FIRST} or more within its rho: these items do"
    found = selected(
        problem, oracle, order.items, method=row.method, value=row.value, rho=row.rho, proof=proof, message=remark
    )
    return replace(found, items=order.items, statistics=row.statistics)


def _nearest(order: FairOrder, whose: str) -> str:
    certainty = "keeps" if order.status == Status.INFEASIBLE else "was found that keeps"
    within = "" if order.factor == float("inf") else f": here they are within {order.factor:g} times that"
    return f"no order {whose} {certainty} every prefix of {FIRST} or more within its rho{within}"


def _joined(message: str, remark: str) -> str:
    return "; ".join(part for part in (message, remark) if part)
