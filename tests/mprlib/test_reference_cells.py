"""A reference in cells is its rows, to the last bit, and the same whichever way it was parted."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mprlib
from mprlib import FUNCTION_CLASSES, InputError, Problem, Reference
from mprlib.cells import cells_of
from mprlib.exact_sums import ExactSums
from mprlib.statistics import sampling_margin
from tests.populations import one_hot_problem, one_hot_rows

WEIGHTS = {
    "equal rows": lambda random, rows: None,
    "weighted": lambda random, rows: random.lognormal(sigma=1.0, size=rows),
    "some without a weight": lambda random, rows: random.integers(0, 3, size=rows) * 0.1,
    "far apart": lambda random, rows: 10.0 ** random.integers(-90, 90, size=rows),
}
# Whose values a bootstrap of rows decides.
DRAWS_ROWS = {name for name, kind in FUNCTION_CLASSES.items() if kind.draws_rows}


def content(reference: Reference) -> list:
    table = reference.table
    sums = [(one.start, one.digits.tolist()) for one in table.powers]
    return [table.labels.tolist(), table.counts.tolist(), sums, table.lightest, table.heaviest, table.rows]


@pytest.fixture(params=WEIGHTS)
def rows(request):
    random = np.random.default_rng(3)
    labels = one_hot_rows(random, 500, (2, 3, 4))
    return labels, WEIGHTS[request.param](random, 500)


def test_any_parts_in_any_order_make_the_same_table(rows):
    labels, weights = rows
    whole = Reference.of(labels, weights)
    random = np.random.default_rng(4)
    for parts in (2, 7, 60):
        order = random.permutation(len(labels))
        pieces = [
            Reference.of(labels[piece], None if weights is None else weights[piece])
            for piece in np.array_split(order, parts)
            if weights is None or weights[piece].any()
        ]
        merged = Reference.merged([Reference.merged(pieces[1:]), pieces[0]])
        # A piece whose rows have no weight is no reference, and was left out.
        assert content(merged)[:-1] == content(whole)[:-1]
        assert merged.shares.tolist() == whole.shares.tolist()
        assert merged.effective_size == whole.effective_size


def test_shares_and_effective_size_are_rounded_once(rows):
    labels, weights = rows
    reference = Reference.of(labels, weights)
    given = [Fraction(1)] * len(labels) if weights is None else [Fraction(float(weight)) for weight in weights]
    for cell, share in zip(reference.labels, reference.shares):
        own = sum(weight for row, weight in zip(labels, given) if (row == cell).all())
        assert share == float(own / sum(given))
    assert reference.effective_size == pytest.approx(float(sum(given) ** 2 / sum(one**2 for one in given)), rel=1e-15)


def test_rows_that_count_alike_are_counted_exactly():
    reference = Reference.of(np.repeat([[0.0], [1.0]], [3, 7], axis=0), np.full(10, 0.1))
    assert reference.effective_size == 10.0
    assert sorted(reference.effective_counts.tolist()) == [3.0, 7.0]


@pytest.mark.parametrize("name", sorted(set(FUNCTION_CLASSES) - DRAWS_ROWS))
def test_every_class_sees_in_cells_what_it_sees_in_rows(name, rows):
    labels, weights = rows
    of_rows = one_hot_problem(levels=(2, 3, 4), reference=labels, reference_weights=weights)
    in_cells = one_hot_problem(levels=(2, 3, 4), reference=Reference.of(labels, weights))
    assert in_cells.m == of_rows.m
    found, expected = (mprlib.measure(problem, range(20), name) for problem in (in_cells, of_rows))
    assert found == expected
    assert sampling_margin(in_cells, name, resamples=50) == sampling_margin(of_rows, name, resamples=50)


def test_a_sweep_is_the_same(rows):
    labels, weights = rows
    sides = (
        one_hot_problem(levels=(2, 3, 4), reference=labels, reference_weights=weights),
        one_hot_problem(levels=(2, 3, 4), reference=Reference.of(labels, weights)),
    )
    found, expected = (mprlib.sweep(problem, "mopr", [0.3, 0.1, 0.05]) for problem in sides)
    for one, other in zip(found, expected):
        assert one.items.tolist() == other.items.tolist()
        assert (one.mpr, one.similarity_bound, one.status) == (other.mpr, other.similarity_bound, other.status)


def test_a_forest_on_cells_has_the_distribution_of_one_on_rows():
    labels = one_hot_rows(np.random.default_rng(5), 400, (2, 3))
    sides = [one_hot_problem(levels=(2, 3), reference=one) for one in (labels, Reference.of(labels))]
    values = [
        [mprlib.measure(problem, range(20), "forest", trees=5, seed=seed).value for seed in range(60)]
        for problem in sides
    ]
    error = np.hypot(*(np.std(of_side) / np.sqrt(60) for of_side in values))
    assert abs(np.mean(values[0]) - np.mean(values[1])) < 4 * error


def test_is_kept_as_it_is_by_pickle(rows):
    reference = Reference.of(*rows)
    assert content(pickle.loads(pickle.dumps(reference))) == content(reference)
    with pytest.raises(ValueError, match="read-only"):
        reference.labels[0] = 2


@pytest.mark.parametrize("frame", [pd.DataFrame, pa.table], ids=["pandas", "pyarrow"])
def test_people_of_a_frame(frame):
    people = {"sex": list("fmmm"), "age": [30, 40, 40, 50], "weight": [2.0, 1.0, 1.0, 0.0], "name": list("abcd")}
    reference = Reference.from_frame(frame(people), ["sex", "age"], weight="weight")
    assert reference.label_names == ("sex=f", "sex=m", "age=30", "age=40", "age=50")
    assert reference.attributes == {"sex": ("sex=f", "sex=m"), "age": ("age=30", "age=40", "age=50")}
    assert (reference.shares @ reference.labels).tolist() == [0.5, 0.5, 0.5, 0.5, 0.0]
    assert reference.is_sample and reference.table.rows == 4
    for columns, weight, message in (
        (["gender"], None, "no column 'gender'"),
        (["sex"], "wage", "no column 'wage'"),
        (["sex"], "name", "weights holds text"),
    ):
        with pytest.raises(InputError, match=message):
            Reference.from_frame(frame(people), columns, weight=weight)


def test_stated_shares():
    reference = Reference.from_shares({"sex": {"f": 0.25, "m": 0.75}, "age": {"young": 0.5, "old": 0.5}}, size=400)
    assert reference.label_names == ("sex=f", "sex=m", "age=young", "age=old")
    assert (reference.shares @ reference.labels).tolist() == [0.25, 0.75, 0.5, 0.5]
    assert reference.effective_size == 400 and not reference.is_sample
    joint = Reference.from_shares({("sex", "age"): {("f", "young"): 0.5, ("m", "old"): 0.5}})
    assert joint.shares.tolist() == [0.5, 0.5] and joint.effective_size == 10_000
    with pytest.raises(InputError, match="sum to 0.9"):
        Reference.from_shares({"sex": {"f": 0.25, "m": 0.65}})
    with pytest.raises(InputError, match="shares is empty"):
        Reference.from_shares({})


def test_columns_are_matched_by_name():
    reference = Reference.from_shares({"sex": {"f": 0.25, "m": 0.75}}, size=100)
    fields = {"scores": [1.0, 0.5], "k": 1, "reference": reference}
    by_frame = Problem(labels=pd.DataFrame({"sex=m": [1, 0], "sex=f": [0, 1]}), **fields)
    by_name = Problem(labels=[[1, 0], [0, 1]], label_names=["sex=m", "sex=f"], **fields)
    by_place = Problem(labels=[[0, 1], [1, 0]], **fields)
    for problem in (by_frame, by_name, by_place):
        assert mprlib.measure(problem, [0], "groups").value == 0.25
        assert set(problem.attributes) == {"sex"}
    assert by_place.label_names == reference.label_names
    with pytest.raises(InputError, match="reference"):
        Problem(labels=pd.DataFrame({"sex=m": [1, 0], "sex=x": [0, 1]}), **fields)
    with pytest.raises(InputError, match="holds its weights"):
        Problem(labels=[[0, 1], [1, 0]], reference_weights=[1, 1], **fields)
    with pytest.raises(InputError, match="reference has 2 columns, labels has 1"):
        Problem(labels=[[0], [1]], **fields)


def test_a_stated_size_makes_a_sample_a_statement():
    reference = Reference.of([[0.0], [1.0]])
    problem = Problem(scores=[1.0], labels=[[0.0]], reference=reference, reference_size=500, k=1)
    assert problem.m == 500 and not problem.population.is_sample
    assert problem.population.effective_counts.tolist() == [250.0, 250.0]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "parts is empty"),
        ([Reference.of([[0.0]]), Reference.of([[0.0, 1.0]])], "different columns"),
        ([Reference.of([[0.0]], size=10)], "stated population"),
    ],
)
def test_refuses_parts_that_are_none(parts, message):
    with pytest.raises(InputError, match=message):
        Reference.merged(parts)


def test_fewer_columns_are_the_same_people():
    labels = one_hot_rows(np.random.default_rng(6), 300, (2, 3, 4))
    weights = np.random.default_rng(6).random(300)
    assert content(Reference.of(labels, weights).of_columns([3, 2, 0])) == content(
        Reference.of(labels[:, [3, 2, 0]], weights)
    )


def test_sums_are_exact_for_doubles_of_any_size():
    random = np.random.default_rng(7)
    values = np.ldexp(random.random(2000), random.integers(-1000, 1000, size=2000))
    values[:3] = [5e-324, np.finfo(float).max, np.finfo(float).tiny]
    groups = random.integers(0, 5, size=2000)
    sums = ExactSums.of(groups, values, count=5)
    unit = Fraction(2) ** sums.exponent
    expected = [sum((Fraction(float(one)) for one in values[groups == group]), Fraction(0)) for group in range(5)]
    assert [whole * unit for whole in sums.integers()] == expected


def test_cells_of_a_problem_do_not_copy_a_million_rows():
    labels = np.eye(2)[np.arange(1_000_000) % 2]
    problem = Problem(scores=[1.0, 0.0], labels=[[1, 0], [0, 1]], reference=Reference.of(labels), k=1)
    assert cells_of(problem).reference_cell.size == 2
