"""Whom a measured gap speaks of."""

import numpy as np
import pytest

from mprlib import Problem, measure
from mprlib.witness import NO_GAP
from tests.populations import one_hot_problem

SEX_AND_AGE = ["sex=female", "sex=male", "age=<50", "age=50+"]


def people(rows: str) -> np.ndarray:
    """One row a letter: f, m for women and men under 50, F, M over."""
    return np.array([[row in "fF", row in "mM", row in "fm", row in "FM"] for row in rows], dtype=float)


def shown_and_population(k: int = 4) -> Problem:
    return Problem(
        scores=np.arange(12)[::-1],
        labels=people("mmmf" + "ffFFmmMM"),
        reference=people("ffFFFmmmMM"),
        k=k,
        attributes={"sex": [0, 1], "age": [2, 3]},
        label_names=SEX_AND_AGE,
    )


def test_named_group_reads_as_a_sentence():
    result = measure(shown_and_population(), range(4), "groups")
    # 100% of those shown are under 50, 50% of the reference.
    assert str(result.witness) == "age=<50: 100% retrieved, 50% in the reference"
    assert result.value == pytest.approx(0.5)


def test_cells_carry_both_shares_and_their_contributions_sum_to_the_value():
    result = measure(shown_and_population(), range(4), "saturated")
    groups = {group.name: group for group in result.witness.groups}
    assert set(groups) == {f"sex={sex} & age={age}" for sex in ("female", "male") for age in ("<50", "50+")}
    assert groups["sex=male & age=<50"].share_selected == 0.75
    assert groups["sex=female & age=50+"].share_reference == pytest.approx(0.3)
    assert sum(group.contribution for group in groups.values()) == pytest.approx(result.value)
    assert "sex=male & age=<50: 75% retrieved, 30% in the reference" in result.witness.sentence


def test_rare_groups_stay_out_of_the_sentence_but_not_out_of_the_groups():
    reference = np.repeat(people("fM"), [999, 1], axis=0)
    problem = Problem(
        scores=np.zeros(4),
        labels=people("MMff"),
        reference=reference,
        k=2,
        attributes={"sex": [0, 1], "age": [2, 3]},
        label_names=SEX_AND_AGE,
    )
    witness = measure(problem, [0, 1], "groups").witness
    assert "sex=male" in {group.name for group in witness.groups}
    assert witness.sentence.startswith("sex=female: 0% retrieved, 100%")


def test_small_shares_keep_a_decimal():
    problem = Problem(
        scores=np.zeros(1000),
        labels=np.repeat([[1.0, 0.0], [0.0, 1.0]], [996, 4], axis=0),
        reference=[[1.0, 0.0], [0.0, 1.0]],
        k=1000,
        attributes={"sex": [0, 1]},
        label_names=SEX_AND_AGE[:2],
    )
    assert "sex=male: 0.4% retrieved, 50% in the reference" in str(measure(problem, range(1000), "saturated").witness)


def test_embeddings_name_the_extreme_items_of_both_sides():
    """Everything shown lies to the right, everything else to the left, in order of its id."""
    labels = np.concatenate([np.linspace(1, 2, 10), np.linspace(-2, -1, 40)])[:, None]
    problem = Problem(
        scores=np.zeros(50),
        labels=labels,
        reference=np.linspace(-2, -1.1, 37)[:, None],
        k=10,
        item_ids=[f"img{place:02d}" for place in range(50)],
    )
    witness = measure(problem, range(10), "linear").witness
    assert witness.items_above == ("img09", "img08", "img07", "img06", "img05")
    assert witness.items_below == ("img10", "img11", "img12", "img13", "img14")
    assert witness.groups[0].name == "item img09"
    assert "img09" in witness.sentence and "img10" in witness.sentence


def test_no_gap_is_said():
    problem = Problem(scores=[0, 0], labels=[[0], [1]], reference=[[0], [1]], k=2)
    assert str(measure(problem, [0, 1], "linear").witness) == NO_GAP


def test_a_witness_holds_ten_groups_at_most():
    assert len(measure(one_hot_problem(levels=(2, 7, 9)), range(20), "saturated").witness.groups) == 10
