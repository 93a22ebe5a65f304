"""Items whose true levels are known by hand count by them, whatever else is known of their attribute."""

from typing import Any

import numpy as np
import pytest

import mprlib
from mprlib import Confusion, LabelError, Problem
from mprlib.label_errors import corrected_groups
from mprlib.label_errors.true_cells import true_cells

X, Y = [1.0, 0.0], [0.0, 1.0]
# Items 0, 2 and 3 are truly y, item 1 is x; their labels are x, x, y, y.
KNOWN = {"a": np.array([1, 0, 1, 1])}


def problem(error: LabelError, labels: Any = (X, X, Y, Y), **given: Any) -> Problem:
    """Four items of an attribute beside a reference of equal shares."""
    return Problem(
        scores=[0.9, 0.8, 0.7, 0.6],
        labels=labels,
        reference=[X, Y],
        reference_size=1000,
        k=2,
        attributes={"a": [0, 1]},
        label_names=["a=x", "a=y"],
        label_error=error,
        **given,
    )


@pytest.mark.parametrize("chosen_by", ["labels", "other"])
@pytest.mark.parametrize(("items", "value"), [([0, 2], 0.5), ([0, 1], 0.0)])
def test_labels_known_by_hand_count_without_a_confusion(items, value, chosen_by):
    found = mprlib.corrected(problem(LabelError(known=KNOWN)), items, "groups", chosen_by=chosen_by)
    assert [found.low, found.value, found.high] == pytest.approx(3 * [value], abs=1e-9)


def test_a_repair_takes_the_known_label_and_not_the_predicted_one():
    seen = problem(LabelError(known=KNOWN))
    # One x is all there is, so every even pair holds it.
    row = mprlib.select(seen, "mopr", 0.1, "groups")
    assert (row.items.tolist(), row.status.value, row.p_rho) == ([0, 1], "feasible", 1.0)


@pytest.mark.parametrize("chosen_by", ["labels", "other"])
@pytest.mark.parametrize("known", [[1, -1, 1, -1], [-1, -1, -1, -1], [1, 0, 1, 1]])
def test_known_labels_alone_are_a_confusion_without_errors(known, chosen_by):
    known = {"a": np.array(known)}
    alone = problem(LabelError(known=known))
    beside = problem(LabelError(known=known, items={"a": Confusion.of(np.eye(2))}))
    for name in ("linear", "groups", "tree"):
        assert mprlib.corrected(alone, [0, 2], name, chosen_by=chosen_by) == mprlib.corrected(
            beside, [0, 2], name, chosen_by=chosen_by
        )


def test_known_labels_of_one_attribute_count_beside_the_errors_of_another():
    labels = np.array([[*a, *b] for a, b in zip([X, X, Y, Y], [X, Y, X, Y])])
    two = Problem(
        scores=[0.9, 0.8, 0.7, 0.6],
        labels=labels,
        reference=labels,
        k=2,
        attributes={"a": [0, 1], "b": [2, 3]},
        label_names=["a=x", "a=y", "b=x", "b=y"],
        label_error=LabelError(items={"b": Confusion.of([[0.9, 0.1], [0.1, 0.9]])}, known=KNOWN),
    )
    assert true_cells(two).attributes == ("a", "b")
    assert corrected_groups(two, np.array([0, 2]), 1)["a=y"].share == pytest.approx(1.0)


def test_items_that_are_labelled_by_hand_by_the_labels_they_had_do_not_bias_the_others():
    held, off = [], []
    for seed in range(20):
        random = np.random.default_rng(seed)
        woman = random.random(600) < 0.45
        is_wrong = random.random(600) < 0.1
        seen = np.where(woman ^ is_wrong, 0, 1)
        # Whose label says woman is nearly always looked at, whose label says man hardly ever.
        known = np.where(random.random(600) < np.where(seen == 0, 0.96, 0.19), np.where(woman, 0, 1), -1)
        problem = Problem(
            scores=random.standard_normal(600) + 4.0 * woman,
            labels=np.eye(2)[seen],
            reference=np.eye(2),
            k=30,
            attributes={"gender": [0, 1]},
            label_names=["gender=woman", "gender=man"],
            label_error=LabelError(items={"gender": Confusion.of([[0.9, 0.1], [0.1, 0.9]])}, known={"gender": known}),
        )
        top = problem.best_first[:30]
        found = corrected_groups(problem, top, chosen_by="other")["gender=woman"]
        held.append(found.low <= woman[top].mean() <= found.high)
        off.append(found.share - woman[top].mean())
    assert np.mean(held) >= 0.9
    assert abs(np.mean(off)) < 0.01
