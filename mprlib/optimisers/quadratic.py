"""mopr_qp: the relaxation of each rho as a cone programme, rounded and certified like mopr's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.certified import Certifier, checked_rhos
from mprlib.optimisers.cone import ConeProgramme
from mprlib.optimisers.region import BallRegion
from mprlib.optimisers.relaxing import centred_features, top_k_relaxation
from mprlib.problem import Problem
from mprlib.selection import Selection


def sweep(problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
    """One Selection a rho, in the order given: the cone programme, then rounding as in mopr.

    Raises:  InputError for a class that is no unit ball, and for a bad rho.
    """
    rhos = checked_rhos(values, "mopr_qp")
    features = centred_features(oracle, problem.k)
    if features is None:
        raise InputError("mopr_qp needs a class that is a unit ball with features (linear, saturated, rkhs): use mopr")
    pool = cell_pool_of(problem, oracle.cells)
    certifier = Certifier(problem, oracle, pool, BallRegion(features), "mopr_qp")
    programme = ConeProgramme(features, pool)
    found: dict[float, Selection] = {}
    for rho in sorted(set(rhos)):
        watch = Stopwatch()
        is_slack = rho >= certifier.top_value
        relaxation = top_k_relaxation(problem, pool, rho) if is_slack else programme.relaxation(rho)
        counts, is_inside = certifier.best_counts(relaxation)
        row = certifier.row(relaxation, counts, is_inside, relaxation.bound)
        found[rho] = replace(row, solve_seconds=watch.seconds())
    return [replace(found[rho], value=value) for rho, value in zip(rhos, values)]
