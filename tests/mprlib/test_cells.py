import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mprlib import Problem
from mprlib.arrays import distinct_rows
from mprlib.attention import attended
from mprlib.cells import cells_of, selection_weights


def test_worked_example():
    problem = Problem(scores=[3.0, 2.0, 1.0], labels=[[0], [0], [1]], reference=[[0], [1]], k=1)
    cells = cells_of(problem)
    order = np.argsort(cells.labels[:, 0])
    assert cells.labels[order, 0].tolist() == [0, 1]
    assert cells.pool_counts[order].tolist() == [2, 1]
    assert cells.masses[order] == pytest.approx([3, 2])
    weights = selection_weights(problem, np.array([0]))
    assert cells.shares(weights)[order].tolist() == [1, 0]
    assert cells.differences(weights)[order].tolist() == [0.5, -0.5]
    assert problem.scale == pytest.approx(2 / 3)


@pytest.mark.parametrize("is_ordered", [False, True])
def test_a_selection_by_itself_has_the_shares_of_its_weights(is_ordered):
    """To the last bit, as values that are compared follow from them."""
    generator = np.random.default_rng(0)
    labels = np.eye(4)[generator.integers(0, 4, 300)]
    plain = Problem(scores=generator.random(300), labels=labels, reference=labels[:70], k=33)
    problem = attended(plain, "log2") if is_ordered else plain
    cells = cells_of(problem)
    for _ in range(20):
        items = generator.choice(300, 33, replace=False)
        weights = selection_weights(problem, items)
        assert cells.shares_of(items, problem.place_weights).tolist() == cells.shares(weights).tolist()
        assert cells.differences_of(items, problem.place_weights).tolist() == cells.differences(weights).tolist()


def test_weights_count_effective_rows_and_zero_weight_opens_no_cell():
    problem = Problem(scores=[1.0], labels=[[0]], reference=[[0], [1], [2]], reference_weights=[3, 1, 0], k=1)
    cells = cells_of(problem)
    order = np.argsort(cells.labels[:, 0])
    assert cells.labels[order, 0].tolist() == [0, 1]
    assert cells.reference_shares[order] == pytest.approx([0.75, 0.25])
    assert cells.masses[order] == pytest.approx([1 + problem.m * 0.75, problem.m * 0.25])


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.sampled_from([-1.0, 0.0, 0.5, 1e9])
    )
)
def test_distinct_rows_are_those_of_numpy(rows):
    labels, cell = distinct_rows(rows)
    assert np.array_equal(labels[cell], rows)
    assert {tuple(row) for row in labels} == {tuple(row) for row in rows}
    assert len(labels) == len(np.unique(rows, axis=0))


def test_cells_do_not_depend_on_the_order_of_rows():
    rows = np.random.default_rng(0).integers(0, 3, (200, 3)).astype(float)
    shuffled = np.random.default_rng(1).permutation(rows)
    assert np.array_equal(distinct_rows(rows)[0], distinct_rows(shuffled)[0])
