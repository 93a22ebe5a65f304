"""What is drawn depends on attributes and numbers, not on how a caller writes them down or which objects hold them."""

from itertools import permutations

import numpy as np
import pytest

import mprlib
from mprlib import Confusion, LabelError, Problem
from mprlib.label_errors.confusions import confusions_of
from mprlib.label_errors.norms import mean_square, steady_mean
from mprlib.label_errors.true_cells import along

K = 20
GENDERS, AGES = ("woman", "man"), ("young", "middle", "old")
OF_GENDER = {"woman": {"woman": 45, "man": 5}, "man": {"woman": 8, "man": 42}}
# Weighted hand labels: sums of such rows depend on the order in which they are added.
OF_AGE = {
    "young": {"young": 40.1, "middle": 5.3, "old": 0.7},
    "middle": {"young": 3.3, "middle": 50.9, "old": 4.7},
    "old": {"young": 0.1, "middle": 7.7, "old": 30.3},
}


def problem(error, attributes=None, **given):
    """Items and people with a gender and an age, neither alike."""
    random = np.random.default_rng(0)
    labels, reference = (
        np.hstack([np.eye(2)[random.choice(2, count, p=p)], np.eye(3)[random.choice(3, count, p=q)]])
        for count, p, q in ((60, [0.4, 0.6], [0.5, 0.3, 0.2]), (200, [0.5, 0.5], [0.3, 0.4, 0.3]))
    )
    return Problem(
        **{
            "scores": np.arange(60.0),
            "labels": labels,
            "reference": reference,
            "reference_size": 1_000_000,
            "k": K,
            "attributes": {"gender": [0, 1], "age": [2, 3, 4]} if attributes is None else attributes,
            "label_names": [*(f"gender={one}" for one in GENDERS), *(f"age={one}" for one in AGES)],
            "label_error": error,
            **given,
        }
    )


def told(found):
    """What is said of a problem: corrected values, and what a repair claims."""
    row = mprlib.select(found, "mopr", 0.3, "groups")
    values = [
        mprlib.corrected(found, range(K), name, chosen_by=chosen_by)
        for name in ("groups", "linear")
        for chosen_by in ("labels", "other")
    ]
    return values, row.items.tolist(), row.status, row.p_rho, row.mpr


def in_order(table, levels):
    """A table whose rows and columns are written in this order."""
    return {true: {level: table[true][level] for level in levels} for true in levels}


def test_the_order_of_attributes_changes_nothing():
    gender, age = Confusion.from_table(OF_GENDER), Confusion.from_table(OF_AGE)
    first = told(problem({"gender": gender, "age": age}))
    assert told(problem({"age": age, "gender": gender})) == first
    assert told(problem({"gender": gender, "age": age}, {"age": [2, 3, 4], "gender": [0, 1]})) == first


def test_the_first_weak_confusion_is_that_of_the_first_columns():
    by_lot = {"gender": [[0.5, 0.5], [0.5, 0.5]], "age": np.full((3, 3), 1 / 3)}
    for names in permutations(by_lot):
        found = mprlib.corrected(problem({name: by_lot[name] for name in names}), range(K), "linear")
        assert "the confusion of 'gender'" in found.remark


@pytest.mark.parametrize("of_reference", list(permutations(AGES)))
def test_the_order_of_a_tables_levels_changes_nothing(of_reference):
    written = [
        told(
            problem(
                LabelError(
                    items={"age": Confusion.from_table(in_order(OF_AGE, AGES))},
                    reference={"age": Confusion.from_table(in_order(OF_AGE, levels))},
                )
            )
        )
        for levels in (AGES, of_reference)
    ]
    assert written[0] == written[1]


def test_equal_confusions_of_an_attribute_are_drawn_once():
    # Two objects, made of tables in different orders.
    sides = [Confusion.from_table(in_order(OF_AGE, levels)) for levels in (AGES, AGES[::-1])]
    error = LabelError(items={"age": sides[0]}, reference={"age": sides[1]})
    drawn = confusions_of(problem(error))
    assert np.array_equal(drawn.items.drawn[0], drawn.reference.drawn[0])
    one = LabelError(items={"age": sides[0]}, reference={"age": sides[0]})
    assert told(problem(error)) == told(problem(one))


def test_other_confusions_of_an_attribute_are_drawn_apart():
    more = Confusion.of_counts(2 * np.array([[45, 5], [8, 42]]))
    error = LabelError(items={"gender": Confusion.from_table(OF_GENDER)}, reference={"gender": more})
    drawn = confusions_of(problem(error))
    errors = [side.drawn[0][:, 0, 0] - side.known[0][0, 0] for side in (drawn.items, drawn.reference)]
    assert abs(np.corrcoef(*errors)[0, 1]) < 0.2


def test_one_confusion_of_two_attributes_is_drawn_apart_for_each():
    one = Confusion.of_counts([[45, 5], [8, 42]])
    labels = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]] * 4, dtype=float)
    seen = Problem(
        scores=np.arange(12.0),
        labels=labels,
        reference=labels,
        k=4,
        attributes={"a": [0, 1], "b": [2, 3]},
        label_error=LabelError(items={"a": one, "b": one}, reference={"a": one, "b": one}),
    )
    drawn = confusions_of(seen)
    errors = [drawn.items.drawn[axis][:, 0, 0] - 0.9 for axis in (0, 1)]
    assert abs(np.corrcoef(*errors)[0, 1]) < 0.2
    for axis in (0, 1):
        assert np.array_equal(drawn.items.drawn[axis], drawn.reference.drawn[axis])


@pytest.mark.parametrize(
    ("columns", "table"),
    [
        (["woman", "man"], OF_GENDER),
        (["gender=woman", "gender=man"], OF_GENDER),
        (["gender=woman"], OF_GENDER),
        (["woman"], OF_GENDER),
        (["gender"], {"1": {"1": 45, "0": 5}, "0": {"1": 8, "0": 42}}),
    ],
)
def test_levels_that_columns_are_named_after_may_come_in_any_order(columns, table):
    is_woman = np.arange(60) % 3 == 0
    labels = np.stack([is_woman, ~is_woman], axis=1)[:, : len(columns)].astype(float)
    shares = []
    for levels in permutations(table):
        seen = problem(
            {"gender": in_order(table, levels)},
            {"gender": list(range(len(columns)))},
            labels=labels,
            reference=labels,
            label_names=columns,
        )
        known = confusions_of(seen).items.known
        shares.append(along(np.array([[1.0, 0.0]]), (2,), known)[0])
    # Of 50 women 45 are predicted to be women.
    assert shares == [pytest.approx([0.9, 0.1])] * 2


def test_a_few_wild_draws_do_not_carry_the_mean_square():
    """Eight of 400 confusions that are hardly better than lots: a mean of all would be 2 where 0.01 is right."""
    noise = np.full((400, 1), 0.1)
    noise[:8] = 10.0
    assert mean_square(noise) == pytest.approx(0.01)
    assert steady_mean(noise[:, 0] ** 2) == pytest.approx(0.01)
