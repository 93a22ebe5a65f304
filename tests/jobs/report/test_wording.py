"""Numbers and names as a reader sees them."""

from __future__ import annotations

import pytest

from jobs.analysis import wording
from jobs.report.page import _exposure

PAIR = {
    "group": "sex=Female & race=Black", "gap_points": -33.0, "share_selected": 0.0, "share_reference": 0.33, "k": 50,
    "method_repaired": "mopr", "rho_repaired": 0.005, "share_repaired": 0.34, "gap_repaired_points": 1.0,
    "similarity_fraction": 0.9877,
}  # fmt: skip


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (wording.percent, 0.333, "33%"), (wording.percent, 0.004, "0.4%"), (wording.percent, 0.0, "0%"),
        (wording.percent, 1.0, "100%"), (wording.percent, 0.02, "2%"), (wording.percent, None, "no value"),
        (wording.points, -66.84, "\u221266.8"), (wording.points, 0.04, "0.0"), (wording.points, -0.04, "0.0"),
        (wording.points, 67.25, "+67.3"), (wording.points, -67.25, "\u221267.3"),
        (wording.points, float("nan"), "no value"),
        (wording.number, 0.10407, "0.104"), (wording.number, 0.00337, "0.00337"), (wording.number, 0, "0"),
        (wording.number, 12345.6, "12,346"), (wording.number, None, "no value"),
        (wording.cost, {"similarity_fraction": 0.9877}, "1.2%"), (wording.cost, {"similarity_fraction": 1.0}, "0%"),
        (wording.cost, {"similarity_fraction": 0.99934}, "0.07%"),
        (wording.cost, {"similarity_fraction": None}, "no value"),
        (wording.cost, {"similarity_fraction": float("nan"), "similarity_loss": 0.01234}, "0.0123"),
        (wording.group_name, "sex=f & age=30=up", "sex: f, age: 30=up"), (wording.group_name, "not x", "not x"),
    ],
)  # fmt: skip
def test_writes(write, value, text):
    assert write(value) == text


def test_the_verdict_names_group_gap_and_cost():
    assert wording.verdict(PAIR) == (
        "Worst off: sex: Female, race: Black, 0% of the 50 items against 33% of the reference "
        "(\u221233.0 points). Retrieval constrained by mopr with rho = 0.005, the smallest it met, shows 34% "
        "(+1.0 points), at the cost of 1.2% of top-k's mean similarity."
    )


def test_the_verdict_names_who_is_worst_off_where_the_largest_gap_is_of_others():
    men = PAIR | {"group": "sex=Male", "gap_points": 40.0, "share_selected": 1.0, "share_reference": 0.6}
    assert wording.verdict(men, PAIR) == (
        "Worst off: sex: Female, race: Black, 0% of the 50 items against 33% of the reference (\u221233.0 points). "
        "Shown too much: sex: Male, 100% of the 50 items against 60% of the reference (+40.0 points). Retrieval "
        "constrained by mopr "
        "with rho = 0.005, the smallest it met, shows 34% (+1.0 points) of sex: Female, race: Black and 34% (+1.0 "
        "points) of sex: Male, at the cost of 1.2% of top-k's mean similarity."
    )
    assert wording.verdict(PAIR, PAIR) == wording.verdict(PAIR)


@pytest.mark.parametrize(
    ("change", "end"),
    [
        ({"method_repaired": None}, "No constrained selection met any rho."),
        ({"similarity_fraction": 1.0}, "at no cost in mean similarity."),
        ({"similarity_fraction": None}, "its cost in similarity is unknown."),
        (
            {"similarity_fraction": None, "similarity_loss": 0.0123},
            "at the cost of 0.0123 in mean similarity, which is not positive for top-k.",
        ),
        ({"similarity_fraction": None, "similarity_loss": 0.0}, "at no cost in mean similarity."),
        ({"gap_repaired_points": None}, "whose group shares were not recorded."),
    ],
)
def test_the_verdict_says_what_is_not_known(change: dict, end: str):
    assert wording.verdict(PAIR | change).endswith(end)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"is_beyond_chance": True}, "points; a random 50 stays within 17.6: beyond chance)"),
        ({"is_beyond_chance": False, "gap_points": -16.4}, "points; a random 50 stays within 17.6: within chance)"),
        ({"is_beyond_chance": False}, "but among so many queries this is within chance)"),
        ({"is_beyond_chance": None}, "points)."),
    ],
)
def test_the_verdict_says_whether_a_gap_is_beyond_chance(change: dict, said: str):
    text = wording.verdict(PAIR | {"chance_points": 17.6} | change)
    assert said in text
    assert text.startswith("Within chance: ") == (change["is_beyond_chance"] is False)


def test_the_verdict_names_reference_and_precision_and_what_the_repair_aims_at():
    text = wording.verdict(
        PAIR
        | {"reference": "population", "is_repaired_to_chance": True, "target_repaired": "linear", "rho_repaired": 0.026}
        | {"precision": 0.98, "precision_repaired": 0.96}
    )
    assert "of reference \u201cpopulation\u201d" in text
    assert "Retrieval held to the MPR of a random 50 under linear (mopr, rho = 0.026) shows 34%" in text
    assert text.endswith("top-k's mean similarity; precision goes from 98% to 96%.")


@pytest.mark.parametrize(
    ("rho", "held", "bound"),
    [
        (0.103, "held to the MPR of a random 50 under linear (mopr, rho = 0.103) shows", False),
        (0.103 * (1 + 1e-12), "held to the MPR of a random 50 under linear (mopr, rho = 0.103) shows", False),
        (0.0595, "held within the MPR of a random 50 under linear, 0.103 (mopr, rho = 0.0595), shows", True),
        # Asked for more, and found within chance all the same.
        (0.12, "held within the MPR of a random 50 under linear, 0.103 (mopr, rho = 0.12), shows", False),
    ],
)
def test_what_was_held_to_less_than_chance_is_no_price_of_chance(rho: float, held: str, bound: bool):
    repaired = {"is_repaired_to_chance": True, "target_repaired": "linear", "mpr_chance_repaired": 0.103}
    pair = PAIR | repaired | {"rho_repaired": rho}
    assert held in wording.verdict(pair)
    assert (
        "at the cost of 1.2% of top-k's mean similarity; chance level itself costs at most that."
        in wording.verdict(pair)
    ) == bound
    assert wording.is_below_chance(pair) == bound
    without = pair | {"similarity_fraction": None, "similarity_loss": 0.01}
    assert ("for top-k; chance level itself costs at most that." in wording.verdict(without)) == bound
    assert "at most" not in wording.verdict(pair | {"similarity_fraction": 1.0})
    assert not wording.is_below_chance(pair | {"is_repaired_to_chance": False})


def test_shares_of_predicted_labels_are_said_to_be_so_also_where_the_true_ones_are_not_known():
    unknown = PAIR | {"is_predicted": True, "share_corrected": None, "share_repaired_corrected": None}
    assert wording.by_labels(unknown) == " by predicted labels (by the true ones not known)"
    assert wording.verdict(unknown).count("by predicted labels") == 2
    assert wording.by_labels(PAIR | {"is_predicted": False, "share_corrected": None}) == ""


@pytest.mark.parametrize(
    ("attention", "said"),
    [
        (["uniform"], "1/log2 of the place + 1"),
        (["uniform", "geometric(0.5)"], "geometric(0.5)"),
        (["log2", "uniform", "geometric(0.5)", "geometric(0.8)"],
         "1/log2 of the place + 1; not shown: geometric(0.5), geometric(0.8)"),
        # Of a manifest that nobody can read.
        (None, "1/log2 of the place + 1"),
    ],
)  # fmt: skip
def test_the_curve_of_shares_of_the_attention_is_named_and_so_are_the_others(attention, said):
    assert _exposure(attention) == said
