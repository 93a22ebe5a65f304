"""mopr_qp: the relaxation of each rho as a cone programme, rounded and certified like mopr's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.certified import Certifier, asked_for
from mprlib.optimisers.cone import ConeProgramme
from mprlib.optimisers.relaxing import ball_region, top_k_relaxation
from mprlib.problem import Problem
from mprlib.selection import Selection


def sweep(problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
    """One Selection a rho, in the order given: the cone programme, then rounding as in mopr.

    Raises:  InputError for a class that is no unit ball, and for a bad rho.
    """
    asked = asked_for(values, "mopr_qp", oracle)
    region = ball_region(oracle, problem.k)
    if region is None:
        raise InputError("mopr_qp needs a class that is a unit ball with features (linear, saturated, rkhs): use mopr")
    pool = cell_pool_of(problem, oracle.cells)
    certifier = Certifier(problem, oracle, pool, region, "mopr_qp")
    programme = ConeProgramme(region.features, pool)
    found: dict[float, Selection] = {}
    for one in sorted(set(asked), key=lambda one: one.rho):
        watch = Stopwatch()
        is_slack = one.limit >= certifier.top_value
        relaxation = top_k_relaxation(problem, pool, one.limit) if is_slack else programme.relaxation(one.limit)
        counts, _ = certifier.best_counts(relaxation)
        row = certifier.row(one, relaxation, counts, relaxation.bound)
        found[one.rho] = replace(row, solve_seconds=watch.seconds())
    return [replace(found[one.rho], value=value) for one, value in zip(asked, values)]
