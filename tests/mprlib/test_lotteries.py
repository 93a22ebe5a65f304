"""What lotteries show does not depend on how a problem is written down."""

from itertools import permutations

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


def test_no_order_of_columns_without_names_changes_it_where_their_shares_are_equal():
    random = np.random.default_rng(4)
    for attention in ("uniform", "log2"):
        half = random.integers(0, 2, (12, 3)).astype(float)
        reference, weights = np.concatenate([half, 1.0 - half]), np.tile(random.random(12), 2)
        pool, scores = random.integers(0, 2, (30, 3)).astype(float), random.random(30)
        found = set()
        for order in permutations(range(3)):
            labels = {"labels": pool[:, order], "reference": reference[:, order], "reference_weights": weights}
            one = mprlib.measure(
                mprlib.Problem(scores=scores, k=6, **labels), range(6), "saturated", attention=attention
            )
            found.add((one.p_value, one.chance_level))
        assert len(found) == 1


def crossed(a: range, b: range) -> np.ndarray:
    """A row for each pair of levels, of twenty each."""
    return np.array([[*np.eye(20)[one], *np.eye(20)[other]] for one in a for other in b])


def test_what_was_asked_before_of_a_reference_changes_no_p_value():
    """Groups that a pool alone has are in no lottery, and do not decide how many are drawn."""
    names = [f"{attribute}={level}" for attribute in "ab" for level in range(20)]
    attributes = {"a": names[:20], "b": names[20:]}

    def asked(reference, pool):
        problem = mprlib.Problem(scores=np.linspace(1, 0, len(pool)), labels=pool, reference=reference, k=10)
        found = mprlib.measure(problem, range(0, 60, 6), "groups")
        return found.p_value, found.chance_level

    def people():
        return mprlib.Reference.of(crossed(range(10), range(11)), size=1000, label_names=names, attributes=attributes)

    narrow, wide = crossed(range(10), range(11)), crossed(range(20), range(20))
    alone, shared = asked(people(), wide), people()
    asked(shared, narrow)
    assert asked(shared, wide) == alone


def test_names_of_columns_decide_draws_whatever_was_asked_before():
    random = np.random.default_rng(1)
    rows, pool = random.integers(0, 2, (40, 3)).astype(float), random.integers(0, 2, (30, 3)).astype(float)

    def asked(reference, names):
        problem = mprlib.Problem(scores=np.linspace(1, 0, 30), labels=pool, reference=reference, k=6, label_names=names)
        return mprlib.measure(problem, range(6), "saturated").p_value

    shared = mprlib.Reference.of(rows)
    asked(shared, None)
    assert asked(shared, ["z", "y", "x"]) == asked(mprlib.Reference.of(rows), ["z", "y", "x"])
