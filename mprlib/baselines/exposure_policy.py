"""A stochastic policy: rankings drawn by lot, so that every level's expected attention is its share of the reference.

One ranking cannot give every group its share of a few places; a lottery over rankings can, in expectation. Of all
lotteries whose expected attention to each level of each attribute, with the weights 1/log2(i + 1), is the level's share
of the reference, the one with the largest expected similarity (weighted likewise) is found, and one ranking is drawn.

The source solves a linear programme over doubly stochastic matrices, the probability of each item at each place, and
parts it into rankings (Birkhoff and von Neumann). **Deviation**: the same optimum is found as a lottery of a few
rankings right away, by column generation: at the programme's dual prices the best ranking is a sort. Its parity is that
all members of all groups get equal attention on average; here levels get their shares of the reference, as elsewhere in
this library. Where candidates are too few for that, the sum of what is missing is made as small as possible.

Worked example: two alike groups, the first more similar. Both rankings are drawn half of the time.

>>> import mprlib
>>> problem = mprlib.Problem(scores=[0.9, 0.5], labels=[[1, 0], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
...                          attributes={"sex": [0, 1]})
>>> drawn = [mprlib.select(problem, "exposure_policy", seed=seed, order="fair").items[0] for seed in range(200)]
>>> 80 < drawn.count(0) < 120
True
>>> mprlib.select(problem, "exposure_policy", seed=0, order="fair").message
'one of 2 rankings, drawn with probability 0.50; no level is off its share of attention in expectation'

Source: Singh and Joachims 2018, "Fairness of Exposure in Rankings", sections 3 and 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray, summable
from mprlib.attention import LOG2
from mprlib.baselines.baseline import ORDER, Chosen, FixedBaseline
from mprlib.cells import cells_of
from mprlib.naming import cell_levels
from mprlib.problem import Problem
from mprlib.settings import SEED

# What a unit of attention that a level lacks costs, in ranges of scores: more than any exchange of places can bring.
PENALTY = 100.0
# Rankings that are generated, at most; some tens are usual.
MOST_RANKINGS = 500
# A ranking that would better the programme by less is not looked for; probabilities below it are rounding.
TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Policy:
    """A lottery of rankings.

    Shapes:  rankings (R, k), positions in the pool; chances (R,), summing to 1.
    missing: attention by which levels are off their shares in expectation, added up.
    """

    rankings: IntArray
    chances: FloatArray
    missing: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ExposurePolicy(FixedBaseline):
    """A ranking drawn from the lottery that gives every level its share of attention in expectation."""

    name: ClassVar[str] = "exposure_policy"

    seed: Annotated[int, SEED, "seed of the draw"] = 0
    order: Annotated[
        str,
        ORDER,
        "order of the items: by score, which says nothing of attention, or that of the ranking that is drawn",
    ] = "score"

    def choose(self, problem: Problem) -> Chosen:
        """The ranking that is drawn.

        Raises:  InputError where an attribute has no levels.
        """
        policy = problem.cached("exposure policy", lambda: exposure_policy(problem))
        at = int(np.random.default_rng(self.seed).choice(policy.chances.size, p=policy.chances))
        drawn = f"one of {policy.chances.size} rankings, drawn with probability {policy.chances[at]:.2f}"
        off = "no level is off its share of attention in expectation"
        if policy.missing > TOLERANCE:
            off = f"for want of candidates levels are off their shares of attention by {policy.missing:.3f} in all"
        if self.order != "fair":
            off = "its items are by score, of whose attention nothing is said: order fair is the ranking that was drawn"
        return Chosen(items=policy.rankings[at], is_ordered=self.order == "fair", message=f"{drawn}; {off}")


def exposure_policy(problem: Problem) -> Policy:
    """The best lottery for a problem.

    Raises:  InputError where an attribute has no levels.
    """
    from scipy.optimize import linprog

    weights, levels, scores = LOG2.weights(problem.k), _centred_levels(problem), _scaled(problem.scores)
    rankings = [problem.best_first[: problem.k]]
    size = levels.shape[1]
    slack = np.concatenate([np.eye(size), -np.eye(size)], axis=1)
    while True:
        shown = np.array([weights @ levels[one] for one in rankings])
        gains = np.array([weights @ scores[one] for one in rankings])
        solved = linprog(
            np.concatenate([-gains, np.full(2 * size, PENALTY)]),
            A_eq=np.block([[shown.T, slack], [np.ones((1, len(rankings))), np.zeros((1, 2 * size))]]),
            b_eq=np.append(np.zeros(size), 1.0),
            method="highs",
        )
        prices = solved.eqlin.marginals
        added = _best(problem, scores + levels @ prices[:-1])
        value = weights @ (scores + levels @ prices[:-1])[added] + prices[-1]
        if value <= TOLERANCE or len(rankings) == MOST_RANKINGS:
            return _policy(rankings, solved.x)
        rankings.append(added)


def _policy(rankings: list[IntArray], solution: FloatArray) -> Policy:
    chances, missing = solution[: len(rankings)], float(solution[len(rankings) :].sum())
    is_drawn = chances > TOLERANCE
    return Policy(
        rankings=np.array(rankings)[is_drawn], chances=chances[is_drawn] / chances[is_drawn].sum(), missing=missing
    )


def _best(problem: Problem, values: FloatArray) -> IntArray:
    """The k items of the largest values, falling; ties in the pool's order."""
    order = problem.best_first
    return order[np.argsort(-values[order], kind="stable")[: problem.k]]


def _centred_levels(problem: Problem) -> FloatArray:
    """Membership (n, levels of all attributes) of items, less the level's share of the reference."""
    cells = cells_of(problem)
    columns = []
    for own in cell_levels(problem).values():
        members = np.eye(len(own.names))[own.codes]
        columns.append(members - cells.reference_shares @ members)
    return np.concatenate(columns, axis=1)[cells.pool_cell]


def _scaled(scores: FloatArray) -> FloatArray:
    """Scores in [0, 1]."""
    scores = summable(scores)
    spread = float(np.ptp(scores))
    scaled: FloatArray = (scores - scores.min()) / (spread if spread > 0 else 1.0)
    return scaled
