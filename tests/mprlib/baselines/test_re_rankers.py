"""LinkedIn's re-rankers against their steps written out in exact fractions, and what they promise of every prefix."""

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

import mprlib
from mprlib import InputError, Problem

BY_PLACE = ("det_greedy", "det_cons", "det_relaxed")
RE_RANKERS = (*BY_PLACE, "det_const_sort")
EACH = pytest.mark.parametrize("name", RE_RANKERS)


def problem_of(scores, groups, shares, k) -> Problem:
    """One attribute with as many levels as there are shares."""
    count = len(shares)
    return Problem(
        scores=scores,
        labels=np.eye(count)[np.asarray(groups, dtype=int)],
        reference=np.eye(count),
        reference_weights=[float(share) for share in shares],
        reference_size=10_000,
        k=k,
        attributes={"group": range(count)},
        label_names=[f"group={level}" for level in range(count)],
    )


def random_case(generator, count, *, n=80, k=20):
    """Scores with ties, groups with at least k candidates each, and shares that are whole parts of a number."""
    parts = generator.integers(1, 9, size=count)
    shares = [Fraction(int(part), int(parts.sum())) for part in parts]
    groups = np.concatenate([np.repeat(np.arange(count), k), generator.integers(0, count, size=n - k)])
    scores = generator.integers(0, 30, size=groups.size) / 30 + 0.2 * generator.random() * groups
    return scores, groups, shares, k


def in_order(problem, name):
    return mprlib.select(problem, name, order="fair").items.tolist()


def queues_of(scores, groups, count):
    """Positions of each group, best first; ties by position."""
    order = sorted(range(len(scores)), key=lambda item: (-scores[item], item))
    return [[item for item in order if groups[item] == group] for group in range(count)], {
        item: rank for rank, item in enumerate(order)
    }


def placed(name, scores, groups, shares, k):
    """The steps of the source for the three rules that fill place by place."""
    queues, rank = queues_of(scores, groups, len(shares))
    taken, found = [0] * len(shares), []
    for place in range(1, k + 1):
        every = range(len(shares))
        below_least = [group for group in every if taken[group] < floor(place * shares[group])]
        below_most = [group for group in every if taken[group] < ceil(place * shares[group])]
        if below_least:
            group = min(below_least, key=lambda one: rank[queues[one][taken[one]]])
        else:

            def due(one, place=place):
                soonest = ceil(place * shares[one]) / shares[one]
                return {"det_greedy": 0, "det_cons": soonest, "det_relaxed": ceil(soonest)}[name]

            group = min(below_most, key=lambda one: (due(one), rank[queues[one][taken[one]]]))
        found.append(queues[group][taken[group]])
        taken[group] += 1
    return found


def sorted_within_deadlines(scores, groups, shares, k):
    """The steps of the source for DetConstSort, one length of the prefix after another, with exchanges."""
    queues, rank = queues_of(scores, groups, len(shares))
    least, found, deadlines = [0] * len(shares), [], []
    length = 0
    while len(found) < k:
        length += 1
        rising = [group for group, share in enumerate(shares) if floor(length * share) > least[group]]
        for group in sorted(rising, key=lambda one: rank[queues[one][least[one]]]):
            if len(found) == k:
                break
            found.append(queues[group][least[group]])
            deadlines.append(length)
            least[group] += 1
            at = len(found) - 1
            while at and deadlines[at - 1] >= at + 1 and rank[found[at - 1]] > rank[found[at]]:
                found[at - 1], found[at] = found[at], found[at - 1]
                deadlines[at - 1], deadlines[at] = deadlines[at], deadlines[at - 1]
                at -= 1
    return found


@EACH
def test_orders_are_those_of_the_steps_in_exact_fractions(name):
    generator = np.random.default_rng(0)
    for number in range(60):
        case = random_case(generator, 2 + number % 5)
        expected = sorted_within_deadlines(*case) if name == "det_const_sort" else placed(name, *case)
        assert in_order(problem_of(*case), name) == expected


def falls_short(order, groups, shares):
    """Prefixes that lack a group's least, floor(i p)."""
    return [
        (length, group)
        for length in range(1, len(order) + 1)
        for group, share in enumerate(shares)
        if sum(groups[item] == group for item in order[:length]) < floor(length * share)
    ]


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_every_prefix_has_every_groups_least_after_det_const_sort(count):
    generator = np.random.default_rng(count)
    for _ in range(40):
        case = random_case(generator, count)
        assert not falls_short(in_order(problem_of(*case), "det_const_sort"), case[1], case[2])


@pytest.mark.parametrize("name", BY_PLACE)
@pytest.mark.parametrize("count", [2, 3])
def test_up_to_three_groups_have_their_least_in_every_prefix(name, count):
    generator = np.random.default_rng(count)
    for _ in range(40):
        case = random_case(generator, count)
        assert not falls_short(in_order(problem_of(*case), name), case[1], case[2])


@EACH
def test_by_score_it_is_the_same_set_best_first(name):
    generator = np.random.default_rng(3)
    problem = problem_of(*random_case(generator, 4))
    by_score, fair = mprlib.select(problem, name), mprlib.select(problem, name, order="fair")
    assert sorted(by_score.items) == sorted(fair.items)
    assert by_score.items.tolist() == problem.ranked(fair.items).tolist() != fair.items.tolist()
    assert (by_score.similarity, by_score.mpr, by_score.status) == (fair.similarity, fair.mpr, fair.status)


@EACH
def test_equal_shares_and_one_group_ahead_alternate(name):
    """Two and two of four, which a deadline that is one place off would make three and one."""
    problem = problem_of([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [0, 0, 0, 1, 1, 1], [0.5, 0.5], 4)
    assert in_order(problem, name) == [0, 3, 1, 4]


@EACH
def test_the_order_matters_to_measures_of_prefixes(name):
    problem = problem_of(np.linspace(1, 0, 40), np.arange(40) >= 20, [0.5, 0.5], 20)
    by_score, fair = (mprlib.select(problem, name, order=order).items for order in ("score", "fair"))
    before, after = (mprlib.metrics.worst_attribute(problem, items) for items in (by_score, fair))
    assert (before.max_skew, after.max_skew) == (0.0, 0.0)
    assert after.ndkl < 0.5 * before.ndkl


@EACH
def test_a_share_whose_multiple_rounds_down_is_a_whole_number(name):
    """100 * 0.29 is 28.999999999999996 in floating point, and 29 of 100."""
    problem = problem_of(np.linspace(1, 0, 200), np.arange(200) >= 100, [0.71, 0.29], 100)
    assert sum(item >= 100 for item in in_order(problem, name)) == 29


@EACH
def test_groups_that_run_out_are_passed_over(name):
    """Two of the ten are all that the second group has; the rest are the most similar, of whatever group."""
    problem = problem_of(np.linspace(1, 0, 30), np.r_[np.zeros(28, dtype=int), 1, 1], [0.2, 0.8], 10)
    selection = mprlib.select(problem, name)
    assert sorted(selection.items) == [*range(8), 28, 29]
    # DetConstSort still has needs of the first group, of prefixes longer than ten.
    assert ("of 10 items by similarity alone" in selection.message) == (name != "det_const_sort")


@EACH
def test_groups_without_a_share_come_last(name):
    problem = problem_of([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1], [0, 1], 3)
    selection = mprlib.select(problem, name, order="fair")
    assert selection.items.tolist() == [2, 3, 0]
    assert selection.message.startswith("1 of 3 items by similarity alone")


@EACH
def test_a_share_so_small_that_its_turn_never_comes(name):
    problem = problem_of(np.linspace(1, 0, 40), np.arange(40) % 2, [1 - 1e-15, 1e-15], 20)
    assert len(set(in_order(problem, name))) == 20


@EACH
def test_groups_are_intersections_of_all_attributes(name):
    """Of two sexes and two ages, half each and independent, one of every intersection is among the first four."""
    labels = np.array([[sex, 1 - sex, age, 1 - age] for sex in (0, 1) for age in (0, 1) for _ in range(3)])
    problem = Problem(
        scores=np.linspace(1, 0, 12),
        labels=labels,
        reference=labels,
        k=4,
        attributes={"sex": [0, 1], "age": [2, 3]},
    )
    assert len(np.unique(labels[in_order(problem, name)], axis=0)) == 4


@EACH
def test_one_item(name):
    assert in_order(problem_of([0.1, 0.9], [0, 1], [0.5, 0.5], 1), name) == [1]


@EACH
def test_ties_go_by_item_id(name):
    problem = Problem(
        scores=np.full(4, 0.5),
        labels=np.eye(2)[[0, 0, 1, 1]],
        reference=np.eye(2),
        reference_size=100,
        k=2,
        attributes={"group": [0, 1]},
        item_ids=["d", "c", "b", "a"],
    )
    assert in_order(problem, name) == [3, 1]


@EACH
def test_what_it_refuses(name):
    fractions = Problem(scores=[0.1, 0.2], labels=[[0.3], [0.7]], reference=[[0.5]], k=1)
    with pytest.raises(InputError, match="groups need levels"):
        mprlib.select(fractions, name)
    with pytest.raises(InputError, match="order is 'best': one of score, fair is expected"):
        mprlib.select(problem_of([0.1, 0.2], [0, 1], [0.5, 0.5], 1), name, order="best")
