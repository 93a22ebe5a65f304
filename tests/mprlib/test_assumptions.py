"""A table of groups that is taken for a handful of people is told; samples of people are not."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import mprlib
from mprlib import AssumptionWarning, Problem
from mprlib.assumptions import assumption
from mprlib.encoding import Encoding
from mprlib.populations import balanced, target_shares
from mprlib.statistics import sampling_margin
from tests.populations import one_hot_problem, one_hot_rows


def as_groups(problem: Problem, **fields) -> Problem:
    """The same reference, each group a row with its share."""
    groups, counts = np.unique(problem.reference, axis=0, return_counts=True)
    return replace(problem, reference=groups, reference_weights=counts, **fields)


def test_forgetting_the_size_changes_the_value_and_is_told():
    problem = one_hot_problem(m=5_000)
    right = mprlib.measure(problem, range(20)).value
    with pytest.warns(AssumptionWarning, match="reference has 12 rows, all different, and no reference_size") as told:
        wrong = mprlib.measure(as_groups(problem), range(20)).value
    assert wrong > 2 * right
    assert told[0].filename == __file__
    assert "values under linear depend on it" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stated = mprlib.measure(as_groups(problem, reference_size=5_000), range(20)).value
    assert stated == pytest.approx(right)


def test_it_is_told_once_for_a_problem_by_every_verb():
    for ask in (
        lambda given: mprlib.measure(given, range(20), "tree"),
        lambda given: mprlib.select(given, "top_k", function_class="saturated"),
        lambda given: mprlib.sweep(given, "mopr", values=[0.1]),
        lambda given: sampling_margin(given, "groups", resamples=10),
    ):
        given = as_groups(one_hot_problem())
        with pytest.warns(AssumptionWarning) as told:
            ask(given)
            ask(given)
        assert [one.filename for one in told] == [__file__]


def test_named_groups_and_kernels_do_not_depend_on_it():
    given = as_groups(one_hot_problem())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mprlib.measure(given, range(20), "groups")
        mprlib.select(given, "mopr", 0.1, "rkhs")


@pytest.mark.parametrize(
    ("reference", "weights"),
    [
        ([[1, 0], [0, 1]], None),
        ([[1, 0], [0, 1]], [0.3, 0.7]),
        ([[1, 0]], None),
        ([[1, 0], [0, 1], [1, 0]], [0.3, 0.7, 0.0]),
    ],
    ids=["balanced", "shares", "one group", "a row of no weight"],
)
def test_small_tables_are_told(reference, weights):
    labels = np.eye(2)[np.arange(50) % 2]
    given = Problem(scores=np.arange(50), labels=labels, reference=reference, reference_weights=weights, k=5)
    assert "no reference_size" in assumption(given)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("levels", [(2,), (2, 7, 9), (2,) * 12, (5,) * 8])
def test_samples_of_people_pass_in_silence(seed, levels):
    """Few of them or many, few groups or more than people, weighted or not."""
    random = np.random.default_rng(seed)
    people = one_hot_rows(random, 400, levels)
    for rows in (30, 200):
        for weights in (None, random.random(rows) + 0.1):
            given = Problem(
                scores=random.random(200),
                labels=people[:200],
                reference=people[200 : 200 + rows],
                reference_weights=weights,
                k=10,
            )
            assert assumption(given) == ""


def test_continuous_labels_and_whole_populations_pass_in_silence():
    random = np.random.default_rng(0)
    labels = random.standard_normal((60, 4))
    fields = {"scores": random.random(60), "labels": labels, "k": 5}
    assert assumption(Problem(reference=random.standard_normal((50, 4)), **fields)) == ""
    # The data set itself: as many rows as items, each its own.
    assert assumption(Problem(reference=labels, reference_weights=random.random(60), **fields)) == ""


def test_references_that_are_built_state_their_size():
    encoding = Encoding(levels={"sex": ("f", "m"), "age": ("<50", "50+")})
    labels = encoding.encode({"sex": ["f", "m"] * 20, "age": ["<50"] * 40})
    for reference in (balanced(encoding), target_shares(encoding, {"sex": {"f": 0.5, "m": 0.5}})):
        given = Problem(scores=np.arange(40), labels=labels, k=4, reference=reference)
        assert assumption(given) == ""
