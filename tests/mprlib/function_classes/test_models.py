"""scikit-learn models handed in as oracles."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from mprlib import Classifier, InputError, Problem, Regressor, measure, select
from mprlib.function_classes.tree import Tree
from mprlib.registry import display_name
from tests.populations import one_hot_problem


def test_a_linear_model_gives_the_linear_class():
    problem = one_hot_problem()
    expected = measure(problem, range(20), "linear").value
    result = measure(problem, range(20), Regressor(model=LinearRegression(fit_intercept=False)))
    assert result.value == pytest.approx(expected, abs=1e-10)
    assert not result.is_exact
    assert result.upper_bound == pytest.approx(measure(problem, range(20), "saturated").value)


def test_a_model_without_weights_is_fitted_on_rows():
    problem = one_hot_problem()
    unweighted = make_pipeline(FunctionTransformer(), LinearRegression(fit_intercept=False))
    result = measure(problem, range(20), Regressor(model=unweighted))
    assert result.value == pytest.approx(measure(problem, range(20), "linear").value, abs=1e-10)
    weighted = replace(problem, reference_weights=np.random.default_rng(0).random(200))
    with pytest.raises(InputError, match="sample_weight"):
        measure(weighted, range(20), Regressor(model=unweighted))


def test_a_model_that_predicts_zero_sees_no_gap():
    result = measure(one_hot_problem(), range(20), Regressor(model=DummyRegressor(strategy="constant", constant=0.0)))
    assert result.value == 0.0
    assert result.upper_bound > 0


def test_a_classifier_finds_the_signed_tree():
    """A full tree separates all cells: the gap of the best of all signs."""
    problem = one_hot_problem()
    result = measure(problem, range(20), Classifier(model=DecisionTreeClassifier(random_state=0)))
    assert result.value == pytest.approx(result.upper_bound, abs=1e-12)
    assert result.chi is None
    assert result.value >= measure(problem, range(20), "tree", signed=True).value - 1e-12


def test_a_weak_classifier_stays_below_the_bound():
    result = measure(one_hot_problem(), range(20), Classifier(model=LogisticRegression()))
    assert 0 < result.value < result.upper_bound


def test_a_classifier_without_a_gap_sees_none():
    problem = Problem(scores=[0, 0], labels=[[0], [1]], reference=[[0], [1]], k=2)
    assert measure(problem, [0, 1], Classifier(model=LogisticRegression())).value == 0


def test_a_bare_model_is_wrapped_by_what_it_is():
    problem = one_hot_problem()
    regressor, classifier = LinearRegression(fit_intercept=False), LogisticRegression()
    assert measure(problem, range(20), regressor) == measure(problem, range(20), Regressor(model=regressor))
    assert measure(problem, range(20), classifier) == measure(problem, range(20), Classifier(model=classifier))


def test_a_selection_method_takes_an_instance():
    selection = select(one_hot_problem(), "top_k", function_class=Regressor(model=LinearRegression()))
    assert selection.mpr > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Regressor(model=3), "without fit"),
        (lambda: Classifier(model=object()), "without fit"),
        (lambda: Regressor(model=LinearRegression), "is a class, LinearRegression: an unfitted regressor"),
        (lambda: measure(one_hot_problem(), range(20), Classifier(model=KNeighborsClassifier())), "sample_weight"),
        (lambda: measure(one_hot_problem(), range(20), Regressor), "function_class"),
        (lambda: measure(one_hot_problem(), range(20), Regressor(model=LinearRegression()), depth=2), "depth"),
        (lambda: measure(one_hot_problem(), range(20), "forrest"), "did you mean 'forest'"),
        (lambda: measure(one_hot_problem(), range(20), "linear", depth=2), "no setting 'depth'"),
    ],
)
def test_refuses_what_is_no_oracle(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_an_instance_has_a_name():
    assert display_name(Regressor(model=LinearRegression())) == "regressor(model=LinearRegression())"
    assert display_name(Tree(depth=2)) == "tree(depth=2)"
