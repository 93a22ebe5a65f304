"""The ranking of (query, group) pairs on shares small enough to solve by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from jobs.analysis.cases import is_within_chance
from jobs.analysis.worst import headline, largest, worst_groups, worst_off, worst_pairs

CASE = {"dataset": "d", "reference": "r", "k": 10}


def result(query: str, method: str = "top_k", value: float | None = None, **columns: object) -> dict[str, object]:
    constrained = method.startswith("mopr")
    return CASE | {
        "query": query, "method": method, "parameter_value": value, "target_class": "linear" if constrained else None,
        "function_class": "linear", "status": "optimal" if constrained else "done", "mpr": 0.1, "chi": 1.0,
        "rho": value if constrained else None, "similarity": 0.5, "similarity_top_k": 0.5,
    } | columns  # fmt: skip


def shares(query: str, selected: dict[str, float], method: str = "top_k", value: float | None = None) -> list[dict]:
    target = "linear" if method.startswith("mopr") else None
    return [
        CASE
        | {"query": query, "method": method, "parameter_value": value, "target_class": target, "group": group,
           "attributes": 1 + group.count(" & "), "share_selected": share, "share_reference": REFERENCE[group]}
        for group, share in selected.items()
    ]  # fmt: skip


REFERENCE = {"sex=f": 0.33, "sex=m": 0.67, "race=x": 0.005, "race=y": 0.995, "sex=f & race=y": 0.32}


def pairs_of(results: list[dict], groups: list[dict], **settings: float) -> pd.DataFrame:
    return worst_pairs(pd.DataFrame(results), pd.DataFrame(groups), **settings)


def test_ranks_by_absolute_gap_and_names_the_group_shown_too_little():
    # Nurse: women 100%, men 0%: +67 and -67. Driver: women 0%, men 100%: -33 and +33.
    results = [result("driver", mpr=0.2), result("nurse", mpr=0.3, chi=2.5)]
    groups = shares("driver", {"sex=f": 0.0, "sex=m": 1.0}) + shares("nurse", {"sex=f": 1.0, "sex=m": 0.0})
    pairs = pairs_of(results, groups)
    assert pairs["gap_points"].round(9).tolist() == [-67.0, 67.0, -33.0, 33.0]
    top = headline(pairs)
    assert top[["query", "group"]].values.tolist() == [["nurse", "sex=m"], ["driver", "sex=f"]]
    assert top.loc[0, ["mpr", "chi"]].tolist() == [0.3, 2.5]


def test_worst_off_is_shown_too_little_by_most_and_small_groups_are_left_out():
    groups = shares("q", {"sex=f": 0.13, "sex=m": 0.87, "race=x": 0.0, "race=y": 1.0, "sex=f & race=y": 0.12})
    pairs = pairs_of([result("q")], groups)
    # Women lack 20 points, women of race y too: the group of fewer attributes is named.
    assert worst_off(pairs)["group"].tolist() == ["sex=f"]
    assert worst_off(pairs_of([result("q")], shares("q", {"race=x": 0.0, "race=y": 1.0}))).empty


def test_small_groups_leave_the_headline_but_not_the_table():
    # race=x holds 0.5% of the reference and 90% of the items: the largest gap, and no headline.
    groups = shares("nurse", {"race=x": 0.9, "sex=f": 0.43, "sex=m": 0.57})
    pairs = pairs_of([result("nurse")], groups)
    assert pairs.loc[0, "group"] == "race=x" and not pairs.loc[0, "is_headline"]
    assert headline(pairs)["group"].tolist() == ["sex=m"]
    assert headline(pairs_of([result("nurse")], groups, minimum_share=0.001))["group"].tolist() == ["race=x"]


def test_on_a_tie_of_one_sign_the_group_of_fewer_attributes_is_named():
    pairs = pairs_of([result("q")], shares("q", {"sex=f": 0.0, "sex=f & race=y": -0.01}))
    assert headline(pairs)["group"].tolist() == ["sex=f"]


def test_repaired_is_the_smallest_rho_that_was_met_and_costs_what_it_gives_up():
    results = [
        result("q"),
        result("q", "mopr", 0.01, status="infeasible", similarity=0.40),
        result("q", "mopr", 0.02, similarity=0.45),
        result("q", "mopr", 0.03, status="feasible", similarity=0.49),
        result("q", "mmr", 0.0, similarity=0.3),
    ]
    groups = shares("q", {"sex=f": 0.0}) + shares("q", {"sex=f": 0.3}, "mopr", 0.02)
    row = headline(pairs_of(results, groups)).iloc[0]
    assert row["method_repaired"] == "mopr" and row["rho_repaired"] == 0.02
    assert row["gap_repaired_points"] == pytest.approx(-3.0)
    assert row["similarity_fraction"] == pytest.approx(0.9)


def test_without_a_met_rho_or_with_a_negative_similarity_there_is_no_cost():
    groups = shares("q", {"sex=f": 0.0})
    unmet = headline(pairs_of([result("q"), result("q", "mopr", 0.01, status="not_found")], groups)).iloc[0]
    assert pd.isna(unmet["method_repaired"]) and pd.isna(unmet["share_repaired"])
    below = result("q", "mopr", 0.01, similarity=-0.2, similarity_top_k=-0.1)
    groups += shares("q", {"sex=f": 0.3}, "mopr", 0.01)
    row = headline(pairs_of([result("q", similarity=-0.1, similarity_top_k=-0.1), below], groups)).iloc[0]
    assert pd.isna(row["similarity_fraction"])
    assert row["similarity_loss"] == pytest.approx(0.1)


def test_mpr_comes_from_the_first_class_that_has_a_chi():
    results = [
        result("q", function_class="groups", mpr=0.4, chi=None),
        result("q", function_class="linear", mpr=None, chi=None),
        result("q", function_class="tree", mpr=0.2, chi=3.0),
    ]
    row = headline(pairs_of(results, shares("q", {"sex=f": 0.0}))).iloc[0]
    assert (row["function_class"], row["mpr"], row["chi"]) == ("tree", 0.2, 3.0)


def test_cases_differ_by_k_and_reference():
    results = [result("q"), result("q", k=20)]
    groups = shares("q", {"sex=f": 0.0}) + [row | {"k": 20} for row in shares("q", {"sex=f": 0.13})]
    top = headline(pairs_of(results, groups))
    assert top[["k", "gap_points"]].round(9).values.tolist() == [[10, -33.0], [20, -20.0]]


def test_worst_groups_are_means_over_queries():
    # Women: -33 and +7, mean -13, deviation sqrt(2) * 20; worst at the driver.
    results = [result("driver"), result("clerk")]
    groups = shares("driver", {"sex=f": 0.0}) + shares("clerk", {"sex=f": 0.4})
    row = worst_groups(pairs_of(results, groups)).iloc[0]
    assert row["mean_gap_points"] == pytest.approx(-13.0)
    assert row["deviation_points"] == pytest.approx(20 * 2**0.5)
    assert (row["times_worst"], row["worst_query"]) == (2, "driver")


def test_no_top_k_gives_no_pairs():
    pairs = pairs_of([result("q", "mmr", 0.5)], shares("q", {"sex=f": 0.0}, "mmr", 0.5))
    assert pairs.empty and headline(pairs).empty and worst_groups(pairs).empty


def with_p(groups: list[dict], p_values: dict[str, float], level: float = 0.3) -> list[dict]:
    return [
        group | {"largest_gap_chance": level} | dict.fromkeys(["p_chance", "p_largest"], p_values[group["group"]])
        for group in groups
    ]


def test_what_is_not_beyond_chance_is_no_headline():
    # Two queries, one found: values count 2 * (1 + 1/2) / 1 times, and 0.04 does not pass.
    real = with_p(shares("nurse", {"sex=f": 1.0, "sex=m": 0.0}), {"sex=f": 0.0001, "sex=m": 0.0001})
    luck = with_p(shares("driver", {"sex=f": 0.0, "sex=m": 1.0}), {"sex=f": 0.04, "sex=m": 0.04})
    pairs = pairs_of([result("nurse"), result("driver")], real + luck)
    assert headline(pairs)["query"].tolist() == ["nurse"]
    assert largest(pairs)["query"].tolist() == ["nurse", "driver"]
    assert worst_off(pairs)["query"].tolist() == ["nurse"]
    driver = pairs[pairs["query"] == "driver"].iloc[0]
    assert not driver["is_beyond_chance"]
    assert driver["p_adjusted"] == pytest.approx(0.12)
    assert driver["chance_points"] == 30


def test_a_group_of_a_query_passes_the_limit_that_the_queries_set():
    groups = with_p(
        shares("q", {"sex=f": 0.9, "sex=m": 0.1, "race=x": 0.1}), {"sex=f": 0.001, "sex=m": 0.01, "race=x": 0.9}
    )
    pairs = pairs_of([result("q")], groups).set_index("group")
    assert pairs["is_beyond_chance"].to_dict() == {"sex=f": True, "sex=m": True, "race=x": False}


def test_the_repaired_selection_is_the_most_similar_one_within_chance():
    rows = [
        result("q", "mopr", rho, mpr=rho, mpr_chance=0.03, rho=rho, similarity=0.4 + rho) for rho in (0.01, 0.02, 0.04)
    ]
    groups = shares("q", {"sex=f": 0.0}) + [
        one for rho in (0.01, 0.02, 0.04) for one in shares("q", {"sex=f": 0.3}, "mopr", rho)
    ]
    row = headline(pairs_of([result("q"), *rows], groups)).iloc[0]
    assert (row["rho_repaired"], row["is_repaired_to_chance"]) == (0.02, True)
    assert row["mpr_chance_repaired"] == 0.03
    beyond = [one | {"mpr_chance": 0.005} for one in rows]
    row = headline(pairs_of([result("q"), *beyond], groups)).iloc[0]
    assert (row["rho_repaired"], row["is_repaired_to_chance"]) == (0.01, False)


@pytest.mark.parametrize(
    ("columns", "is_within"),
    [
        ({"p_rho": None}, True),
        ({}, True),
        ({"p_rho": 0.95}, True),
        # The estimate is below the point of chance, and the run did not claim it.
        ({"p_rho": 0.6, "status": "not_found", "mpr_corrected": 0.01}, False),
        ({"p_rho": 0.95, "rho": 0.3, "mpr_corrected": 0.01}, False),
        # What is claimed of sets is not claimed of an order.
        ({"p_rho": 0.95, "attention": "log2", "target_attention": None}, False),
        ({"p_rho": 0.95, "attention": "uniform", "target_attention": "uniform"}, True),
    ],
)
def test_where_labels_may_be_wrong_chance_level_is_a_claim(columns, is_within):
    row = result("nurse", "mopr", 0.1) | {"mpr": 0.1, "mpr_chance": 0.15, "mpr_corrected": None} | columns
    assert is_within_chance(pd.DataFrame([row])).tolist() == [is_within]
    if row["status"] == "optimal":
        groups = shares("nurse", {"sex=f": 0.9}) + shares("nurse", {"sex=f": 0.5}, "mopr", 0.1)
        assert pairs_of([result("nurse"), row], groups)["is_repaired_to_chance"].tolist() == [is_within]
