"""MPR +- t: its size, and what it is for classes without a formula."""

import numpy as np
import pytest

from mprlib import FUNCTION_CLASSES, InputError, Problem, Reference, measure
from mprlib.cells import cells_of
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.registry import function_class
from mprlib.statistics import Resamples, sampling_interval, sampling_margin
from tests.populations import one_hot_problem


@pytest.mark.parametrize("name", FUNCTION_CLASSES)
def test_every_class_has_a_margin(name):
    margin = sampling_margin(one_hot_problem(), name, resamples=200)
    assert 0 < margin < 1.5
    if function_class(name).is_normalised:
        assert margin <= sampling_margin(one_hot_problem(), "saturated", resamples=200)


def test_signed_trees_take_the_distance_of_shares():
    problem = one_hot_problem()
    signed = function_class("tree", signed=True)
    assert sampling_margin(problem, signed) >= sampling_margin(problem, function_class("groups", signed=True))


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
def test_kernels_on_continuous_labels_take_a_larger_margin(kernel, monkeypatch):
    rkhs = function_class("rkhs", kernel=kernel)
    resampled = sampling_margin(one_hot_problem(), rkhs)
    monkeypatch.setattr("mprlib.function_classes.rkhs.LARGEST_EIGEN_CELLS", 0)
    assert resampled < sampling_margin(one_hot_problem(), rkhs) < 10 * resampled


def test_margin_falls_with_the_sample():
    small, large = (one_hot_problem(m=m) for m in (200, 20_000))
    assert sampling_margin(large, "groups") < sampling_margin(small, "groups") / 5


def test_same_seed_same_margin():
    assert sampling_margin(one_hot_problem(), seed=5) == sampling_margin(one_hot_problem(), seed=5)


@pytest.mark.parametrize("name", ["linear", "rkhs", "groups", "saturated"])
def test_formula_is_the_oracles_value(name):
    problem = one_hot_problem()
    oracle = function_class(name).bind(problem)
    weights = np.random.default_rng(0).dirichlet(np.ones(problem.n), size=3)
    differences = np.array([cells_of(problem).differences(row) for row in weights])
    expected = [oracle.worst_case(row).value for row in weights]
    assert closed_form_gaps(oracle, differences) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("setting", [{"confidence": 1.0}, {"confidence": 0.0}, {"resamples": 0}])
def test_refuses_bad_settings(setting):
    with pytest.raises(InputError, match=next(iter(setting))):
        sampling_margin(one_hot_problem(), **setting)


def drawn_problem(random, shares, target, k):
    """k draws of cells with these shares (G,), beside a stated target (G,)."""
    cells = np.eye(shares.size)
    return Problem(
        scores=np.ones(k),
        labels=cells[random.choice(shares.size, k, p=shares)],
        reference=cells,
        reference_weights=target,
        reference_size=10_000,
        k=k,
        attributes={"cell": list(range(shares.size))},
    )


@pytest.mark.parametrize("name", ["linear", "saturated", "groups", "rkhs"])
@pytest.mark.parametrize(("cells", "k"), [(2, 10), (2, 100), (6, 20), (40, 50)])
def test_the_error_of_items_that_are_draws_is_covered(name, cells, k):
    """MPR of what a generator would make, in the units that its pictures give."""
    random, covered, audits = np.random.default_rng(cells + k), 0, 100
    for audit in range(audits):
        target = random.dirichlet(np.full(cells, 3.0))
        shares = target if audit % 3 == 0 else random.dirichlet(np.ones(cells))
        problem = drawn_problem(random, shares, target, k)
        items = np.arange(k)
        found, margin = measure(problem, items, name), sampling_margin(problem, name, items=items, resamples=200)
        difference = (shares - target)[np.argmax(cells_of(problem).labels, axis=1)]
        (true,) = closed_form_gaps(function_class(name).bind(problem), difference[None, :])
        covered += found.value - margin <= true <= found.upper_bound + margin
    assert covered / audits >= 0.9


def test_items_that_are_draws_widen_the_margin_of_a_sample():
    problem = one_hot_problem()
    items = np.arange(problem.k)
    for name in FUNCTION_CLASSES:
        assert sampling_margin(problem, name, items=items, resamples=200) >= sampling_margin(
            problem, name, resamples=200
        )
    for wrong in ([0, 0], range(problem.k + 1)):
        with pytest.raises(InputError, match="items"):
            sampling_margin(problem, items=list(wrong))


def test_draws_in_places_that_count_unlike_have_a_larger_error():
    problem = one_hot_problem()
    items = np.arange(problem.k)
    for name in ("linear", "saturated", "groups", "rkhs"):
        alike, unlike = (sampling_margin(problem, name, items=items, attention=one) for one in ("uniform", "log2"))
        if not function_class(name).is_normalised:
            assert unlike > alike
        # Equal weights by another name draw item by item, and only then differ by chance.
        given = sampling_margin(problem, name, items=items, attention=[1.0] * (problem.k - 1) + [1.0 + 1e-9])
        assert given == pytest.approx(alike, rel=0.1)


def test_resamples_that_are_at_hand_are_of_one_call():
    others = Resamples.drawn(one_hot_problem().population, 50, [7, 0])
    problem = one_hot_problem()
    of_others = sampling_margin(problem, "groups", drawn=others, resamples=50)
    assert sampling_margin(problem, "groups", resamples=50) == sampling_margin(
        one_hot_problem(), "groups", resamples=50
    )
    assert sampling_margin(problem, "groups", drawn=others, resamples=50) == of_others
    assert of_others != sampling_margin(problem, "groups", resamples=50)


@pytest.mark.parametrize("name", ["linear", "groups", "saturated", "tree", "rkhs", "mlp"])
def test_stated_shares_have_no_error(name):
    reference = Reference.from_shares({"g": {"f": 0.5, "m": 0.5}})
    people = {"g": ["f", "m", "m", "m"], "score": [0.9, 0.8, 0.7, 0.6]}
    problem = Problem.from_frames(people, reference, score="score", attributes=["g"], k=2)
    found = measure(problem, [1, 2], name)
    assert sampling_margin(problem, name) == 0.0
    assert sampling_interval(problem, [1, 2], name) == (found.value, found.upper_bound)
    # Draws have an error of their own.
    assert sampling_margin(problem, name, items=[1, 2]) > 0
