"""Proven best sets: exhaustive search where it ends, branch and bound with lazy cuts where not.

mopr's set and bound come first. Their gap settles most items by reduced cost: an item dearer at the
relaxation's prices than the gap is in no better set, one cheaper by as much is in all. The counts
that stay open are enumerated; when they are too many, a mixed-integer programme takes over. It holds
the class as cuts, and each whole set that it returns and the measuring code refuses adds the
function that saw most. Limits are numbers of partial sums, rounds and nodes, set by `nodes`; the clock
is a back-stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch
from mprlib.optimisers.backend import model_factory
from mprlib.optimisers.cell_pool import CellPool, cell_pool_of
from mprlib.optimisers.certified import OPTIMALITY, Asked, Certifier, asked_for, distinct_limits
from mprlib.optimisers.cutting_plane import centred
from mprlib.optimisers.enumeration import enumerate_counts, margin_of, near_counts
from mprlib.optimisers.linear_model import Window
from mprlib.optimisers.region import MANY_CELLS, BallRegion, CutRegion, Region
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.relaxing import relaxed
from mprlib.problem import FloatArray, IntArray, Problem
from mprlib.selection import Selection
from mprlib.settings import Whole

# Nodes of branch and bound that a row may take in all its rounds together.
NODE_LIMIT = 2_000
# The clock stops a row long before.
MOST_NODES = 10_000_000
# Partial sums carried on by the exhaustive search for each node that a row may take, in a second try
# after a first: 20 ms and 0.2 s a row with 28 cells.
SEARCH_SUMS = (10, 150)
# Over cuts a candidate is a guess that the measuring code may refuse, and each partial sum carries
# hundreds of gaps: one short search is enough.
CUT_SEARCH_LIMITS = (2_000,)
LARGEST_ROUNDS = 40
# Back-stop of one row's search, branch and bound together; a row that meets it says time_limit.
ROW_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Proof:
    """The best counts (G,) known, a bound on all, and whether no set at all was proven to exist."""

    counts: IntArray | None
    bound: float
    is_empty: bool = False
    is_out_of_time: bool = False


def sweep(
    problem: Problem,
    oracle: Oracle,
    values: Sequence[float],
    nodes: Annotated[int, Whole(least=1, most=MOST_NODES)] = NODE_LIMIT,
) -> list[Selection]:
    """One Selection a rho, in the order given.

    nodes: how far the search for one rho goes, in nodes of branch and bound.
    Raises:  InputError for a rho that is no finite number of at least 0.
    """
    watch = Stopwatch()
    asked = asked_for(values, "mopr_integer", oracle)
    limits = distinct_limits(asked)
    pool = cell_pool_of(problem, oracle.cells)
    answer = relaxed(problem, oracle, pool, limits)
    certifier = Certifier(problem, oracle, pool, answer.region, "mopr_integer")
    shared = watch.seconds() / len(limits)
    by_limit = {relaxation.rho: relaxation for relaxation in answer.rows}
    found: dict[float, Selection] = {}
    for one in sorted(set(asked), key=lambda one: one.rho):
        watch = Stopwatch()
        row = _proven_row(certifier, one, by_limit[one.limit], answer.region, nodes)
        found[one.rho] = replace(row, solve_seconds=shared + watch.seconds())
    return [replace(found[one.rho], value=value) for one, value in zip(asked, values)]


def _proven_row(certifier: Certifier, asked: Asked, relaxation: Relaxation, region: Region, nodes: int) -> Selection:
    counts, is_inside = certifier.best_counts(relaxation)
    if certifier.pool.cell_count > MANY_CELLS or relaxation.is_infeasible:
        # Items that all differ leave nothing to enumerate, and cuts in hundreds of dimensions close no gap.
        return certifier.row(asked, relaxation, counts, relaxation.bound)
    proof = _Proof(counts=counts if is_inside else None, bound=relaxation.bound)
    watch = Stopwatch()
    sums = [nodes * each for each in SEARCH_SUMS]
    for place, limit in enumerate(sums if isinstance(region, BallRegion) else CUT_SEARCH_LIMITS):
        # Without a set in hand no loss is too large, and the long search is the short one many times over.
        is_worth_it = place == 0 or proof.counts is not None
        if is_worth_it and not _is_settled(certifier.pool, proof):
            proof = _searched(certifier, relaxation, region, proof.counts, limit, watch)
    if not _is_settled(certifier.pool, proof):
        proof = _branched(certifier, relaxation, region, proof, nodes, watch)
    if proof.is_empty:
        message = f"no whole set has MPR <= {asked.rho:g}: all were ruled out"
        return certifier.row(asked, relaxation, counts, None, is_infeasible=True, message=message)
    if proof.counts is not None:
        counts = proof.counts
    message = f"stopped by the clock after {ROW_SECONDS:g} s" if proof.is_out_of_time else None
    return certifier.row(
        asked, relaxation, counts, proof.bound, is_stopped=proof.is_out_of_time, message=message
    )


def _is_settled(pool: CellPool, proof: _Proof) -> bool:
    return proof.is_empty or proof.is_out_of_time or _is_closed(pool, proof)


def _is_closed(pool: CellPool, proof: _Proof) -> bool:
    if proof.counts is None:
        return False
    return pool.similarity(proof.counts) >= proof.bound - OPTIMALITY * pool.k


def _searched(
    certifier: Certifier, relaxation: Relaxation, region: Region, best: IntArray | None, limit: int, watch: Stopwatch
) -> _Proof:
    """The exhaustive search; refused candidates teach a region of cuts and are searched again without."""
    pool, bound = certifier.pool, relaxation.bound
    for _ in range(LARGEST_ROUNDS):
        if watch.seconds() >= ROW_SECONDS:
            return _Proof(counts=best, bound=bound, is_out_of_time=True)
        allowance = np.inf if best is None else bound - pool.similarity(best)
        found = enumerate_counts(relaxation, pool, region, allowance=allowance, limit=limit)
        is_changed = False
        for counts in found.candidates:
            if best is not None and pool.similarity(counts) <= pool.similarity(best):
                break
            if certifier.taught(counts) <= relaxation.rho:
                best, is_changed = counts, True
                break
            is_changed = is_changed or certifier.has_learnt
        if not is_changed:
            if best is None:
                is_empty = bool(np.isinf(found.least_loss))
                return _Proof(counts=None, bound=bound if is_empty else bound - found.least_loss, is_empty=is_empty)
            return _Proof(counts=best, bound=max(pool.similarity(best), min(bound, bound - found.least_loss)))
    return _Proof(counts=best, bound=bound)


def _branched(
    certifier: Certifier, relaxation: Relaxation, region: Region, proof: _Proof, nodes: int, watch: Stopwatch
) -> _Proof:
    """Branch and bound over what the gap leaves open."""
    pool, oracle, rho = certifier.pool, certifier.oracle, relaxation.rho
    shares = oracle.cells.reference_shares
    window = _open_window(relaxation, pool, proof)
    settled = pool.similarity(window.taken)
    cuts = list(_first_cuts(certifier, relaxation, region))
    best, bound, nodes_left = proof.counts, proof.bound, nodes
    for _ in range(LARGEST_ROUNDS):
        seconds_left = ROW_SECONDS - watch.seconds()
        if seconds_left <= 0:
            return _Proof(counts=best, bound=bound, is_out_of_time=True)
        # A fresh model a round: HiGHS keeps no tree, and a start counts for more than a basis.
        model = model_factory(window, is_whole=True)(window)
        for cut in cuts:
            model.add_cut(cut)
        answer = model.maximise_whole(rho, start=best, node_limit=nodes_left, time_limit_seconds=seconds_left)
        nodes_left -= answer.nodes
        if answer.is_infeasible:
            # With a set in hand the window holds every better one: there is none.
            return _Proof(counts=best, bound=bound if best is None else pool.similarity(best), is_empty=best is None)
        bound = min(bound, settled + answer.bound)
        if best is not None:
            bound = max(bound, pool.similarity(best))
        state = _Proof(counts=best, bound=bound, is_out_of_time=answer.is_out_of_time)
        if _is_closed(pool, state) or answer.counts is None or answer.is_out_of_time:
            return state
        worst = oracle.worst_case(certifier.weights(answer.counts))
        if worst.value <= rho:
            if best is None or pool.similarity(answer.counts) > pool.similarity(best):
                best = answer.counts
            return _Proof(counts=best, bound=max(bound, pool.similarity(best)))
        cut = centred(worst.function, shares, pool.k)
        if cut @ answer.counts <= rho + 1e-9 or not answer.is_complete or nodes_left <= 0:
            # Refused by less than the solver can tell, or the limit of nodes was hit.
            return state
        cuts.append(cut)
    return _Proof(counts=best, bound=bound)


def _open_window(relaxation: Relaxation, pool: CellPool, proof: _Proof) -> Window:
    if proof.counts is None:
        return Window.of(pool, np.zeros_like(pool.capacity), pool.capacity)
    allowance = relaxation.bound - pool.similarity(proof.counts)
    low, losses = near_counts(relaxation, pool, margin_of(relaxation, pool), allowance)
    high = low + np.array([len(loss) - 1 for loss in losses])
    return Window.of(pool, np.minimum(low, proof.counts), np.maximum(high, proof.counts))


def _first_cuts(certifier: Certifier, relaxation: Relaxation, region: Region) -> FloatArray:
    """Cuts to start from: those of the region, or the ball's along its axes and at the relaxed optimum."""
    if isinstance(region, CutRegion):
        return region.cuts
    gap = relaxation.counts @ region.features
    length = np.linalg.norm(gap)
    axes = np.eye(region.features.shape[1])
    directions = np.vstack([axes, -axes] + ([gap / length] if length > 0 else []))
    return directions @ region.features.T
