"""Levels of several data sets together: what is missing, what nobody has, and what a reader should know of them."""

import re

import numpy as np
import pandas as pd
import pytest

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.errors import UsageError
from jobs.plan.level_remarks import similar_levels
from jobs.store import unit_file
from mprlib.level_names import missing_name

from ..conftest import DIMENSION, PEOPLE, people, write_audit
from ..units_in_process import run_units

ATTRIBUTES = {"gender": {}, "age": {"bins": [30, 60]}}
OTHER = "{path: other.parquet, id: person, attributes: {gender: {}, age: {bins: [30, 60]}}}"


def with_genders(*genders, seed=0):
    """People, the first of whom have these genders."""
    frame = people(seed)
    frame["gender"] = [*genders, *frame["gender"][len(genders) :]]
    return frame


def prepared(folder, table=None, overrides=(), **changes):
    return prepare(read_config(write_audit(folder, table, **changes), overrides))


def dataset(**changes):
    return {"path": "people.parquet", "id": "person", "attributes": ATTRIBUTES} | changes


def test_a_missing_value_has_a_name_that_no_level_has():
    assert missing_name(["f", "m"]) == "unknown"
    assert missing_name(["f", "unknown"], ["m"]) == "missing"
    assert missing_name(["unknown", "missing", "missing value", "missing value 2"]) == "missing value 3"


def test_a_real_unknown_stays_apart_from_missing_values(tmp_path):
    inputs, plan = prepared(tmp_path, with_genders("unknown", "unknown", None))
    catalogue = inputs.catalogues["items"]
    assert catalogue.levels["gender"] == ("female", "male", "unknown", "missing")
    assert catalogue.items["attribute:gender"].to_pylist()[:3] == ["unknown", "unknown", "missing"]
    assert plan.notes == (
        "dataset items: attribute 'gender': items without a value are called 'missing', since 'unknown' is a level",
    )


def test_only_missing_values_are_dropped(tmp_path):
    inputs, _ = prepared(tmp_path, with_genders("unknown", None), dataset=dataset(missing="drop"))
    catalogue = inputs.catalogues["items"]
    assert catalogue.dropped == {"missing attribute value": 1}
    assert catalogue.levels["gender"] == ("female", "male", "unknown")


def test_missing_values_have_one_name_in_the_data_set_and_its_reference(tmp_path):
    for mine, theirs in ((["unknown"], [None]), ([None], ["unknown"]), ([None], [None, "unknown"])):
        with_genders(*theirs, seed=3).to_parquet(tmp_path / "other.parquet")
        override = (f"reference={{name: other, kind: dataset, dataset: {OTHER}}}",)
        inputs, plan = prepared(tmp_path, with_genders(*mine), override)
        both = [inputs.catalogues["items"], inputs.references["other"]]
        assert [one.missing for one in both] == ["missing", "missing"]
        for one, first in zip(both, (mine, theirs)):
            expected = ["missing" if gender is None else gender for gender in first]
            assert one.items["attribute:gender"].to_pylist()[: len(first)] == expected
        assert plan.stages["solve"][0].missing == "missing"
        assert set(plan.stages["solve"][0].levels["gender"]) == {"female", "male", "unknown", "missing"}


def test_a_balanced_reference_has_the_real_unknown_and_not_the_missing(tmp_path):
    plan, store = run_units(
        tmp_path, table=with_genders("unknown", "unknown", None), reference={"kind": "balanced"}, methods=["top_k"]
    )
    groups = store.read_table(unit_file("solve", plan.stages["solve"][0].key, "groups")).to_pandas()
    share = groups.set_index("group")["share_reference"]
    assert share["gender=unknown"] == pytest.approx(1 / 3)
    assert share["gender=missing"] == 0


def test_classes_of_pbm_leave_out_the_missing_alone(tmp_path):
    """Of two genders that are female and unknown, each is half of what is shown; who has none is neutral."""
    frame = people()
    frame["gender"] = np.where(frame["gender"] == "male", "unknown", "female")
    frame.loc[:4, "gender"] = None
    methods = [{"pbm": {"values": [0.0], "attributes": ["gender"]}}]
    plan, store = run_units(tmp_path, table=frame, methods=methods)
    shown = store.read_table(unit_file("solve", plan.stages["solve"][0].key, "results"))["item_ids"][0].as_py()
    found = frame.set_index("person")["gender"][shown]
    assert abs((found == "female").sum() - (found == "unknown").sum()) <= 1


def test_levels_that_hold_what_joins_names_stay_apart(tmp_path):
    """(a, "b&c") beside ("a&b", c), and "=unknown" at the end of a real level."""
    frame = people()
    frame["first"] = np.where(np.arange(PEOPLE) % 2, "a", "a&b")
    frame["second"] = np.where(np.arange(PEOPLE) % 2, "b&c", "c=unknown")
    block = dataset(attributes={"first": {}, "second": {}})
    methods = [{"pbm": {"values": [0.0]}}, {"clip_clip": {"points": 1}}]
    plan, store = run_units(tmp_path, table=frame, dataset=block, methods=methods, function_classes=["linear"])
    [unit] = [unit for unit in plan.stages["solve"] if unit.title == "items: nurse: pbm"]
    shown = store.read_table(unit_file("solve", unit.key, "results"))["item_ids"][0].as_py()
    found = frame.set_index("person")["first"][shown]
    assert (found == "a").sum() == 5
    parts = [store.read_table(unit_file("information", unit.key, "information")) for unit in plan.stages["information"]]
    assert sum(part.num_rows for part in parts) == DIMENSION


@pytest.mark.parametrize(
    ("shares", "key", "words"),
    [
        ({"gender": {"femle": 0.5, "male": 0.5}}, ("gender", "femle"), "nobody in dataset items has the gender 'femle"),
        ({"gender": {"female": 0.5, "male": 0.5, "diverse": 0.0}}, ("gender", "diverse"), "known are female"),
        ({"gender & age": {"female & under 31": 1.0}}, ("gender & age",), "under 31"),
        ({"shoe": {"big": 1}}, ("shoe",), "'shoe'"),
        ({"gender": {"female": 0.7, "male": 0.7}}, ("gender",), "gender"),
        ({"gender": {"female": 0.5, "male": 0.5}, "age": {"under 30": 2.0}}, ("age",), "age"),
    ],
)  # fmt: skip
def test_shares_of_what_nobody_has_are_refused_with_their_key(tmp_path, shares, key, words):
    references = [{"kind": "population"}, {"name": "census", "kind": "shares", "shares": shares}]
    with pytest.raises(UsageError, match=words) as caught:
        prepared(tmp_path, reference=references)
    assert re.search(rf"audit.yaml:\d+: {re.escape('.'.join(('reference.1.shares', *key)))}: ", str(caught.value))


def test_a_level_that_order_names_can_be_stated_though_nobody_has_it(tmp_path):
    attributes = {"gender": {"order": ["male", "female", "diverse"]}, "age": {"bins": [30, 60]}}
    shares = {"gender": {"female": 0.5, "male": 0.4, "diverse": 0.1}}
    _, plan = prepared(tmp_path, dataset=dataset(attributes=attributes), reference={"kind": "shares", "shares": shares})
    assert plan.stages["solve"][0].levels["gender"] == ("male", "female", "diverse")
    assert plan.notes == (
        "dataset items: attribute 'gender': `order` names 'diverse', which no item has",
        "attribute 'gender': the value 'diverse' occurs in reference population only",
    )


def test_shares_may_name_what_another_data_set_of_the_audit_has(tmp_path):
    with_genders("diverse", seed=3).to_parquet(tmp_path / "other.parquet")
    blocks = [dataset(name="mine"), dataset(name="theirs", path="other.parquet")]
    shares = {"gender": {"female": 0.5, "male": 0.4, "diverse": 0.1}}
    _, plan = prepared(tmp_path, dataset=blocks, reference={"name": "census", "kind": "shares", "shares": shares})
    assert plan.notes == ("attribute 'gender': the value 'diverse' occurs in reference census only",)


def test_levels_that_shares_leave_out_are_remarked(tmp_path):
    _, plan = prepared(
        tmp_path, with_genders(None), reference={"kind": "shares", "shares": {"gender": {"female": 0.5, "male": 0.5}}}
    )
    assert plan.notes == ("attribute 'gender': the value 'unknown' occurs in dataset items only",)


@pytest.mark.parametrize(
    ("levels", "shown"),
    [
        (["f", "f ", "m"], "'f' and 'f '"),
        (["new york", "newyork"], "'new york' and 'newyork'"),
        (["f", "f\u200b"], "'f' and 'f\\u200b'"),
        (["f", "\ufefff"], "'f' and '\\ufefff'"),
        (["a\xa0b", "a b"], "'a\\xa0b' and 'a b'"),
        (["\xe9", "e\u0301"], "'\\xe9' and 'e\\u0301'"),
        (["\uff26", "F"], "'\\uff26' and 'F'"),
        (["Male", "male"], "'Male' and 'male'"),
    ],
)
def test_levels_that_people_take_for_one_are_remarked(levels, shown):
    [remark] = similar_levels("sex", levels)
    assert shown in remark and "attribute 'sex'" in remark


@pytest.mark.parametrize("levels", [["f", "m"], ["1", "10", "01"], ["a", "\xe4"], ["a-b", "ab"], []])
def test_levels_that_differ_for_the_eye_are_not(levels):
    assert list(similar_levels("sex", levels)) == []


def test_alike_levels_of_data_set_and_reference_are_remarked(tmp_path):
    frame = people(3)
    frame["gender"] = frame["gender"] + " "
    frame.to_parquet(tmp_path / "other.parquet")
    _, plan = prepared(tmp_path, overrides=(f"reference={{name: other, kind: dataset, dataset: {OTHER}}}",))
    assert any("2 sets of levels differ by white space" in note for note in plan.notes)


def test_too_many_levels_and_words_for_nothing_are_remarked(tmp_path):
    frame = people()
    frame["name"] = [f"n{number % 51}" for number in range(PEOPLE)]
    frame["region"] = ["NA", "EU"] * (PEOPLE // 2)
    block = dataset(attributes={"name": {}, "region": {}, "age": {"bins": [30]}})
    _, plan = prepared(tmp_path, frame, dataset=block)
    assert plan.notes == (
        "dataset items: attribute 'name' has 51 levels, more than 50: bins or map make groups of them",
        (
            "dataset items: attribute 'region': 'NA' is a level, as any text; where it means no value, "
            "map: {'NA': ''} says so"
        ),
    )


def test_probes_take_a_real_unknown_for_a_level(tmp_path):
    volunteers = people(5)
    volunteers["gender"] = np.where(volunteers["gender"] == "male", "unknown", "female")
    volunteers.loc[:9, "gender"] = None
    volunteers.to_parquet(tmp_path / "volunteers.parquet")
    labelled = {"path": "volunteers.parquet", "id": "person", "attributes": {"gender": {}}}
    block = dataset(attributes={"gender": {"probe": "gender"}, "age": {"bins": [30, 60]}})
    probes = {"gender": {"dataset": labelled, "least_probability": 0.9}}
    plan, store = run_units(tmp_path, dataset=block, probes=probes, methods=["top_k"])
    assert plan.stages["solve"][0].levels["gender"] == ("female", "unknown", "missing")
    tables = [store.read_table(unit_file("labels", unit.key, "labels")).to_pandas() for unit in plan.stages["labels"]]
    assert set(pd.concat(tables)["level"]) == {"female", "unknown", "missing"}
