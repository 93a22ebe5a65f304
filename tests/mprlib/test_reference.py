"""Builders of reference populations."""

import numpy as np
import pytest

from mprlib import InputError, Problem, Reference, measure
from mprlib.encoding import Encoding
from mprlib.populations import balanced, target_shares

ENCODING = Encoding(levels={"gender": ("female", "male"), "age": ("<50", "50+")})
ROWS = {"gender": ["female", "male", "male"], "age": ["<50", "<50", "50+"]}


def shares_of(reference) -> dict[tuple[str, str], float]:
    rows = [tuple(name.split("=")[1] for name, hot in zip(ENCODING.names, row) if hot) for row in reference.labels]
    return dict(zip(rows, reference.shares))


def test_codes_count_rows_and_sampling_weights():
    reference = Reference.of_codes(ENCODING, ENCODING.codes(ROWS), weights=[1, 2, 3])
    assert shares_of(reference) == {("female", "<50"): 1 / 6, ("male", "<50"): 2 / 6, ("male", "50+"): 3 / 6}
    assert reference.counts.tolist() == [1, 1, 1]
    assert reference.is_sample and reference.size is None


def test_balanced_has_one_row_for_each_combination():
    reference = balanced(ENCODING)
    assert reference.labels.shape == (4, 4) and len(np.unique(reference.labels, axis=0)) == 4
    # As many rows as the paper counts, stated so that nobody takes them for a sample.
    assert reference.size == 4 and not reference.is_sample
    assert balanced(ENCODING, size=10_000).size == 10_000


def test_marginals_alone_are_completed_by_independence():
    stated = {"gender": {"female": 0.4, "male": 0.6}, "age": {"<50": 0.75, "50+": 0.25}}
    joint = shares_of(target_shares(ENCODING, stated))
    assert joint[("female", "50+")] == pytest.approx(0.1)
    assert joint[("male", "<50")] == pytest.approx(0.45)


def test_joint_shares_are_kept_and_open_attributes_are_equal():
    stated = {"gender & age": {"female & <50": 0.1, "female & 50+": 0.2, "male & <50": 0.3, "male & 50+": 0.4}}
    assert shares_of(target_shares(ENCODING, stated))[("male", "50+")] == pytest.approx(0.4)
    only = shares_of(target_shares(ENCODING, {"gender": {"female": 0.8, "male": 0.2}}))
    assert only[("female", "<50")] == pytest.approx(0.4)


def test_marginals_and_a_joint_meet():
    encoding = Encoding(levels={"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1")})
    stated = {
        ("a", "b"): {("0", "0"): 0.4, ("0", "1"): 0.1, ("1", "0"): 0.2, ("1", "1"): 0.3},
        ("b", "c"): {("0", "0"): 0.5, ("0", "1"): 0.1, ("1", "0"): 0.1, ("1", "1"): 0.3},
        "c": {"0": 0.6, "1": 0.4},
    }
    reference = target_shares(encoding, stated)
    totals = reference.shares @ reference.labels
    assert totals == pytest.approx([0.5, 0.5, 0.6, 0.4, 0.6, 0.4], abs=1e-6)
    is_first = (reference.labels[:, 0] == 1) & (reference.labels[:, 2] == 1)
    assert reference.shares[is_first].sum() == pytest.approx(0.4, abs=1e-6)


def test_a_level_without_a_share_has_none():
    reference = target_shares(ENCODING, {"gender": {"female": 1.0}})
    assert reference.labels[:, 1].sum() == 0
    problem = Problem(
        scores=[1, 0],
        labels=ENCODING.encode({"gender": ["male", "female"], "age": ["<50", "50+"]}),
        k=1,
        attributes=ENCODING.attributes,
        label_names=ENCODING.names,
        reference=reference,
    )
    assert measure(problem, [0], "groups").value == pytest.approx(1.0)
    assert problem.m == 10_000


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({}, "shares is empty"),
        ({"sex": {"female": 1.0}}, "attribute 'sex'"),
        ({"gender": {"woman": 1.0}}, "'woman'"),
        ({"gender": {"female": 0.5, "male": 0.4}}, "sum to 0.9"),
        ({"gender": {"female": 50, "male": 50}}, "percentages"),
        ({"gender": {"female": -0.5, "male": 1.5}}, "-0.5"),
        ({"gender": {"female": float("nan"), "male": 1.0}}, "nan"),
        ({"gender": {"female": float("inf"), "male": 1.0}}, "inf"),
        ({"gender & gender": {"female & female": 1.0}}, "repeats"),
        (
            {"gender": {"female": 0.5, "male": 0.5}, "gender & age": {"female & <50": 0.6, "male & <50": 0.4}},
            "contradict",
        ),
        (
            {"gender": {"female": 0.5, "male": 0.5}, "gender & age": {"male & <50": 1.0}},
            "contradict",
        ),
    ],
)
def test_refuses_shares_that_no_population_has(stated, message):
    with pytest.raises(InputError, match=message):
        target_shares(ENCODING, stated)


@pytest.mark.parametrize("size", [0, -1, np.inf, np.nan])
def test_refuses_a_size_that_is_none(size):
    with pytest.raises(InputError, match="size"):
        balanced(ENCODING, size=size)


def test_a_missing_value_is_no_group_of_a_balanced_reference():
    encoding = Encoding(levels={"gender": ("female", "male", "unknown"), "age": ("<50", "50+")})
    reference = balanced(encoding, missing="unknown")
    assert reference.size == 4 and reference.labels[:, 2].sum() == 0
    assert reference.shares @ reference.labels == pytest.approx([0.5, 0.5, 0.0, 0.5, 0.5])
