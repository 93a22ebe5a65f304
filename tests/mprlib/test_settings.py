"""What a setting may be is declared where it stands, and held to in every class, method and statistic."""

import dataclasses
import pickle
from pydoc import render_doc

import numpy as np
import pytest

import mprlib
from mprlib import FUNCTION_CLASSES, METHODS, InputError
from mprlib.attention import AttentionName
from mprlib.declarations import declarations, declared
from mprlib.errors import SettingError
from mprlib.registry import function_class
from mprlib.settings import Choice, Flag, Number, Whole, checked
from mprlib.statistics import sampling_margin
from mprlib.statistics.exchange import exchange_test, moved_groups
from mprlib.statistics.shares import share_interval
from tests.populations import one_hot_problem

# What is taken for a value of each kind where types are loose: the text of one, another kind's, one beyond its range.
NO_NUMBERS = ["2", "no", "", b"2", True, False, np.True_, [2], {}, float("nan"), float("inf"), 1j]
WRONG = {
    Whole: [*NO_NUMBERS, 2.0, np.float64(2), -1, 10**400],
    Number: [*NO_NUMBERS, -1e-9, 10**400],
    Flag: ["no", "false", "true", "", 0, 1, 1.0, []],
    Choice: [True, 0, "", "Mean", "mean ", ["mean"]],
    AttentionName: [True, 0, "", "dcg", "log2 ", ["log2"], "geometric(1)"],
}
CLASS_SETTINGS = [(name, field) for name in FUNCTION_CLASSES for field in dataclasses.fields(FUNCTION_CLASSES[name])]
METHOD_SETTINGS = [(name, setting) for name, method in METHODS.items() for setting in declared(method)]
# Keywords that are arrays of a problem; the method checks them against it.
ARRAYS = {"group_labels", "order", "debiased_query", "subspace", "protected", "places"}
ARRAYS |= {"attribute_prompts", "pairs", "prototypes", "variants", "attributes"}


def wrong_values(setting, default):
    """None is no value of any kind, but the default of some."""
    return [*WRONG[type(setting)], *([] if default is None else [None])]


def problem(**changes):
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((30, 4))
    given = {
        "scores": vectors[:, 0],
        "labels": np.eye(3)[generator.integers(0, 3, 30)],
        "reference": np.eye(3),
        "k": 5,
        "embeddings": vectors,
        "query": np.eye(4)[0],
    }
    return mprlib.Problem(**given | changes)


@pytest.mark.parametrize(("name", "field"), CLASS_SETTINGS, ids=lambda one: getattr(one, "name", one))
def test_a_class_takes_no_other_type(name, field):
    setting = declared(FUNCTION_CLASSES[name])[field.name]
    for value in wrong_values(setting, field.default):
        with pytest.raises(InputError, match=f"^{field.name} is .*: {setting.expected.split()[0]}") as caught:
            mprlib.measure(problem(), [0, 1], name, **{field.name: value})
        assert caught.value.setting == field.name


@pytest.mark.parametrize(("name", "keyword"), METHOD_SETTINGS)
def test_a_method_takes_no_other_type(name, keyword):
    method = METHODS[name]
    for value in wrong_values(declared(method)[keyword], declarations(method)[keyword].default):
        with pytest.raises(InputError, match=f"^{name}'s {keyword} is ") as caught:
            mprlib.select(problem(), name, None if method.parameter is None else 0, **{keyword: value})
        assert caught.value.setting == keyword


@pytest.mark.parametrize("name", [*METHODS, *FUNCTION_CLASSES])
def test_every_setting_is_described_and_limited_unless_it_is_an_array(name):
    kind = {**METHODS, **FUNCTION_CLASSES}[name]
    for setting, one in declarations(kind).items():
        assert one.description, f"{name}'s {setting} has no description"
        assert one.setting is not None or setting in ARRAYS
        assert f"{setting}: {one.expected}; {one.description}" in repr(kind)
    assert kind.summary in repr(kind)


def test_help_shows_the_settings():
    assert declarations(mprlib.Mmr)["spread"].description in render_doc(METHODS["mmr"])
    assert declarations(mprlib.Tree)["depth"].description in render_doc(FUNCTION_CLASSES["tree"])


@pytest.mark.parametrize("name", METHODS)
def test_the_parameter_takes_no_other_type(name):
    method = METHODS[name]
    if method.parameter is None:
        for value in (0.3, 0, False, "", "none"):
            with pytest.raises(InputError, match=f"^{name} has no parameter: the value .* does not apply"):
                mprlib.select(problem(), name, value)
        return
    for value in [*WRONG[type(method.value)], None]:
        with pytest.raises(InputError, match=f"^{name}'s {method.parameter} is "):
            mprlib.select(problem(), name, value)


def test_values_that_numpy_made_are_values():
    assert function_class("tree", depth=np.int32(2), signed=np.True_) == function_class("tree", depth=2, signed=True)
    assert function_class("rkhs", bandwidth=np.float32(0.5), offset=1) == function_class("rkhs", bandwidth=0.5)
    values = np.linspace(0.1, 0.3, 3)
    selections = mprlib.sweep(problem(), "mopr", values)
    assert [type(selection.value) for selection in selections] == [float] * 3
    assert mprlib.sweep(problem(), "clip_clip", np.arange(2))[1].value == 1


@pytest.mark.parametrize("values", ["0.1", b"1", 0.1, 3])
def test_what_is_no_list_of_values(values):
    with pytest.raises(InputError, match=f"values is {values!r}: a list"):
        mprlib.sweep(problem(), "mopr", values)


@pytest.mark.parametrize("name", [None, 3, ["mopr"], {}])
def test_what_is_no_name(name):
    with pytest.raises(InputError, match="method is .*: one of top_k, as_shown"):
        mprlib.select(problem(), name)
    with pytest.raises(InputError, match="function_class is "):
        mprlib.measure(problem(), [0], name)


def test_columns_that_can_be_dropped_depend_on_the_vectors():
    with pytest.raises(InputError, match="columns dropped is 4: a whole number from 0 to 3 is expected"):
        mprlib.select(problem(), "clip_clip", 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reference_size": "5"}, "reference_size is '5': a finite number above 0"),
        ({"reference_size": True}, "reference_size is True"),
        ({"reference_size": np.inf}, "reference_size is inf"),
        ({"attributes": {"a": ["0", "1"]}}, "names the column '0'"),
        ({"attributes": {"a": [0.0, 1.0]}}, "holds 0.0: positions or names"),
        ({"attributes": {"a": [True]}}, "holds True: positions or names"),
        ({"label_names": "abc"}, "label_names is 'abc': a list of names"),
        ({"scores": ["0.5"] * 30}, "scores holds text"),
        ({"reference_weights": ["1", "2", "3"]}, "reference_weights holds text"),
        ({"labels": np.array([["1", "0"]] * 30, dtype=object)}, "labels holds text"),
        ({"embeddings": [["1"]] * 30}, "embeddings holds text"),
        ({"k": 5.0}, "k is 5.0"),
        ({"k": "5"}, "k is '5'"),
    ],
)
def test_a_problem_takes_no_text_for_numbers(changes, message):
    with pytest.raises(InputError, match=message):
        problem(**changes)


@pytest.mark.parametrize(
    ("method", "extras", "message"),
    [
        ("debias_clip", {"debiased_query": ["1", "0", "0", "0"]}, "debiased_query holds text"),
        ("paths", {"subspace": [["1", "0", "0", "0"]]}, "subspace holds text"),
        ("clip_clip", {"order": [0.0, 1.0, 2.0, 3.0]}, "no permutation"),
        ("clip_clip", {"order": ["0", "1", "2", "3"]}, "no permutation"),
        ("pbm", {"group_labels": ["1"] * 30}, "group_labels"),
        ("pbm", {"group_labels": [1.0] * 30}, "group_labels"),
        ("fair_top_k", {"protected": ["yes"] * 30, "share": 0.5}, "protected"),
        ("fair_top_k", {"protected": [0.5] * 30, "share": 0.5}, "protected"),
    ],
)
def test_arrays_of_a_method_take_no_text_for_numbers(method, extras, message):
    with pytest.raises(InputError, match=message):
        mprlib.select(problem(), method, None if METHODS[method].parameter is None else 0, **extras)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sampling_margin(one_hot_problem(), confidence="0.9"),
        lambda: sampling_margin(one_hot_problem(), resamples=10.0),
        lambda: sampling_margin(one_hot_problem(), seed=-1),
        lambda: exchange_test(np.eye(2), np.eye(2), seed=1.5),
        lambda: exchange_test(np.eye(2), np.eye(2), draws=True),
        lambda: moved_groups(np.eye(2), np.eye(2), level="0.05"),
        lambda: share_interval(True, 10),
    ],
)
def test_statistics_take_no_other_type(call):
    with pytest.raises(SettingError, match=" is expected"):
        call()


def test_a_long_value_is_shown_in_part():
    with pytest.raises(SettingError) as caught:
        checked(Whole(least=1), "depth", "x" * 10_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Whole(least=0), "a whole number of at least 0"),
        (Whole(least=1, most=9), "a whole number from 1 to 9"),
        (Number(), "a finite number"),
        (Number(least=0), "a finite number of at least 0"),
        (Number(least=0, most=1), "a number from 0 to 1"),
        (Number(above=0, below=1), "a finite number above 0 and below 1"),
        (Choice(("a", "b")), "one of a, b"),
    ],
)
def test_expectations_in_words(setting, words):
    assert setting.expected == words


def test_the_error_survives_the_way_to_another_process():
    error = pickle.loads(pickle.dumps(SettingError("depth is 0", setting="depth")))
    assert (str(error), error.setting) == ("depth is 0", "depth")
