"""Prices of limits on groups: their bound is the one that HiGHS proves, and their rays rule out what HiGHS does."""

import numpy as np
import pytest

from mprlib import Problem
from mprlib.cells import cells_of
from mprlib.function_classes.groups import Groups
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.highs.programmes import RangedProgramme
from mprlib.optimisers.ranged_programme import RangedCells
from mprlib.optimisers.relaxation import top_sum
from mprlib.optimisers.whole.group_limits import GroupProof


def case_of(seed: int):
    """A pool with ties in score, its groups, and the two programmes."""
    random = np.random.default_rng(seed)
    sizes, n = (2, 3, 4), int(random.integers(8, 120))
    codes = [random.integers(0, size, n) for size in sizes]
    rows = np.concatenate([np.eye(size)[code] for size, code in zip(sizes, codes)], axis=1)
    problem = Problem(
        scores=np.round(random.random(n), 2 if seed % 2 else 9),
        labels=rows,
        reference=np.concatenate([rows, np.eye(9)]),
        k=int(random.integers(2, n)),
        attributes={"a": [0, 1], "b": [2, 3, 4], "c": [5, 6, 7, 8]},
    )
    oracle = Groups().bind(problem)
    pool = cell_pool_of(problem, cells_of(problem))
    groups = len(oracle.names)
    other = RangedProgramme(pool.scores, oracle.codes[:, pool.cell], groups, pool.k)
    return problem, oracle, pool, RangedCells(pool, oracle.codes, groups), other


def bound_of(oracle, pool, price, low, high) -> float:
    of_items = price[oracle.codes].sum(axis=0)[pool.cell]
    return top_sum(pool.scores - of_items, pool.k) + float(np.where(price > 0, high, low) @ price)


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_is_that_of_highs_for_limit_after_limit(seed):
    problem, oracle, pool, own, other = case_of(seed)
    proof = GroupProof.of(pool, oracle)
    for rho in (0.4, 0.2, 0.1, 0.05, 0.3):
        low, high = (one.astype(float) for one in proof._limits(rho))
        if (low > high).any():
            continue
        found, expected = own.priced(low, high), other.priced(low, high)
        assert found.is_infeasible == expected.is_infeasible
        if found.is_infeasible:
            assert proof._is_ruled_out(found.price, low, high)
        else:
            least = bound_of(oracle, pool, expected.price, low, high)
            assert abs(bound_of(oracle, pool, found.price, low, high) - least) <= 1e-8 * problem.k
    assert own._other is None


def test_where_rounding_spoils_the_basis_highs_goes_on(monkeypatch):
    _, oracle, pool, own, other = case_of(2)
    monkeypatch.setattr(own, "_most_steps", 0)
    low, high = (one.astype(float) for one in GroupProof.of(pool, oracle)._limits(0.3))
    assert np.allclose(own.priced(low, high).price, other.priced(low, high).price)
