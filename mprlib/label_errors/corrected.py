"""MPR of the true labels of a selection: estimate and interval, for every class that looks at cells.

With d = p - q the estimated difference of true shares, W the class's features, o what these items may differ by and e
what the estimate may be off by (`mprlib.label_errors.estimates`), W d is W (true) less W o and off by W e. So

    |W true|^2 is estimated by |W d|^2 + tr Cov(W o) - tr Cov(W e),

where an inverse has no o: noise makes lengths longer, and what is known only up to a distribution is as long as its
mean square. Sets that were chosen by expected labels are made so that W d is small, whatever the truth is: W d is not
what is off by W e then, W (true) is, and tr Cov(W e) is added too. Intervals: of an inverse, by inversion
(`mprlib.label_errors.norms`); with o, quantiles of its draws, widened by the length of W e in squares, as the two are
independent, and by what either lean of e allows. Named groups are the largest of many gaps, whose error is the largest
of the groups' own. The upper end of what was fitted to the reference's sample allows for what its shares are expected
to have too much (`mprlib.shrinkage`). Trees, networks and models have no closed form: their value is the class's at the
estimated shares, and the margin that of all functions of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import cells_of
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.label_error import ChosenBy
from mprlib.label_errors.estimates import Estimate, by_inverse, by_score, reference_errors, reference_estimate
from mprlib.label_errors.norms import length_interval, mean_square, steady_mean, unbiased_length
from mprlib.label_errors.true_cells import error_of
from mprlib.label_errors.true_problem import simplex, true_problem, weights_of
from mprlib.label_errors.weakness import too_weak
from mprlib.problem import Problem

CONFIDENCE = 0.95
# Draws that a class without a closed form is asked for its value of.
DRAWN_VALUES = 24
# An error is as likely as its opposite.
SIGNS = (1.0, -1.0)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Difference:
    """p - q of the true cells (G,), with own draws (B, G) or None, and error draws (B, G).

    expected (G,): by how much p - q is expected to be too small, of what was fitted to the reference's sample.
    """

    shares: FloatArray
    own: FloatArray | None
    error: FloatArray
    expected: FloatArray

    def as_expected(self) -> Difference:
        """The difference from the population, as it is expected given the sample."""
        return replace(self, shares=self.shares + self.expected, expected=np.zeros(self.expected.size))


@dataclass(frozen=True, kw_only=True, slots=True)
class Corrected:
    """MPR by the true labels of a selection, as an estimate with the ends of its interval.

    All are None where the confusion is too weak to say anything, which remark says.
    """

    value: float | None
    low: float | None
    high: float | None
    remark: str = ""


class Ends(NamedTuple):
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float


def estimate_of(problem: Problem, items: IntArray, chosen_by: ChosenBy) -> Estimate:
    """The true shares of a selection, kept for all classes."""

    def build() -> Estimate:
        error = error_of(problem)
        # Probabilities have no inverse. Which items are labelled by hand often depends on the labels that they had, and
        # then those of the others are no longer what the confusion makes of true ones.
        is_known = any((known[items] >= 0).any() for known in error.known.values())
        is_by_score = chosen_by != "other" or bool(error.probabilities) or is_known
        return by_score(problem, items) if is_by_score else by_inverse(problem, items)

    return problem.cached(("true shares", chosen_by == "other", np.sort(items).tobytes()), build)


def difference_of(problem: Problem, items: IntArray, chosen_by: ChosenBy) -> Difference:
    """What the true shares of a selection differ by from the reference's."""
    selected, reference = estimate_of(problem, items, chosen_by), reference_estimate(problem)
    # Draws of one confusion have one place on both sides: what they have in common cancels.
    expected = reference_errors(problem)
    return Difference(
        shares=selected.shares - reference.shares,
        own=selected.own,
        error=selected.error - reference.error,
        expected=expected if chosen_by != "other" else np.zeros(expected.size),
    )


def corrected(
    problem: Problem,
    items: IntArray,
    function_class: FunctionClass,
    *,
    chosen_by: ChosenBy = "labels",
    confidence: float = CONFIDENCE,
) -> Corrected:
    """MPR of the true labels of checked items, under a class over labels."""
    weak = too_weak(problem)
    if weak:
        return Corrected(value=None, low=None, high=None, remark=weak)
    built = true_problem(problem)
    oracle = function_class.bind(built)
    found = difference_of(problem, items, chosen_by)

    def ends(one: Difference) -> Ends:
        features = features_of(oracle)
        if features is not None:
            return _of_ball(one, features, confidence, chosen_by)
        if isinstance(oracle, GroupsOracle):
            return _of_groups(one, oracle, confidence, chosen_by)
        return _of_others(built, oracle, function_class, one, confidence, chosen_by)

    estimate = ends(found)
    if found.expected.any():
        estimate = estimate._replace(high=max(estimate.high, ends(found.as_expected()).high))
    shares = found.shares + cells_of(built).reference_shares
    if found.own is None and (shares < 0.0).any():
        estimate = _down_to(estimate, oracle.worst_case(weights_of(simplex(shares), built)).value)
    largest = _largest(function_class, oracle)
    value, low, high = np.clip(estimate, 0.0, largest).tolist()
    return Corrected(value=value, low=low, high=high)


def _down_to(estimate: Ends, nearest: float) -> Ends:
    """An interval that reaches down to the value of the nearest shares that are some: an inverse has ones below 0
    where fewer are labelled as a group than errors alone would be."""
    margin = estimate.value - estimate.low
    return estimate._replace(low=nearest - margin) if nearest < estimate.low else estimate


def _largest(function_class: FunctionClass, oracle: Oracle) -> float:
    """What no value of the class exceeds."""
    if isinstance(oracle, GroupsOracle):
        return 2.0 if oracle.signed else 1.0
    return 1.0 if function_class.is_normalised else np.inf


def gaps(built: Problem, oracle: Oracle, function_class: FunctionClass, differences: FloatArray) -> FloatArray:
    """The largest gap (B,) that the class can see in each difference (B, G); an upper bound without a closed form."""
    found = closed_form_gaps(oracle, differences)
    if found is not None:
        return found
    if not function_class.is_normalised:
        totals: FloatArray = np.abs(differences).sum(axis=1)
        return totals
    return np.sqrt(built.scale * (differences**2 @ (1.0 / cells_of(built).masses)))


def features_of(oracle: Oracle) -> FloatArray | None:
    """Features (G, r) of a class that is a unit ball over the true cells; None for others."""
    if isinstance(oracle, Ball):
        return oracle.features
    if isinstance(oracle, SaturatedOracle):
        return np.diag(np.sqrt(oracle.scale / oracle.cells.masses))
    return None


def _of_ball(found: Difference, features: FloatArray, confidence: float, chosen_by: ChosenBy) -> Ends:
    seen, error = found.shares @ features, found.error @ features
    if found.own is None:
        # Draws near a share of 0 lean to one side; the interval holds what either lean allows.
        low, high = length_interval(seen, np.concatenate([error, -error]), confidence)
        return Ends(value=unbiased_length(seen, error), low=low, high=high)
    noise, own = mean_square(error), seen + found.own @ features
    if chosen_by == "expected":
        both = [own + sign * np.resize(error, own.shape) for sign in SIGNS]
        return _of_draws([np.linalg.norm(one, axis=1) for one in both], confidence)
    squares = np.einsum("ij,ij->i", own, own)
    lengths = np.sqrt(np.maximum(squares - noise, 0.0))
    value = float(np.sqrt(max(float(steady_mean(squares)) - noise, 0.0)))
    margin = float(np.quantile(np.linalg.norm(error, axis=1), confidence))
    widened, repeated = _widened(value, lengths, margin, confidence), np.resize(error, own.shape)
    # Where groups vanish errors of the parameters lean to one side; the interval holds what either lean allows.
    leaning = [_quantiles(np.linalg.norm(own + sign * repeated, axis=1), confidence) for sign in SIGNS]
    lows, highs = zip(*leaning, (widened.low, widened.high))
    return Ends(value=value, low=min(lows), high=max(highs))


def _of_draws(lengths: Sequence[FloatArray], confidence: float) -> Ends:
    """The root mean square of draws (B,), and the quantiles that any of them allow, which few large draws leave."""
    lows, highs = zip(*(_quantiles(one, confidence) for one in lengths))
    value = float(np.sqrt(steady_mean(np.square(np.concatenate(lengths)))))
    return Ends(value=value, low=min(*lows, value), high=max(*highs, value))


def _of_groups(found: Difference, oracle: GroupsOracle, confidence: float, chosen_by: ChosenBy) -> Ends:
    if chosen_by == "expected" and found.own is not None:
        drawn = found.shares + found.own
        both = [drawn + sign * np.resize(found.error, drawn.shape) for sign in SIGNS]
        return _of_draws([closed_form_gaps(oracle, one) for one in both], confidence)
    error = closed_form_gaps(oracle, found.error)
    margin = float(np.quantile(error, confidence, method="higher"))
    own = found.shares[None, :] + (0.0 if found.own is None else found.own)
    lengths = closed_form_gaps(oracle, own)
    if found.own is not None:
        return _widened(float(lengths.mean()), lengths, margin, confidence)
    # The largest of the groups whose own noise is taken off.
    factor = 2.0 if oracle.signed else 1.0
    variances = steady_mean(np.array([oracle.totals(one) ** 2 for one in found.error]))
    squares = np.maximum(oracle.totals(found.shares) ** 2 - variances, 0.0)
    value = factor * float(np.sqrt(squares.max()))
    return Ends(value=value, low=float(lengths[0]) - margin, high=float(lengths[0]) + margin)


def _of_others(
    built: Problem,
    oracle: Oracle,
    function_class: FunctionClass,
    found: Difference,
    confidence: float,
    chosen_by: ChosenBy,
) -> Ends:
    shares = (found.shares + cells_of(built).reference_shares)[None]
    if chosen_by == "expected" and found.own is not None:
        rows = np.linspace(0, len(found.own) - 1, DRAWN_VALUES).astype(int)
        signs = np.resize(SIGNS, (DRAWN_VALUES, 1))
        shares = shares + found.own[rows] + signs * np.resize(found.error, found.own.shape)[rows]
    values = [oracle.worst_case(weights_of(one, built)).value for one in shares]
    value = values[0] if len(values) == 1 else float(np.sqrt(steady_mean(np.square(values))))
    error = float(np.quantile(gaps(built, oracle, function_class, found.error), confidence))
    own = 0.0
    if found.own is not None:
        own = float(np.quantile(gaps(built, oracle, function_class, found.own), confidence))
    margin = float(np.hypot(error, own))
    return Ends(value=value, low=value - margin, high=value + margin)


def _widened(value: float, lengths: FloatArray, margin: float, confidence: float) -> Ends:
    low, high = _quantiles(lengths, confidence)
    return Ends(
        value=value,
        low=value - float(np.hypot(max(value - low, 0.0), margin)),
        high=value + float(np.hypot(max(high - value, 0.0), margin)),
    )


def _quantiles(draws: FloatArray, confidence: float) -> tuple[float, float]:
    low, high = np.quantile(draws, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return float(low), float(high)
