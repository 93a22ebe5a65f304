"""Selections that did not look at labels: solved by hand, enumerated, and against a published value."""

from itertools import product

import numpy as np
import pytest

import mprlib
from mprlib import Confusion, InputError, LabelError, Problem
from mprlib.label_errors import corrected, corrected_groups
from mprlib.label_errors.estimates import by_inverse, by_score
from mprlib.label_errors.true_cells import along, true_cells
from mprlib.registry import function_class

WOMEN, MEN = [1.0, 0.0], [0.0, 1.0]
ONE_IN_TEN = [[0.9, 0.1], [0.1, 0.9]]


def problem(labels, k, **given):
    """People by gender beside a reference of equal shares."""
    return Problem(
        scores=np.linspace(0.9, 0.1, len(labels)),
        labels=labels,
        reference=[WOMEN, MEN],
        reference_size=1000,
        k=k,
        attributes={"gender": [0, 1]},
        label_names=["gender=woman", "gender=man"],
        **given,
    )


def test_shares_solved_by_hand():
    # Of 10 shown 3 are predicted women: (0.3 - 0.1) / 0.8 = 1/4 are.
    found = problem(3 * [WOMEN] + 7 * [MEN] + 10 * [WOMEN, MEN], 10, label_error={"gender": ONE_IN_TEN})
    assert by_inverse(found, np.arange(10)).shares == pytest.approx([0.25, 0.75])


def test_published_values_of_both_assumptions():
    # Ghazimatin et al. 2022: an observed difference of 0.1 where 30% of labels are wrong either way and half belong to
    # each group is 0.25 where scores tell nothing of labels given the truth, 0.04 where they tell nothing of the truth
    # given labels.
    error = {"gender": [[0.7, 0.3], [0.3, 0.7]]}
    found = problem(300 * [WOMEN, MEN, MEN, WOMEN], 10, label_error=LabelError.of(error))
    shown = 600 + np.concatenate([4 * np.arange(6), 1 + 4 * np.arange(4)])
    assert by_inverse(found, shown).shares[0] - 0.5 == pytest.approx(0.25)
    assert by_score(found, shown).shares[0] - 0.5 == pytest.approx(0.04, abs=2e-3)


def test_the_inverse_is_right_on_average():
    # Two women and a man, their labels wrong in all eight ways.
    confusion, truth = np.array([[0.8, 0.2], [0.3, 0.7]]), [0, 0, 1]
    mean = np.zeros(2)
    for labels in product([0, 1], repeat=3):
        probability = np.prod([confusion[true, seen] for true, seen in zip(truth, labels)])
        seen = problem([[WOMEN, MEN][one] for one in labels] + 5 * [WOMEN, MEN], 3, label_error={"gender": confusion})
        mean += probability * by_inverse(seen, np.arange(3)).shares
    assert mean == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize("seen", [0, 3])
def test_fewer_labels_than_errors_are_no_proof_that_nobody_is_of_a_group(seen):
    """Of 100 men 12 would be labelled women: 0 or 3 are, and up to 4 or so true women may be among them."""
    error = [[0.88, 0.12], [0.12, 0.88]]
    labels = seen * [WOMEN] + (100 - seen) * [MEN] + 100 * [WOMEN, MEN]
    shown = problem(labels, 100, label_error={"gender": error})
    found = corrected_groups(shown, np.arange(100), chosen_by="other")
    woman, man = found["gender=woman"], found["gender=man"]
    # Of w women at least so many are not labelled: P(Binomial(w, 0.88) <= seen) >= 2.5%.
    most = {0: 1, 3: 6}[seen]
    assert (woman.share, woman.low, woman.high) == pytest.approx((0.0, 0.0, most / 100))
    assert (man.share, man.low, man.high) == pytest.approx((1.0, 1.0 - most / 100, 1.0))
    for name in ("groups", "linear", "saturated", "tree"):
        value = corrected(shown, np.arange(100), function_class(name), chosen_by="other")
        few = mprlib.measure(problem(most * [WOMEN] + (200 - most) * [MEN], 100), np.arange(100), name).value
        assert value.low <= few + 0.02 and value.high >= value.value > value.low, name


def test_axes_act_like_the_product_of_all_matrices():
    random = np.random.default_rng(0)
    left, right = random.random((2, 2)), random.random((3, 3))
    values = random.random((4, 6))
    assert along(values, (2, 3), {0: left, 1: right}) == pytest.approx(values @ np.kron(left, right))


@pytest.mark.parametrize("name", ["linear", "saturated", "groups", "tree"])
@pytest.mark.parametrize("chosen_by", ["labels", "other"])
def test_labels_that_are_right_change_nothing(name, chosen_by):
    right = problem(3 * [WOMEN] + 7 * [MEN] + 10 * [WOMEN, MEN], 10, label_error={"gender": np.eye(2)})
    found = corrected(right, np.arange(10), function_class(name), chosen_by=chosen_by)
    value = mprlib.measure(right, np.arange(10), name).value
    assert [found.low, found.value, found.high] == pytest.approx(3 * [value], abs=1e-9)


@pytest.mark.parametrize("name", ["linear", "saturated", "tree"])
def test_labels_that_are_right_change_nothing_where_most_combinations_have_nobody(name):
    random, sizes = np.random.default_rng(0), (2, 7, 9)
    shares = [random.dirichlet(np.ones(size)) for size in sizes]
    pool, people = (
        np.hstack([np.eye(size)[random.choice(size, rows, p=own)] for size, own in zip(sizes, shares)])
        for rows in (100, 2_000)
    )
    right = Problem(
        scores=np.linspace(1, 0, len(pool)),
        labels=pool,
        reference=people,
        reference_size=1_000,
        k=10,
        attributes={"a": range(2), "b": range(2, 9), "c": range(9, 18)},
        label_error={name: np.eye(size) for name, size in zip("abc", sizes)},
    )
    found = corrected(right, np.arange(10), function_class(name), chosen_by="other")
    value = mprlib.measure(right, np.arange(10), name).value
    assert [found.low, found.value, found.high] == pytest.approx(3 * [value], abs=1e-4)


def test_combinations_that_hardly_anybody_has_are_not_divided_by():
    """Errors of the items' labels alone open them: 5% of each of three attributes."""
    random, sizes = np.random.default_rng(0), (2, 7, 9)
    shares = [random.dirichlet(np.ones(size)) for size in sizes]
    true = [random.choice(size, 200, p=own) for size, own in zip(sizes, shares)]
    errors = [np.full((size, size), 0.05 / (size - 1)) + np.eye(size) * (0.95 - 0.05 / (size - 1)) for size in sizes]
    seen = [np.array([random.choice(len(one), p=one[level]) for level in codes]) for codes, one in zip(true, errors)]
    people = [random.choice(size, 6_000, p=own) for size, own in zip(sizes, shares)]
    rows = [np.hstack([np.eye(size)[codes] for size, codes in zip(sizes, one)]) for one in (true, seen, people)]
    given = {
        "scores": random.random(200) + 0.5 * (true[0] == 0),
        "reference": rows[2],
        "reference_size": 300,
        "k": 20,
        "attributes": {"a": range(2), "b": range(2, 9), "c": range(9, 18)},
    }
    told = Problem(labels=rows[1], label_error=dict(zip("abc", errors)), **given)
    top = told.best_first[:20]
    truth = mprlib.measure(Problem(labels=rows[0], **given), top, "saturated").value
    found = corrected(told, top, function_class("saturated"), chosen_by="labels")
    assert found.low <= truth <= found.high
    assert found.value == pytest.approx(truth, abs=0.15)


def test_attributes_without_errors_are_taken_as_they_are():
    labels = np.array([[1, 0, age] for age in (0, 1)] * 6 + [[0, 1, age] for age in (0, 1, 1)] * 6, dtype=float)
    found = Problem(
        scores=np.linspace(1, 0, len(labels)),
        labels=labels,
        reference=labels,
        k=8,
        attributes={"gender": [0, 1], "old": [2]},
        label_names=["gender=woman", "gender=man", "old"],
        label_error={"gender": ONE_IN_TEN},
    )
    assert true_cells(found).shape == (2, 2)
    assert corrected_groups(found, np.arange(8))["old=1"].share == pytest.approx(0.5)


def test_measured_values_are_those_of_the_labels_as_they_are():
    labels = 3 * [WOMEN] + 7 * [MEN] + 10 * [WOMEN, MEN]
    plain, told = problem(labels, 10), problem(labels, 10, label_error={"gender": ONE_IN_TEN})
    for name in mprlib.FUNCTION_CLASSES:
        assert mprlib.measure(told, np.arange(10), name).value == mprlib.measure(plain, np.arange(10), name).value
    assert mprlib.select(told, "top_k").items.tolist() == mprlib.select(plain, "top_k").items.tolist()


def test_more_hand_labels_narrow_the_interval():
    labels = 30 * [WOMEN] + 70 * [MEN] + 100 * [WOMEN, MEN]
    widths = []
    for rows in (20, 2000):
        counts = Confusion.of_counts(rows * np.array(ONE_IN_TEN))
        found = corrected(
            problem(labels, 100, label_error={"gender": counts}),
            np.arange(100),
            function_class("linear"),
            chosen_by="other",
        )
        widths.append(found.high - found.low)
    assert widths[1] < widths[0]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"age": ONE_IN_TEN}, "labels have no attribute 'age'"),
        ({"gender": {"woman": {"woman": 1}, "girl": {"girl": 1}}}, "lacks the level 'man'"),
        ({"gender": {"woman": {"woman": 0.9, "boy": 0.1}, "man": {"man": 1}}}, "no row of true 'boy'"),
        ({"gender": [[0.9, 0.1], [0.2, 0.2]]}, "sums to 0.4"),
        ({"gender": np.eye(3)}, "has 3 levels"),
        ({"gender": [[5, 1], [0, 0]]}, "no row whose true level"),
        ([1, 2], "label_error is a list"),
    ],
)
def test_what_says_nothing_of_labels_is_refused(error, said):
    with pytest.raises(InputError, match=said):
        problem([WOMEN, MEN], 1, label_error=error)


@pytest.mark.parametrize(
    ("confusion", "said"),
    [
        ([[55, 45], [50, 50]], "some 1,"),
        ([[0.5, 0.5], [0.5, 0.5]], "no number of hand labels"),
    ],
)
def test_labels_drawn_by_lot_correct_nothing(confusion, said):
    weak = problem(30 * [WOMEN] + 30 * [MEN], 10, label_error={"gender": confusion})
    found = corrected(weak, np.arange(10), function_class("linear"), chosen_by="other")
    assert (found.value, found.low, found.high) == (None, None, None)
    assert said in found.remark
    assert corrected_groups(weak, np.arange(10)) == {}
    row = mprlib.select(weak, "mopr", 0.05)
    assert row.status == mprlib.Status.NOT_FOUND
    assert row.message == found.remark


@pytest.mark.parametrize("chosen_by", ["labels", "other"])
@pytest.mark.parametrize("unknown", [WOMEN, MEN], ids=["predicted woman", "predicted man"])
def test_shares_keep_to_levels_that_are_known(chosen_by, unknown):
    # Nine of ten are women by hand, of whom the labels miss four; of the tenth a weak predictor says something.
    labels = 5 * [WOMEN] + 4 * [MEN] + [unknown] + 20 * [WOMEN, MEN]
    known = np.array(9 * [0] + (len(labels) - 9) * [-1])
    error = LabelError(items={"gender": Confusion.of([[20, 10], [8, 22]])}, known={"gender": known})
    found = corrected_groups(problem(labels, 10, label_error=error), np.arange(10), chosen_by=chosen_by)
    for share, least, most in ((found["gender=woman"], 0.9, 1.0), (found["gender=man"], 0.0, 0.1)):
        assert least - 1e-12 <= share.low <= share.share <= share.high <= most + 1e-12
    # What is open is open.
    assert found["gender=woman"].high - found["gender=woman"].low > 0.05


@pytest.mark.parametrize("chosen_by", ["labels", "other"])
def test_shares_of_intersections_keep_to_levels_that_are_known(chosen_by):
    # Of ten women six are known to be; six are old, one of whom is not known to be a woman.
    labels = np.array(
        [[1, 0, place < 5] for place in range(6)] + [[0, 1, place < 1] for place in range(4)], dtype=float
    )
    labels = np.concatenate([labels, np.tile(np.eye(3)[[0, 1]] + [0, 0, 1], (10, 1)), np.tile(np.eye(3)[:2], (10, 1))])
    known = np.array(6 * [0] + (len(labels) - 6) * [-1])
    found = corrected_groups(
        Problem(
            scores=np.linspace(1, 0, len(labels)),
            labels=labels,
            reference=labels,
            k=10,
            attributes={"gender": [0, 1], "old": [2]},
            label_names=["gender=woman", "gender=man", "old"],
            label_error=LabelError(items={"gender": Confusion.of([[20, 10], [8, 22]])}, known={"gender": known}),
        ),
        np.arange(10),
        chosen_by=chosen_by,
    )
    bounds = {"woman": {"1": (0.5, 0.6), "0": (0.1, 0.4)}, "man": {"1": (0.0, 0.1), "0": (0.0, 0.3)}}
    for gender, of_age in bounds.items():
        for old, (least, most) in of_age.items():
            share = found[f"gender={gender} & old={old}"]
            assert least - 1e-12 <= share.low <= share.share <= share.high <= most + 1e-12


def test_no_gap_of_groups_is_above_one():
    """Labels that hardly say anything: by the inverse alone all of ten women would be 5.5 times as many."""
    problem = Problem(
        scores=np.arange(40.0),
        labels=np.eye(2)[np.repeat([1, 0], 20)],
        reference=np.eye(2)[np.repeat([1, 0], [99, 1])],
        k=10,
        attributes={"gender": [0, 1]},
        label_names=["gender=woman", "gender=man"],
        label_error={"gender": [[0.55, 0.45], [0.45, 0.55]]},
    )
    found = corrected(problem, problem.best_first[:10], function_class("groups"), chosen_by="other")
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
