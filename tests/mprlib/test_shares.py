"""Stated shares can name everything, in one way alone, and only combinations with a share become rows."""

import json

import numpy as np
import pandas as pd
import pytest

from mprlib import InputError
from mprlib.encoding import Encoding
from mprlib.populations import balanced, target_shares
from mprlib.shares import LARGEST_COMBINATIONS, possible_combinations, statement

SECTORS = {"sex": ("f", "m"), "sector": ("arts", "hotels & food", "food")}


def joint_of(levels, shares) -> dict[tuple[str, ...], float]:
    """Weights by combination of levels."""
    encoding = Encoding(levels=levels)
    reference = target_shares(encoding, shares)
    names = [level for own in levels.values() for level in own]
    rows = [tuple(name for name, hot in zip(names, row) if hot) for row in reference.labels]
    return dict(zip(rows, reference.shares.tolist()))


@pytest.mark.parametrize(
    ("attributes", "groups"),
    [
        ("sex & sector", ["f & hotels & food", "m & arts"]),
        ("sex&sector", ["f&hotels & food", "m&arts"]),
        ('"sex" & sector', ['f & "hotels & food"', '"m" & "arts"']),
        (("sex", "sector"), [("f", "hotels & food"), ("m", "arts")]),
        ("sector & sex", ["hotels & food & f", "arts & m"]),
    ],
)
def test_levels_that_hold_an_ampersand_are_stated_jointly(attributes, groups):
    shares = joint_of(SECTORS, {attributes: dict(zip(groups, (0.25, 0.75)))})
    assert shares == {("f", "hotels & food"): pytest.approx(0.25), ("m", "arts"): pytest.approx(0.75)}


def test_attributes_that_hold_an_ampersand_are_stated_alone_and_jointly():
    levels = {"race & ethnicity": ("a", "b"), "sex": ("f", "m")}
    assert statement(levels, "race & ethnicity", {"a": 0.5, "b": 0.5}).names == ("race & ethnicity",)
    joint = statement(levels, "race & ethnicity & sex", {"a & f": 1.0})
    assert joint.names == ("race & ethnicity", "sex") and joint.groups == (("a", "f"),)


@pytest.mark.parametrize("text", ["a", "a & b", ' " ', '"', "x=y", "a & b=c", "&", "é\u200b"])
def test_every_level_can_be_stated_in_quotes(text):
    levels = {"s": ("f", "m"), "t": (text, "other")}
    key = f"f & {json.dumps(text)}"
    assert statement(levels, "s & t", {key: 1.0}).groups == (("f", text),)
    assert statement(levels, ("s", "t"), {("f", text): 1.0}).groups == (("f", text),)
    assert statement(levels, "t", {text: 1.0}).groups == ((text,),)


def test_what_can_be_read_in_two_ways_is_refused_and_quotes_say_which():
    levels = {"s": ("f", "f & g"), "t": ("g & h", "h")}
    with pytest.raises(InputError, match=r"can be read as \('f', 'g & h'\) or as \('f & g', 'h'\): put its parts into"):
        statement(levels, "s & t", {"f & g & h": 1.0})
    assert statement(levels, "s & t", {'"f & g" & h': 1.0}).groups == (("f & g", "h"),)
    attributes = {"a": ("0", "1"), "b": ("0", "1"), "a & b": ("0", "1")}
    with pytest.raises(InputError, match="can be read as"):
        statement(attributes, "a & b", {"0": 1.0})
    assert statement(attributes, '"a & b"', {"0": 1.0}).names == ("a & b",)
    assert statement(attributes, '"a" & "b"', {"0 & 1": 1.0}).names == ("a", "b")


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"sex & sectors": {"f & arts": 1.0}}, "attribute 'sex & sectors', which is none, nor several joined"),
        ({("sex", "sectors"): {("f", "arts"): 1.0}}, "known are sex, sector"),
        ({"sex & sector": {"f & hotels": 1.0}}, r"names 'f & hotels': known are f & arts, f & hotels & food, f & food"),
        ({"sex": {"f": 0.5, "m": 0.5, "x": 0.0}}, r"shares\['sex'\] names 'x': known are f, m"),
        ({("sex", "sector"): {("f",): 1.0}}, "names \\('f',\\)"),
        ({"sex & sector": {"f & arts": 0.5, ("f", "arts"): 0.5}}, "twice"),
        ({"sex": {"f": "0.5", "m": 0.5}}, r"shares\['sex'\]\['f'\] is '0.5': a number from 0 to 1"),
        ({"sex": {"f": True}}, "is True: a number"),
        ({"sex": {"f": None}}, "is None: a number"),
        ({"sex": 0.5}, r"shares\['sex'\] is 0.5: a mapping"),
        ({"sex": {}}, "a mapping of levels"),
        ([("sex", {})], "shares is empty"),
        ({"sex": {"f": 1.0}, "sex & sector": {"m & arts": 1.0}}, "contradict"),
    ],
)
def test_refused_in_one_sentence(stated, message):
    with pytest.raises(InputError, match=message):
        target_shares(Encoding(levels=SECTORS), stated)


def binary(attributes: int) -> dict[str, tuple[str, str]]:
    return {f"a{place}": ("0", "1") for place in range(attributes)}


def test_forty_attributes_with_joint_shares_of_what_occurs():
    """2^40 combinations, of which three have a share."""
    levels = binary(40)
    rows = np.random.default_rng(0).integers(0, 2, (3, 40)).astype(str)
    stated = {tuple(levels): {tuple(row): share for row, share in zip(rows.tolist(), (0.5, 0.3, 0.2))}}
    shares = joint_of(levels, stated | {"a0": {rows[0, 0]: 1.0}} if len(set(rows[:, 0])) == 1 else stated)
    assert sorted(shares.values()) == pytest.approx([0.2, 0.3, 0.5])


def test_levels_without_a_share_take_no_room():
    """2^40 combinations, of which 2^5 have a share."""
    levels = binary(40)
    stated = {name: {"0": 0.5, "1": 0.5} if place < 5 else {"1": 1.0} for place, name in enumerate(levels)}
    assert list(joint_of(levels, stated).values()) == pytest.approx([1 / 32] * 32)


@pytest.mark.parametrize("build", [balanced, lambda encoding: target_shares(encoding, {"a0": {"0": 0.5, "1": 0.5}})])
def test_too_many_combinations_are_refused_with_advice(build):
    with pytest.raises(InputError, match="combinations of levels open, or more, .* take fewer attributes"):
        build(Encoding(levels=binary(40)))


def test_as_many_combinations_as_allowed_are_built():
    assert len(possible_combinations(binary(16))) == 2**16 <= LARGEST_COMBINATIONS


def test_joins_equal_the_product_of_all_levels():
    """Three statements that share attributes; combinations where all of them have a share, in order."""
    random = np.random.default_rng(0)
    levels = {"a": ("0", "1", "2"), "b": ("0", "1"), "c": ("0", "1", "2"), "d": ("0", "1")}
    for _ in range(20):
        stated = []
        for names in (("a", "b"), ("b", "c"), ("c",)):
            groups = np.stack(np.meshgrid(*(levels[name] for name in names), indexing="ij"), -1).reshape(-1, len(names))
            kept = {tuple(group): float(random.random() < 0.6) for group in groups.tolist()}
            stated.append((names, statement(levels, names, kept), kept))
        everything = possible_combinations(levels)
        is_possible = [
            all(kept[tuple(levels[name][row[list(levels).index(name)]] for name in names)] for names, _, kept in stated)
            for row in everything
        ]
        found = possible_combinations(levels, [one for _, one, _ in stated])
        assert found.tolist() == everything[is_possible].tolist()


def test_levels_are_text_and_missing_values_are_no_level():
    encoding = Encoding(levels={"year": (2020, 2021)})
    assert encoding.names == ("year=2020", "year=2021")
    assert encoding.encode({"year": [2021, 2020]}).tolist() == [[0, 1], [1, 0]]
    for rows in ([2020, None], np.array([2020.0, np.nan]), ["2020", float("nan")], ["2020", pd.NA]):
        with pytest.raises(InputError, match="attribute 'year' has a missing value"):
            encoding.encode({"year": rows})
        with pytest.raises(InputError, match="attribute 'year' has a missing value"):
            Encoding.of({"year": rows})
