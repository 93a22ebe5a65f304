"""Every class answers problems that have hardly anything in them, and labels in any unit."""

from dataclasses import replace

import numpy as np
import pytest

from mprlib import FUNCTION_CLASSES, METHODS, Problem, Saturated, measure, sweep
from mprlib.function_classes.forest import Forest
from mprlib.statistics import sampling_margin
from tests.method_arrays import needed
from tests.populations import one_hot_problem

# References of a row or two are the point here.
pytestmark = pytest.mark.filterwarnings("ignore::mprlib.AssumptionWarning")
EACH_CLASS = pytest.mark.parametrize("name", FUNCTION_CLASSES)
# Classes whose values do not depend on a column's unit and origin; a linear function has no intercept.
SEES_ORDER = ("tree", "tree_greedy", "forest", "saturated")
SEES_DISTANCES = ("rkhs", "mlp")


def problem(labels, reference, *, k: int = 2, **fields) -> Problem:
    labels = np.asarray(labels, dtype=float)
    return Problem(scores=np.arange(len(labels))[::-1], labels=labels, reference=reference, k=k, **fields)


@EACH_CLASS
@pytest.mark.parametrize(
    ("labels", "reference", "k"),
    [
        ([[1, 0]] * 3, [[1, 0]], 2),
        ([[1, 0]] * 3, [[1, 0]] * 5, 3),
        ([[0, 0]] * 3, [[0, 0]] * 2, 2),
        ([[7, 7]] * 3, [[7, 7]], 1),
        ([[1, 0]], [[1, 0]], 1),
    ],
    ids=["one cell", "all items", "all zero", "constant", "one item"],
)
def test_one_cell_has_no_gap(name, labels, reference, k):
    given = problem(labels, reference, k=k)
    result = measure(given, range(k), name)
    assert result.value == 0 and "No function" in str(result.witness)
    assert sampling_margin(given, name, resamples=10) >= 0


@EACH_CLASS
@pytest.mark.parametrize(
    ("labels", "reference"),
    [
        ([[1, 0]] * 2, [[0, 1]]),
        ([[1, 0], [0, 1]], [[0, 1]]),
        ([[0, 1], [1, 0], [1, 0]], [[1, 0]] * 4),
        ([[1, 1], [1, 0]], [[1, 0]]),
        ([[5, 0], [0, 5]], [[5, 0], [0, 5], [5, 5]]),
    ],
    ids=["apart", "one-sided", "a level that the reference lacks", "a constant column", "a cell that the pool lacks"],
)
def test_what_one_side_lacks_is_seen(name, labels, reference):
    result = measure(problem(labels, reference, k=1), [0], name)
    assert 0 < result.value <= result.upper_bound


@EACH_CLASS
def test_two_cells_by_hand(name):
    """One item shown of each cell's one, against the other cell: p - q = (1, -1), N = (1, 1), D = 1/2."""
    given = problem([[1, 0]], [[0, 1]], k=1)
    # The kernel's bandwidth is the distance of the two.
    expected = np.sqrt(2 - 2 * np.exp(-0.5)) if name == "rkhs" else 1.0
    value = measure(given, [0], name).value
    if name == "mlp_trained":
        # Its training stops after few rounds, wherever it is.
        assert 0 < value <= expected
    else:
        assert value == pytest.approx(expected, abs=0.15 if name == "forest" else 1e-9)


@EACH_CLASS
@pytest.mark.parametrize("weight", [0.0, 1e-310, 1e-200, 1e-120])
def test_rows_of_no_weight_are_no_rows(name, weight):
    """Also where their levels are nobody else's."""
    full = one_hot_problem(n=60, m=30, k=10)
    extra = np.zeros((3, full.labels.shape[1]))
    given = replace(
        full,
        reference=np.concatenate([full.reference, extra]),
        reference_weights=[1.0] * 30 + [weight] * 3,
    )
    assert measure(given, range(10), name).value == pytest.approx(measure(full, range(10), name).value, abs=1e-12)


@EACH_CLASS
def test_a_level_of_little_weight_hides_no_gap(name):
    """A function of a level that hardly anybody has may be of any size; it must not set what counts as rounding."""
    full = one_hot_problem(n=60, m=30, k=10)
    width = full.labels.shape[1]
    given = Problem(
        scores=full.scores,
        labels=np.pad(full.labels, ((0, 0), (0, 1))),
        reference=np.concatenate([np.pad(full.reference, ((0, 0), (0, 1))), np.eye(width + 1)[-1:]]),
        reference_weights=[1.0] * 30 + [1e-40],
        k=10,
    )
    least = 0.03 if name == "mlp_trained" else 0.05
    assert measure(given, range(10), name).value > 0.5 * measure(full, range(10), name).value > least


@pytest.mark.parametrize(("scale", "shift"), [(1e150, 0.0), (1e-150, 0.0), (1.0, 2.0**30), (2.0**-30, 1.0)])
@pytest.mark.parametrize("name", [*SEES_ORDER, *SEES_DISTANCES])
def test_the_unit_of_labels_does_not_matter(name, scale, shift):
    random = np.random.default_rng(0)
    # Three binary places, so that scales and shifts by powers of two round nothing.
    labels, reference = (np.round(random.random((rows, 2)) * 8) / 8 for rows in (40, 30))
    one = problem(labels, reference, k=10)
    other = problem(labels * scale + shift, reference * scale + shift, k=10)
    expected = measure(one, range(10), name).value
    assert expected > 0
    assert measure(other, range(10), name).value == pytest.approx(expected, rel=1e-3 if name == "mlp" else 1e-6)


@pytest.mark.parametrize("name", ["linear", "linear_regression"])
def test_the_unit_of_each_column_does_not_matter_to_linear_functions(name):
    random = np.random.default_rng(0)
    labels, reference = random.random((40, 3)), random.random((30, 3))
    units = np.array([1e150, 1.0, 1e-150])
    expected = measure(problem(labels, reference, k=10), range(10), name).value
    scaled = measure(problem(labels * units, reference * units, k=10), range(10), name)
    assert scaled.value == pytest.approx(expected, rel=1e-6)


def test_a_forest_of_one_cell_or_of_a_large_stated_size_is_grown():
    given = problem([[1, 0]] * 3, [[1, 0]])
    assert measure(given, [0, 1], Forest(depth=3, trees=5)).value == 0
    stated = one_hot_problem(n=60, m=30, k=10, reference_size=1e9)
    assert 0 < measure(stated, range(10), Forest(trees=5)).value <= 1


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if not method.is_constrained])
@pytest.mark.parametrize(
    ("labels", "k"), [([[1, 0]] * 3, 2), ([[0, 0]] * 3, 3), ([[1, 0]], 1), ([[1, 0], [0, 1], [0, 1]], 3)]
)
def test_methods_answer_them_too(method, labels, k):
    rows = len(labels)
    given = problem(labels, [[1, 0]], k=k, embeddings=np.ones((rows, 2)), query=np.ones(2))
    value = METHODS[method].grid(given, Saturated().bind(given), 3)[-1]
    [selection] = sweep(given, method, [value], "saturated", **needed(method, 2))
    assert selection.status == "done" and len(set(selection.items.tolist())) == k
