"""Merging equal rows into cells loses nothing: each row as a cell of its own gives the same values."""

import numpy as np
import pytest

from mprlib import measure
from mprlib.cells import cells_of
from tests.populations import one_hot_problem

CLASSES = {
    "linear": {},
    "tree": {},
    "tree_greedy": {},
    "forest": {"trees": 10},
    "rkhs": {"bandwidth": 1.0},
    "groups": {},
}


@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal rows", "weighted rows"])
@pytest.mark.parametrize("name", CLASSES)
def test_one_cell_a_row_gives_the_same_value(name, is_weighted, monkeypatch):
    weights = np.random.default_rng(1).random(200) if is_weighted else None
    merged = measure(one_hot_problem(levels=(2, 3, 4), reference_weights=weights), range(20), name, **CLASSES[name])
    for module in ("cells", "cell_table"):
        monkeypatch.setattr(f"mprlib.{module}.distinct_rows", lambda rows: (rows, np.arange(rows.shape[0])))
    problem = one_hot_problem(levels=(2, 3, 4), reference_weights=weights)
    apart = measure(problem, range(20), name, **CLASSES[name])
    assert cells_of(problem).size == 500
    assert apart.value == pytest.approx(merged.value, abs=1e-10)
    assert name in ("tree_greedy", "forest") or apart.is_exact
