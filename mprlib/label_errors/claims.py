"""What can be claimed of a set whose labels may be wrong: that its true MPR is at most rho, with which probability.

The true MPR of a set has a distribution, given all that is seen: true labels are drawn from tau, confusions, parameters
of the score model and the reference from what they might be. Looking at many sets changes none of these probabilities,
since each is conditional on the labels and scores by which sets are chosen. So the most similar of the sets whose
probability suffices may be taken: what an optimiser gains by picking items that are wrong in its favour is in tau.

The errors of parameters and confusions are one for all sets, and whether anything is claimed depends on them: an
audit that takes its labels to be better than they are claims more. What a claim is then worth is bounded by the half of
these errors that is against it: if claims were made only where estimates are off in their favour, an error e, which is
as likely as -e, would count with the sign that makes the true MPR larger. So each draw of e counts with that sign. For
a single direction it is what a normal error of 5% in the place of 10% on one side would be; where the items' own
labels are most of what is uncertain, it changes little. Likewise each draw counts with and without what the shares of
the reference's sample, to which sets are fitted, are expected to have too much (`mprlib.shrinkage`).

A set for rho is found by bounding the MPR of expected labels by a smaller rho'. Noise adds to a squared length what it
has itself, so rho'^2 starts at rho^2 less the noise of top-k; further values are read off what sets of other rho'
have turned out to claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.function_classes.base import FunctionClass
from mprlib.label_error import CONFIDENCE
from mprlib.label_errors.corrected import difference_of, gaps
from mprlib.label_errors.true_problem import true_problem
from mprlib.label_errors.weakness import too_weak
from mprlib.problem import Problem
from mprlib.selection import Selection, Status


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Claim:
    """What is known of the true MPR of a set: draws (B,) of it, rising."""

    draws: FloatArray

    def probability(self, rho: float) -> float:
        """That the true MPR is at most rho."""
        return float(np.searchsorted(self.draws, rho, side="right")) / self.draws.size

    def bound(self, confidence: float) -> float:
        """The smallest rho that holds with this probability."""
        return float(np.quantile(self.draws, confidence, method="higher"))


def claim_of(problem: Problem, items: IntArray, function_class: FunctionClass) -> Claim:
    """The claim that a set of items carries under a class; an upper bound of MPR where there is no closed form."""

    def build() -> Claim:
        if too_weak(problem):
            return Claim(draws=np.array([np.inf]))
        built, found = true_problem(problem), difference_of(problem, items, "labels")
        assert found.own is not None
        oracle, error = function_class.bind(built), np.resize(found.error, found.own.shape)
        centres = [found, found.as_expected()] if found.expected.any() else [found]
        draws = [
            gaps(built, oracle, function_class, one.shares + found.own + sign * error)
            for one in centres
            for sign in (1.0, -1.0)
        ]
        return Claim(draws=np.sort(np.max(draws, axis=0)))

    return problem.cached(("claim", function_class, np.sort(items).tobytes()), build)


def with_claim(
    problem: Problem, row: Selection, function_class: FunctionClass, confidence: float = CONFIDENCE
) -> Selection:
    """The row of a constrained method with what it may claim: never that a set meets rho which noise does not carry."""
    if row.rho is None or not row.items.size:
        return row
    claim = claim_of(problem, row.items, function_class)
    probability = claim.probability(row.rho)
    is_carried = probability >= confidence
    status = Status.FEASIBLE if is_carried else row.status
    remark = ""
    if not is_carried:
        status = Status.TIME_LIMIT if row.status == Status.TIME_LIMIT else Status.NOT_FOUND
        remark = (
            f"labels are wrong too often to claim a true MPR <= {row.rho:g} of these items: it holds with a "
            f"probability of {probability:.0%}, and with {confidence:.0%} the true MPR is at most "
            f"{claim.bound(confidence):.4g}"
        )
        remark = too_weak(problem) or remark
    # Bounds and proofs are about the labels as they are.
    return replace(
        row,
        status=status,
        p_rho=probability,
        rho_min=None,
        relaxation_bound=None,
        similarity_bound=None,
        message=remark,
    )


def next_limits(rhos: Sequence[float], tried: FloatArray, bounds: FloatArray) -> list[float]:
    """Values of rho' for sets that may claim each rho, read off those that were tried (t,) and what they claim (t,)."""
    order = np.argsort(tried)
    limits, reached = tried[order], np.maximum.accumulate(bounds[order])
    # What no set reaches is asked of the smallest set again, at half of its limit.
    return [float(np.interp(rho, reached, limits, left=limits[0] / 2.0)) for rho in rhos]
