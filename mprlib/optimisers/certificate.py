"""From counts and what is proven to a Selection: its bounds, its status, and what to do next where that is not good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, localcontext

import numpy as np

from mprlib.arrays import IntArray
from mprlib.function_classes.base import cut
from mprlib.method import Proof, selected
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.request import Request
from mprlib.optimisers.separation import Separator
from mprlib.selection import Selection, Status

# A gap above which a row says why it may be so wide.
FAR_GAP = 0.05
# A similarity this close to the dual bound, relative to the range of scores, attains it: the bound's own rounding.
OPTIMALITY = 1e-10


@dataclass(frozen=True, kw_only=True, slots=True)
class Impossible:
    """Why no set meets a rho. is_smallest_known: some set has an MPR of rho_min."""

    obstacle: str = ""
    is_smallest_known: bool = False


def certified(
    separator: Separator,
    request: Request,
    relaxation: Relaxation,
    counts: IntArray,
    *,
    method: str,
    bound: float,
    rho_min: float | None,
    is_stopped: bool = False,
) -> Selection:
    """The Selection of whole counts (G,).

    bound: a proven bound on the total similarity of sets that meet rho, at most the relaxation's; -inf where no
    set does. rho_min: proven, at most the MPR of every set. is_stopped: by the clock.
    """
    pool, oracle, k = separator.pool, separator.oracle, separator.problem.k
    proof = Proof(
        similarity_bound=None if bound == -np.inf else pool.scale.mean(bound, k),
        relaxation_bound=None if relaxation.is_infeasible else pool.scale.mean(relaxation.bound, k),
        rho_min=None if rho_min is None else cut(rho_min, oracle.unit),
        is_infeasible=bound == -np.inf,
        is_stopped=is_stopped,
        tolerance=pool.scale.tolerance(OPTIMALITY),
        worst=separator.known(counts),
    )
    return selected(
        separator.problem,
        oracle,
        pool.chosen(counts),
        method=method,
        value=request.rho,
        rho=request.rho,
        proof=proof,
    )


def with_advice(
    row: Selection,
    relaxation: Relaxation,
    reason: Callable[[float], Impossible],
    *,
    not_found: str,
    stopped: str = "",
) -> Selection:
    """The row with a message: what is unusual about it, and what to try next; empty when all is as usual.

    reason: why no set meets a rho. not_found, stopped: what to try where no set was found, and where the clock ended
    the search.
    """
    parts = []
    if not relaxation.is_converged:
        parts.append("the relaxation was not solved to its tolerance: its bound holds, but a tighter one exists")
    if row.status == Status.INFEASIBLE and row.rho is not None:
        parts.append(_impossible(row, relaxation, reason(row.rho)))
    if row.status == Status.FEASIBLE and row.gap is not None and row.gap > FAR_GAP:
        parts.append(_far(row.gap))
    if row.status == Status.NOT_FOUND:
        parts.append(f"no set with MPR <= {row.rho:g} was found, and none was ruled out: {not_found}")
    if row.status == Status.TIME_LIMIT:
        parts.append(stopped)
    return replace(row, message="; ".join(parts)) if parts else row


def at_least(value: float) -> str:
    """A number of six digits that is no smaller."""
    with localcontext(prec=6, rounding=ROUND_CEILING) as context:
        return f"{float(context.create_decimal(value)):g}"


def _far(gap: float) -> str:
    return (
        f"similarity_bound is far away (gap {gap:.0%}): it lets items be taken in parts, and no set of whole items is "
        "known to come nearer"
    )


def _impossible(row: Selection, relaxation: Relaxation, reason: Impossible) -> str:
    limit = f"MPR <= {row.rho:g}"
    raised = "raise rho" if row.rho_min is None else f"raise rho to at least {at_least(row.rho_min)}"
    if relaxation.is_infeasible:
        return f"no selection has {limit}: {raised}"
    if reason.obstacle:
        limit = f"{limit} ({reason.obstacle})"
    if reason.is_smallest_known:
        return f"no set of whole items has {limit}: {raised}"
    return f"no set of whole items has {limit}, all were ruled out: raise rho"
