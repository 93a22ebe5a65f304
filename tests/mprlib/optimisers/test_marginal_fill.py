"""Counts of cells with given marginals that lose least, against all counts of small problems."""

from itertools import product

import numpy as np
import pytest

from mprlib.optimisers.whole.marginal_fill_kernel import cheapest_fill, repriced, searched
from mprlib.optimisers.whole.marginal_loss_kernel import Cells, least_of, prepare

SIZES = (2, 3)
K = 4


def small_cells(random):
    """Cells of two attributes with convex losses, and now and then one more column that all share."""
    column = np.array([[one, SIZES[0] + other, sum(SIZES)] for one in range(SIZES[0]) for other in range(SIZES[1])])
    capacity = random.integers(0, 4, len(column))
    slopes = np.sort(random.normal(size=(len(column), K)).round(1), axis=1)
    sums = np.column_stack([np.zeros(len(column)), np.cumsum(slopes, axis=1)])
    sums[np.arange(K + 1) > capacity[:, None]] = np.inf
    attributes, columns = (3, 6) if random.random() < 0.5 else (2, 5)
    return Cells(
        column=column[:, :attributes].astype(np.int64),
        attribute=np.array([0, 0, 1, 1, 1, 2])[:columns],
        capacity=capacity.astype(np.int64),
        loss=sums - sums.min(axis=1)[:, None],
        last=np.array([1, 4]),
        known=np.ones(columns, np.int64),
    )


def with_marginals(cells, marginals):
    """The losses of all counts with these marginals, by the counts."""
    found = {}
    for counts in product(*(range(most + 1) for most in cells.capacity)):
        sums = np.zeros(marginals.size, np.int64)
        np.add.at(sums, cells.column, np.array(counts)[:, None])
        if np.array_equal(sums, marginals):
            found[counts] = sum(cells.loss[cell, count] for cell, count in enumerate(counts))
    return found


def some_marginals(cells, random):
    """Marginals of K items, of which the cells may have none."""
    drawn = [random.multinomial(K, np.full(size, 1 / size)) for size in SIZES]
    return np.concatenate([*drawn, [K]])[: cells.known.size].astype(np.int64)


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_counts_are_found(seed):
    random = np.random.default_rng(seed)
    cells = small_cells(random)
    marginals, budget = some_marginals(cells, random), float(random.choice([0.3, 1.0, 3.0, np.inf]))
    possible = with_marginals(cells, marginals)
    least = min(possible.values(), default=np.inf)
    counts = np.zeros(len(cells.capacity), np.int64)
    lost, _ = cheapest_fill(cells, prepare(cells, budget, K), marginals, budget, 10_000, False, counts)
    if least >= budget - 1e-9:
        assert lost == np.inf
    else:
        assert lost == pytest.approx(least)
        assert possible[tuple(counts.tolist())] == pytest.approx(least)


@pytest.mark.parametrize("seed", range(20))
def test_any_counts_will_do(seed):
    random = np.random.default_rng([1, seed])
    cells = small_cells(random)._replace(loss=np.zeros((6, K + 1)))
    marginals = some_marginals(cells, random)
    possible, counts = with_marginals(cells, marginals), np.zeros(6, np.int64)
    fill = prepare(cells, np.inf, K)
    for is_falling in (False, True):
        lost, _ = searched(cells, fill, marginals, np.inf, 10_000, (True, is_falling), counts)
        assert (lost < np.inf) == bool(possible)
        assert not possible or tuple(counts.tolist()) in possible


@pytest.mark.parametrize("seed", range(40))
def test_no_bound_is_above_what_counts_lose(seed):
    random = np.random.default_rng([2, seed])
    cells = small_cells(random)
    marginals = some_marginals(cells, random)
    possible = with_marginals(cells, marginals)
    fill = prepare(cells, np.inf, K)
    priced, part = repriced(cells, fill, marginals)
    for counts, loss in possible.items():
        for attribute in range(len(SIZES)):
            columns = np.flatnonzero(cells.attribute == attribute)
            assert sum(least_of(cells, fill, column, marginals[column]) for column in columns) <= loss + 1e-9
        assert part <= loss + 1e-9
        at_prices = sum(priced.loss[cell, count] for cell, count in enumerate(counts))
        assert part + at_prices == pytest.approx(loss)


def test_a_search_that_runs_out_of_nodes_says_so():
    random = np.random.default_rng(3)
    cells = small_cells(random)
    counts = np.array([min(2, most) for most in cells.capacity])
    marginals = np.zeros(cells.known.size, np.int64)
    np.add.at(marginals, cells.column, counts[:, None])
    fill = prepare(cells, np.inf, K)
    _, visited = cheapest_fill(cells, fill, marginals, np.inf, 1, False, np.zeros(6, np.int64))
    assert visited > 1
