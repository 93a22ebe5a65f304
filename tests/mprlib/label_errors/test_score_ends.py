"""Where scores of a level end, items beyond are not of it, whatever they are labelled as."""

from dataclasses import replace

import numpy as np
import pytest

from mprlib import Confusion, LabelError, Problem
from mprlib.label_errors import corrected_groups
from mprlib.label_errors.score_ends import _edge, _possible_ends, _spread
from mprlib.label_errors.score_fit import cells_within
from mprlib.label_errors.score_model import score_model

# Items, of which the first ones are all of one level.
ITEMS, FIRST = 1_000, 120
ERROR = 0.1


def ended(seed: int = 0, lower: int = ITEMS) -> tuple[Problem, np.ndarray]:
    """Nobody of level b is among the first, half are beyond them, and all are from some place on; and who is b."""
    random = np.random.default_rng(seed)
    places = np.arange(ITEMS)
    is_b = (places >= FIRST) & ((random.random(ITEMS) < 0.5) | (places >= lower))
    labelled = is_b ^ (random.random(ITEMS) < ERROR)
    problem = Problem(
        scores=1.0 - places / ITEMS,
        labels=np.eye(2)[labelled.astype(int)],
        reference=np.eye(2),
        k=20,
        attributes={"group": [0, 1]},
        label_names=["group=a", "group=b"],
    )
    known = Confusion.of([[1 - ERROR, ERROR], [ERROR, 1 - ERROR]])
    return replace(problem, label_error=LabelError(items={"group": known})), is_b


def test_items_labelled_as_a_level_beyond_its_end_are_given_little_of_it():
    problem, _ = ended()
    beyond = np.flatnonzero(problem.labels[: FIRST - 30, 1])
    within = FIRST + 60 + np.flatnonzero(problem.labels[FIRST + 60 : 2 * FIRST, 1])
    tau = score_model(problem).posterior(np.arange(ITEMS))[:, 1]
    assert beyond.size >= 5
    assert tau[beyond].max() < 0.1
    # Half are b there: P(b | labelled b) = 0.9.
    assert tau[within].mean() == pytest.approx(0.9, abs=0.05)


def test_intervals_of_sets_picked_by_label_hold_that_all_of_them_are_wrong():
    held = []
    for seed in range(10):
        problem, is_b = ended(seed)
        chosen = np.flatnonzero(problem.labels[:, 1])[:20]
        found = corrected_groups(problem, chosen)["group=b"]
        held.append(found.low <= is_b[chosen].mean() <= found.high)
    assert np.mean(held) >= 0.9


def test_an_end_in_the_middle_leaves_the_first_items_their_share():
    """From place 500 on all are b: a line that is as steep as that would say that no b is among the first."""
    problem, is_b = ended(1, lower=500)
    stretches = score_model(problem).stretches
    assert (np.abs(stretches[:, 1, 0] - 500) < 60).all()
    assert (stretches[:, 1, 1] == ITEMS).all()
    tau = score_model(problem).posterior(np.arange(200, 450))[:, 1]
    assert tau.mean() == pytest.approx(is_b[200:450].mean(), abs=0.1)


def test_a_level_ends_where_its_labels_are_as_many_as_errors():
    """Each label counts as a row of the inverse: of 10% errors 1.125 and -0.125."""
    problem, _ = ended()
    seen = np.linalg.inv(np.full((2, 2), 0.1) + 0.8 * np.eye(2))[problem.labels[:, 1].astype(int)]
    [(level, side, end)] = _possible_ends(seen)
    assert (level, side) == (1, 0)
    assert FIRST - 20 <= end <= FIRST + 20
    edges = np.array([0, 100, 150, 1000])
    assert (_edge(edges, 0, 120), _edge(edges, 1, 120)) == (100, 150)


def test_cells_are_possible_within_all_their_levels():
    members = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]], dtype=float)
    stretches = np.array([[0, 2, 0, 3], [9, 9, 4, 9]])
    found = cells_within(np.array([1, 2, 3, 4]), members, stretches)
    assert found.astype(int).tolist() == [[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]]


def test_values_are_spread_as_their_weights_say():
    assert np.bincount(_spread(np.array([1.0, 1.0, 2.0]), np.array([0, 5, 7]))).tolist() == [5, 0, 0, 0, 0, 5, 0, 10]
