"""Exchange test: hand-solved p-values, false alarms over simulated null pairs, the group that moved and no other."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from mprlib import InputError
from mprlib.statistics import benjamini_hochberg, exchange_test, group_p_values, moved_groups

SEX_SHARE, RACES, AGES = 0.4, [0.7, 0.12, 0.1, 0.05, 0.03], [0.3, 0.4, 0.3]


def people(random, size):
    """Indicator columns (size, groups) of three attributes and of their pairs, singles first; and the labels."""
    labels = np.column_stack(
        [
            random.random(size) < SEX_SHARE,
            random.choice(len(RACES), size, p=RACES),
            random.choice(len(AGES), size, p=AGES),
        ]
    ).astype(int)
    singles = [labels[:, at] == level for at, levels in ((0, 2), (1, 5), (2, 3)) for level in range(levels)]
    pairs = [one & other for one, other in combinations(singles, 2)]
    return np.column_stack(singles + pairs), labels


def differing(scores, again, k):
    """Positions that left and that entered the top k."""
    before, after = np.argsort(-scores)[:k], np.argsort(-again)[:k]
    return np.setdiff1d(before, after), np.setdiff1d(after, before)


def test_p_values_solved_by_hand():
    """Two left, two entered, one group holds both that entered: 1 of 6 draws, and its mirror image, so 2/6."""
    left, entered = [[0, 1], [0, 0]], [[1, 0], [1, 0]]
    assert group_p_values(left, entered) == pytest.approx([2 / 6, 1.0])
    # Against both groups at once: the second never reaches 2/6, its outcomes are equally likely.
    assert exchange_test(left, entered, draws=20_000) == pytest.approx(1 / 3, abs=0.2)
    # Ten of ten: the bound over the one distinct column is exact, and no draw is needed.
    left, entered = np.zeros((10, 1)), np.ones((10, 1))
    assert exchange_test(left, entered, draws=1) == pytest.approx(2 / comb(20, 10))


def test_noise_that_is_not_equal_counts_by_hand():
    """Half of those that differ are women and nobody near the last place is: variances times 2.5, 5 becomes 3.16."""
    left, entered, near = np.zeros((10, 1)), np.ones((10, 1)), np.zeros((8, 1))
    as_far = 2 * (1 + comb(10, 9) * comb(10, 1)) / comb(20, 10)
    assert exchange_test(left, entered, near) == pytest.approx(as_far, rel=0.6)
    alike = np.repeat([[0.0], [1.0]], 4, axis=0)
    assert exchange_test(left, entered, alike, draws=1) == pytest.approx(2 / comb(20, 10))


@pytest.mark.parametrize("seed", range(3))
def test_items_near_the_last_place_never_make_it_easier_to_find_a_change(seed):
    random = np.random.default_rng(seed)
    left, entered, near = random.random((3, 14, 5)) < 0.4
    plain, studentised = (exchange_test(left, entered, one, draws=2_000, seed=seed) for one in (None, near))
    # Both are known to a fifth.
    assert studentised >= 0.7 * plain


def test_nothing_changed():
    nothing = np.zeros((0, 3))
    assert exchange_test(nothing, nothing) == 1.0
    assert moved_groups(nothing, nothing, level=0.05) == []
    assert group_p_values(nothing, nothing).tolist() == [1, 1, 1]


def test_false_alarms_over_null_pairs_stay_below_the_level():
    """Weeks of 12 queries whose scores are redrawn with noise: how often does any week raise any alarm?"""
    level, weeks, queries, k = 0.1, 120, 12, 30
    alarms, values = 0, []
    for week in range(weeks):
        random = np.random.default_rng(week)
        members, labels = people(random, 400)
        lean = 0.5 * labels[:, 0] - 0.3 * (labels[:, 1] == 0)
        week_values = []
        for query in range(queries):
            true = lean + random.standard_normal(400)
            left, entered = differing(*(true + 0.3 * random.standard_normal((2, 400))), k)
            week_values.append(exchange_test(members[left], members[entered], draws=400, seed=query))
        alarms += bool((benjamini_hochberg(week_values) <= level).any())
        values += week_values
    assert np.mean(np.array(values) <= level) <= level + 0.01
    # 120 weeks tell a rate of 0.1 to two deviations of 0.027.
    assert alarms / weeks <= level + 0.055


@pytest.mark.parametrize(("column", "attribute", "level"), [(1, 0, 1), (4, 1, 2), (8, 2, 1)])
def test_the_group_that_was_shifted_is_found_and_no_other(column, attribute, level):
    random = np.random.default_rng(3)
    members, labels = people(random, 2000)
    scores = random.standard_normal(2000)
    shift = 2.0 * (labels[:, attribute] == level)
    left, entered = differing(scores, scores + shift, 50)
    found = moved_groups(members[left], members[entered], level=0.01)
    assert [one.column for one in found] == [column]
    assert found[0].change > 0 and found[0].p_value <= 1e-4


def test_an_intersection_is_found_as_such():
    random = np.random.default_rng(4)
    members, labels = people(random, 4000)
    scores = random.standard_normal(4000)
    women_of_one_age = (labels[:, 0] == 1) & (labels[:, 2] == 2)
    left, entered = differing(scores, scores + 1.5 * women_of_one_age, 50)
    [found] = moved_groups(members[left], members[entered], level=0.01)
    assert (members[:, found.column] == women_of_one_age).all()


def test_held_groups_leave_valid_p_values_for_the_rest():
    """Sex moved; with it held, race is exchanged at random, so a second finding is an error of at most the level."""
    random = np.random.default_rng(5)
    errors = 0
    for trial in range(100):
        members, labels = people(random, 600)
        scores = random.standard_normal(600)
        again = scores + 0.5 * random.standard_normal(600) + 1.2 * labels[:, 0]
        left, entered = differing(scores, again, 40)
        found = moved_groups(members[left], members[entered], level=0.1, draws=400, seed=trial)
        errors += any(one.column not in (0, 1) for one in found)
    assert errors / 100 <= 0.1 + 0.06


def test_the_same_seed_gives_the_same_value_and_bad_input_is_refused():
    random = np.random.default_rng(6)
    left, entered = random.random((2, 12, 9)) < 0.5
    assert exchange_test(left, entered, seed=1) == exchange_test(left, entered, seed=1)
    with pytest.raises(InputError, match="same groups"):
        exchange_test(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(InputError, match="draws"):
        exchange_test(left, entered, draws=0)
    with pytest.raises(InputError, match="level"):
        moved_groups(left, entered, level=1.0)
