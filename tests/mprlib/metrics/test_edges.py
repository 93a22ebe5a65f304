"""Values solved by hand, where definitions differ most: one group, nobody of a group, one item, ties."""

import math

import numpy as np
import pytest

import mprlib
from mprlib import InputError, metrics
from mprlib.metrics.discount import log2_discount, log2_discount_from_second

EQUAL = {"woman": 0.5, "man": 0.5}


def test_the_two_discounts():
    assert log2_discount(3).tolist() == [1.0, 1 / math.log2(3), 0.5]
    assert log2_discount_from_second(4).tolist() == [1.0, 1.0, 1 / math.log2(3), 0.5]


class TestAwrf:
    def test_the_first_two_places_count_alike(self):
        assert metrics.awrf(metrics.ranking(["woman", "man"], EQUAL)) == 1.0

    def test_attention_on_nobody_of_the_target_is_the_floor(self):
        nowhere = metrics.ranking(["other"], {"woman": 0.5, "man": 0.5, "other": 0})
        assert metrics.awrf(nowhere) == pytest.approx(1 - math.log(2), abs=1e-15)

    def test_one_item(self):
        """JSD((1, 0), (1/2, 1/2)) = (ln(4/3) + ln(2/3)/2 + ln(2)/2) / 2."""
        expected = 1 - 0.5 * (math.log(4 / 3) + 0.5 * math.log(2 / 3) + 0.5 * math.log(2))
        assert metrics.awrf(metrics.ranking(["man"], EQUAL)) == pytest.approx(expected, abs=1e-15)


class TestNdkl:
    def test_one_item_is_the_divergence_of_one_level(self):
        assert metrics.ndkl(metrics.ranking(["woman"], {"woman": 0.25, "man": 0.75})) == pytest.approx(math.log(4))

    def test_one_group_that_is_all_of_the_target_is_perfect(self):
        assert metrics.ndkl(metrics.ranking(["all"] * 5, {"all": 1})) == 0.0

    def test_one_group_of_two_is_not(self):
        assert metrics.ndkl(metrics.ranking(["man"] * 9, EQUAL)) == pytest.approx(math.log(2))

    def test_a_level_without_a_share_of_the_target(self):
        assert metrics.ndkl(metrics.ranking(["man", "other"], EQUAL | {"other": 0})) == math.inf
        assert metrics.ndkl(metrics.ranking(["man", "woman"], EQUAL | {"other": 0})) < 1

    def test_order_counts(self):
        """Both have the same shares in all; the second is closer to equal ones after two items."""
        sorted_, mixed = (
            metrics.ndkl(metrics.ranking(text, {"x": 0.5, "y": 0.5})) for text in (list("xxyy"), list("xyxy"))
        )
        third = math.log(2) - (-(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3))
        weights = log2_discount(4)
        assert mixed == pytest.approx((weights[0] * math.log(2) + weights[2] * third) / weights.sum())
        assert sorted_ == pytest.approx(mixed + weights[1] * math.log(2) / weights.sum())
        assert sorted_ == pytest.approx(0.4524, abs=5e-5)  # as FairRankTune prints it, to its smoothing


class TestSkew:
    def test_advantage_and_disadvantage(self):
        shown = metrics.ranking(["man", "man", "man", "woman"], {"woman": 0.5, "man": 0.5})
        assert metrics.max_skew(shown) == pytest.approx(math.log(1.5))
        assert metrics.min_skew(shown) == pytest.approx(math.log(0.5))

    def test_nobody_of_a_group(self):
        shown = metrics.ranking(["man"], EQUAL)
        assert (metrics.max_skew(shown), metrics.min_skew(shown)) == (pytest.approx(math.log(2)), -math.inf)

    def test_a_level_without_a_share_of_the_target(self):
        assert metrics.max_skew(metrics.ranking(["other"], EQUAL | {"other": 0})) == math.inf

    def test_a_level_with_neither_share_is_left_out(self):
        shown = metrics.ranking(["man", "woman"], EQUAL | {"other": 0})
        assert (metrics.max_skew(shown), metrics.min_skew(shown)) == (0.0, 0.0)
        assert np.isnan(metrics.skews(shown)).tolist() == [False, False, True]

    def test_one_group(self):
        shown = metrics.ranking(["all", "all"], {"all": 1})
        assert (metrics.max_skew(shown), metrics.min_skew(shown)) == (0.0, 0.0)

    def test_at_a_smaller_k(self):
        shown = metrics.ranking(["man", "man", "woman", "woman"], EQUAL)
        assert metrics.max_skew(shown) == 0.0
        assert metrics.max_skew(shown.first(2)) == pytest.approx(math.log(2))
        assert shown.first(9).k == 4


class TestExposure:
    def test_without_candidates_stated_all_are_returned(self):
        shown = metrics.ranking(["man", "woman", "man"], EQUAL)
        expected = {"woman": 1 / math.log2(3), "man": (1 + 0.5) / 2}
        assert metrics.exposures(shown) == pytest.approx([expected["woman"], expected["man"]])
        assert metrics.exposure_ratio(shown) == pytest.approx(expected["woman"] / expected["man"])

    def test_a_group_that_is_not_returned_has_none(self):
        shown = metrics.ranking(["man"], EQUAL, candidates={"man": 1, "woman": 3})
        assert (metrics.exposure_ratio(shown), metrics.exposure_difference(shown)) == (0.0, 1.0)

    def test_a_group_without_candidates_is_left_out(self):
        shown = metrics.ranking(["man"], EQUAL, candidates={"man": 1})
        assert (metrics.exposure_ratio(shown), metrics.exposure_difference(shown)) == (1.0, 0.0)
        assert np.isnan(metrics.exposures(shown)[0])


class TestParity:
    def test_nobody_of_a_group(self):
        shown = metrics.ranking(["man"], {"woman": 0.25, "man": 0.75})
        assert (metrics.parity_difference(shown), metrics.parity_ratio(shown)) == (0.25, 0.0)

    def test_a_level_without_a_share_of_the_target(self):
        shown = metrics.ranking(["other", "man"], EQUAL | {"other": 0})
        assert (metrics.parity_difference(shown), metrics.parity_ratio(shown)) == (0.5, 0.0)

    def test_one_group(self):
        shown = metrics.ranking(["all"], {"all": 1})
        assert (metrics.parity_difference(shown), metrics.parity_ratio(shown)) == (0.0, 1.0)

    def test_the_difference_is_mpr_under_groups_of_one_attribute(self):
        problem = two_attributes()
        items = [0, 3, 4]
        differences = [metrics.parity_difference(one) for one in metrics.rankings(problem, items).values()]
        assert mprlib.measure(problem, items, "groups", max_attributes=1).value == pytest.approx(max(differences))


class TestRelevance:
    def test_graded_gains_are_taken_as_they_are(self):
        assert metrics.ndcg([1, 3], [1, 3]) == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))

    def test_ties_in_gain_have_no_order(self):
        assert metrics.ndcg([1, 1, 0], [0, 1, 1]) == 1.0

    def test_the_best_is_of_the_candidates_and_no_longer_than_the_ranking(self):
        assert metrics.ndcg([1], [1, 1, 1]) == 1.0
        assert metrics.ndcg([0], [0, 1]) == 0.0

    def test_nothing_to_gain(self):
        assert metrics.ndcg([0, 0], [0, 0, 0]) is None
        assert metrics.precision([0, 0]) == 0.0

    @pytest.mark.parametrize("gains", [[], [-1.0], [math.nan], ["1"]])
    def test_what_are_no_gains(self, gains):
        with pytest.raises(InputError, match="gains"):
            metrics.precision(gains)
        with pytest.raises(InputError, match="gains"):
            metrics.ndcg(gains, [1, 1])

    def test_fewer_candidates_than_items(self):
        with pytest.raises(InputError, match="candidates has 1 gains, 2 or more expected"):
            metrics.ndcg([1, 1], [1])


@pytest.mark.parametrize(
    ("levels", "target", "candidates", "message"),
    [
        ([], EQUAL, None, "levels is empty"),
        (["child"], EQUAL, None, "levels holds 'child', which target does not name: it has 'woman', 'man'"),
        ("man", EQUAL, None, "a list of levels"),
        (["man"], [0.5, 0.5], None, "a mapping of levels to shares"),
        (["man"], {"woman": 0.5, "man": 0.6}, None, "sum to 1.1: 1 is expected"),
        (["man"], {"woman": 50, "man": 50}, None, "percentages"),
        (["man"], {"woman": -0.5, "man": 1.5}, None, "'target' hold -0.5"),
        (["man"], {"woman": math.nan, "man": 1}, None, "target holds nan"),
        (["man"], {"woman": "half", "man": 0.5}, None, "target"),
        (["man", "man"], EQUAL, {"man": 1}, r"candidates\['man'\] is 1: returned are 2 items of that level"),
        (["man"], EQUAL, {"man": 1.5}, r"candidates\['man'\] is 1.5"),
    ],
)
def test_what_is_no_ranking(levels, target, candidates, message):
    with pytest.raises(InputError, match=message):
        metrics.ranking(levels, target, candidates)


def test_a_k_that_is_none():
    with pytest.raises(InputError, match="k is 0"):
        metrics.ranking(["man"], EQUAL).first(0)


def two_attributes() -> mprlib.Problem:
    """Six people of two sexes and three ages; the reference is two thirds women, and has nobody of the third age."""
    labels = [[1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1], [0, 1, 1, 0, 0], [0, 1, 1, 0, 0], [0, 1, 0, 1, 0]]
    return mprlib.Problem(
        scores=[0.9, 0.9, 0.8, 0.8, 0.7, 0.6],
        labels=labels,
        reference=[[1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [0, 1, 0, 1, 0]],
        k=3,
        attributes={"sex": [0, 1], "age": [2, 3, 4]},
        label_names=["sex=woman", "sex=man", "age=young", "age=middle", "age=old"],
    )


class TestOfAProblem:
    def test_levels_targets_and_candidates(self):
        found = metrics.rankings(two_attributes(), [3, 0, 2])
        sex = {name: at for at, name in enumerate(found["sex"].names)}
        assert [found["sex"].names[level] for level in found["sex"].levels] == ["sex=man", "sex=woman", "sex=woman"]
        assert found["sex"].target[sex["sex=woman"]] == pytest.approx(2 / 3)
        assert found["sex"].candidates.tolist() == [3, 3]
        age = dict(zip(found["age"].names, found["age"].target))
        assert age == {"age=young": pytest.approx(1 / 3), "age=middle": pytest.approx(2 / 3), "age=old": 0.0}

    def test_each_measure_is_that_of_its_worst_attribute(self):
        problem = two_attributes()
        found, worst = metrics.rankings(problem, [0, 3, 4]).values(), metrics.worst_attribute(problem, [0, 3, 4])
        assert worst.awrf == min(map(metrics.awrf, found))
        assert worst.ndkl == max(map(metrics.ndkl, found)) == metrics.ndkl(list(found)[1])
        # Of three young people the age has the larger skew, and nobody of middle age is returned.
        assert worst.max_skew == pytest.approx(math.log(3))
        assert worst.min_skew == -math.inf

    def test_the_order_given_counts(self):
        problem = two_attributes()
        one, other = (metrics.worst_attribute(problem, items) for items in ([0, 1, 5], [1, 5, 0]))
        assert one.ndkl > other.ndkl
        assert one.max_skew == other.max_skew

    def test_equal_scores_are_in_the_order_of_the_selection(self):
        problem = two_attributes()
        top = mprlib.select(problem, "top_k").items
        assert top.tolist() == [0, 1, 2]
        assert (
            metrics.rankings(problem, top)["age"].levels.tolist()
            == metrics.rankings(problem, [0, 1, 2])["age"].levels.tolist()
        )

    def test_numbers_that_are_no_levels(self):
        problem = mprlib.Problem(scores=[0.1, 0.2], labels=[[0.3], [0.7]], reference=[[0.5]], k=1)
        with pytest.raises(InputError, match="groups need levels"):
            metrics.worst_attribute(problem, [0])

    @pytest.mark.parametrize("items", [[], [0, 0], [9]])
    def test_what_are_no_items(self, items):
        with pytest.raises(InputError, match="items"):
            metrics.rankings(two_attributes(), items)
