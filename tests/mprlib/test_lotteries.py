"""What lotteries show does not depend on how a problem is written down."""

import numpy as np
import pytest

import mprlib

LEVELS = {"sex": 2, "race": 4, "age": 3}
NAMES = [f"{attribute}={level}" for attribute, levels in LEVELS.items() for level in range(levels)]
ORDERS = [list(range(9))[::-1], [*range(2, 9), 0, 1], [4, 0, 8, 2, 6, 1, 3, 7, 5]]


def problem(columns, *, is_named, k=20, is_continuous=False):
    random = np.random.default_rng(0)
    codes = [
        random.choice(levels, 300, p=np.arange(1, levels + 1) / sum(range(levels + 1))) for levels in LEVELS.values()
    ]
    rows = np.hstack([np.eye(levels)[code] for levels, code in zip(LEVELS.values(), codes)])
    if is_continuous:
        rows = random.standard_normal((700, 9))
    names = {"label_names": [NAMES[column] for column in columns]} if is_named else {}
    labels = rows[random.integers(0, len(rows), 200)]
    return mprlib.Problem(
        scores=random.random(200), labels=labels[:, columns], reference=rows[:, columns], k=k, **names
    )


@pytest.mark.parametrize("is_continuous", [False, True])
@pytest.mark.parametrize("is_named", [False, True])
@pytest.mark.parametrize("attention", ["uniform", "log2"])
def test_no_order_of_columns_changes_what_every_function_of_the_labels_shows(is_named, attention, is_continuous):
    found = [
        mprlib.measure(
            problem(order, is_named=is_named, is_continuous=is_continuous), range(20), "saturated", attention=attention
        )
        for order in [list(range(9)), *ORDERS]
    ]
    assert {one.chance_level for one in found} == {found[0].chance_level}
    assert {one.p_value for one in found} == {found[0].p_value}


def test_no_order_of_columns_changes_the_set_that_is_as_even_as_a_lottery():
    found = [
        mprlib.select(problem(order, is_named=True), "mopr", "chance", "saturated")
        for order in [list(range(9)), *ORDERS]
    ]
    assert all(one.rho == found[0].rho and np.array_equal(one.items, found[0].items) for one in found)
