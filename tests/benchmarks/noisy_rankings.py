"""Corrections of Ghazimatin et al. 2022 beside ours, on the settings of their public code.

    python -m tests.benchmarks.noisy_rankings [--rankings 10]

Rankings of 10,000 people, half of them of the protected group; scores are N(1, 0.5) for it and N(2, 2) for the others;
labels of the others are wrong with p = 0.3, those of the group with q. Assumption I: scores depend on the true group;
II: on the predicted one. Measured is rND of the first tenth: |sum over cut-offs i of (share of the group among the
first i - its share) / log2(i + 1)| over the sum of 1 / log2(i + 1). Printed is the mean absolute error over rankings,
of the labels as they are, of their two corrections, which divide by 1 - p - q (I) or multiply by P(true | predicted) -
P(true | not predicted) (II), and of our two estimates: by the inverse, and by label and score. All know p, q and s.

Ours assume I, as every matrix of errors does, and the inverse is their correction for I. The one by label and score
also learns from the scores. Where II holds, since scores were made from the predicted labels, neither of ours applies:
then hand labels of the items shown are what says who they are.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from mprlib import LabelError, Problem
from mprlib.label_errors.estimates import by_inverse
from mprlib.label_errors.score_model import score_model

PEOPLE, SHARE, P = 10_000, 0.5, 0.3
SCORES = {1: (1.0, 0.5), 0: (2.0, 2.0)}
# At p + q = 1 labels say nothing, and nobody corrects anything.
QS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.9)
CUTOFFS = np.arange(50, PEOPLE // 10 + 1, 50)
DISCOUNTS = 1.0 / np.log2(CUTOFFS + 1)
ASSUMPTIONS = ("I", "II")
COLUMNS = ("assumption", "q", "as it is", "theirs I", "theirs II", "inverse", "by score", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rankings", type=int, default=3, help="rankings of each row; the authors have 10")
    given = parser.parse_args()
    print(" ".join(f"{name:>10}" for name in COLUMNS))
    with threadpool_limits(1):
        for assumption in ASSUMPTIONS:
            for q in QS:
                started = time.process_time()
                errors = np.mean([errors_of(assumption, q, seed) for seed in range(given.rankings)], axis=0)
                cells = [assumption, f"{q:.1f}", *(f"{one:.4f}" for one in errors)]
                print(" ".join(f"{cell:>10}" for cell in [*cells, f"{time.process_time() - started:.1f}"]), flush=True)


def errors_of(assumption: str, q: float, seed: int) -> list[float]:
    """Absolute errors of rND: as it is, their corrections for I and II, ours by the inverse and by the score."""
    true, predicted, scores = ranking(assumption, q, np.random.default_rng([seed, int(10 * q)]))
    order = np.argsort(-scores)
    truth = abs(rnd(shares_of(true[order]) - SHARE))
    # Their metric of predicted labels is compared with the share that the group has among these.
    of_predicted = P * (1 - SHARE) + SHARE * (1 - q)
    observed = rnd(shares_of(predicted[order]) - of_predicted)
    found = [abs(observed), *theirs(observed, q), *ours(predicted, scores, order, q)]
    return [abs(one - truth) for one in found]


def ranking(assumption: str, q: float, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True groups, predicted groups and scores."""
    true = (np.arange(PEOPLE) < SHARE * PEOPLE).astype(int)
    is_wrong = generator.uniform(size=PEOPLE) < np.where(true == 1, q, P)
    predicted = np.where(is_wrong, 1 - true, true)
    decides = true if assumption == "I" else predicted
    drawn = {group: generator.normal(*SCORES[group], PEOPLE) for group in SCORES}
    return true, predicted, np.where(decides == 1, drawn[1], drawn[0])


def shares_of(members: np.ndarray) -> np.ndarray:
    """The group's share among the first items, at each cut-off."""
    found: np.ndarray = np.cumsum(members)[CUTOFFS - 1] / CUTOFFS
    return found


def rnd(differences: np.ndarray) -> float:
    return float(differences @ DISCOUNTS / DISCOUNTS.sum())


def theirs(observed: float, q: float) -> tuple[float, float]:
    """The corrections of both assumptions."""
    of_predicted = (1 - q) * SHARE + P * (1 - SHARE)
    told = (1 - q) * SHARE / of_predicted - q * SHARE / (1 - of_predicted)
    return abs(observed / (1 - P - q)), abs(observed * told)


def ours(predicted: np.ndarray, scores: np.ndarray, order: np.ndarray, q: float) -> tuple[float, float]:
    """By the inverse, for selections that did not look at labels; by label and score, for any."""
    labels = np.eye(2)[1 - predicted]
    error = LabelError.of({"group": [[1 - q, q], [P, 1 - P]]})
    problem = Problem(
        scores=scores,
        labels=labels,
        reference=np.eye(2),
        reference_weights=[SHARE, 1 - SHARE],
        k=int(CUTOFFS[-1]),
        attributes={"group": [0, 1]},
        label_error=error,
    )
    inverse = [by_inverse(problem, order[:cutoff]).shares[0] for cutoff in CUTOFFS]
    posterior = score_model(problem).posterior(order[: CUTOFFS[-1]])[:, 0]
    return tuple(abs(rnd(np.asarray(one) - SHARE)) for one in (inverse, shares_of(posterior)))


if __name__ == "__main__":
    main()
