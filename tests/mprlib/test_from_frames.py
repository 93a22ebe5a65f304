"""Two frames of any library, and any form of their columns, make the same problem; what does not fit is said."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mprlib
from mprlib import AssumptionWarning, InputError, Problem, Reference
from tests.mprlib.people_frames import ATTRIBUTES, BINS, FORMS, people

CANDIDATES, POPULATION = people(200, 1, tilt=0.2), people(900, 2)
GIVEN = {"score": "score", "attributes": ATTRIBUTES, "bins": BINS, "k": 20, "id": "person"}
SMALL = {"sex": ["man", "man", "woman"], "score": [0.9, 0.8, 0.7]}


def made(candidates=CANDIDATES, reference=POPULATION, **changes) -> Problem:
    return Problem.from_frames(candidates, reference, **{**GIVEN, "weight": "weight", **changes})


def plain() -> Problem:
    """The same problem by hand: one-hot columns, missing values levels of their own."""
    levels = {
        "gender": ["Female", "Male", None],
        "race": ["Asian", "Black", "White", None],
        "age": [(0, 30), (30, 50), (50, 200), None],
    }

    def rows(columns):
        return np.column_stack(
            [
                [float(one == level if level is None or isinstance(level, str) else
                       one is not None and level[0] <= one < level[1]) for one in columns[name]]
                for name, own in levels.items()
                for level in own
            ]
        )  # fmt: skip

    return Problem(
        scores=CANDIDATES["score"],
        labels=rows(CANDIDATES),
        reference=rows(POPULATION),
        reference_weights=POPULATION["weight"],
        k=20,
        item_ids=CANDIDATES["person"],
        label_names=[f"column {number}" for number in range(11)],
        attributes={"gender": [0, 1, 2], "race": [3, 4, 5, 6], "age": [7, 8, 9, 10]},
    )


def test_levels_are_named_as_in_an_audit():
    assert made().label_names == (
        "gender=Female", "gender=Male", "gender=unknown", "race=Asian", "race=Black", "race=White", "race=unknown",
        "age=under 30", "age=30 to under 50", "age=50 and over", "age=unknown",
    )  # fmt: skip


@pytest.mark.parametrize("function_class", ["groups", "linear", "saturated"])
def test_a_problem_of_frames_is_that_of_one_hot_rows(function_class):
    ours, theirs = made(), plain()
    assert np.array_equal(ours.labels, theirs.labels)
    ranked = mprlib.select(theirs, "mopr", 0.08, function_class)
    found = mprlib.select(ours, "mopr", 0.08, function_class)
    assert (found.items.tolist(), found.mpr, found.status) == (ranked.items.tolist(), ranked.mpr, ranked.status)
    assert found.ids.tolist() == [CANDIDATES["person"][item] for item in found.items]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("of_reference", ["pandas", "polars, categories"])
def test_numbers_do_not_depend_on_the_form_of_the_columns(form, of_reference):
    expected, found = made(), made(FORMS[form](CANDIDATES), FORMS[of_reference](POPULATION))
    assert found.label_names == expected.label_names
    for function_class in ("groups", "linear"):
        measured = [mprlib.measure(one, mprlib.select(one, "top_k"), function_class) for one in (expected, found)]
        assert measured[0].value == measured[1].value
        assert measured[0].p_value == measured[1].p_value
        assert str(measured[0].witness) == str(measured[1].witness)


def test_a_prepared_reference_makes_the_same_problem():
    reference = Reference.from_frame(POPULATION, ATTRIBUTES, weight="weight", bins=BINS)
    expected = made()
    for given in ({"bins": None, "weight": None}, {"weight": None}):
        found = made(reference=reference, **given)
        assert np.array_equal(found.labels, expected.labels)
        assert mprlib.measure(found, range(20), "linear").value == mprlib.measure(expected, range(20), "linear").value
    sexes = made(reference=reference, attributes=["gender"], bins=None, weight=None)
    assert sexes.label_names == expected.label_names[:3]
    assert sexes.population.shares @ sexes.population.labels == pytest.approx(
        expected.population.shares @ expected.population.labels[:, :3]
    )


def test_stated_shares_and_bins():
    shares = {"age": {"under 30": 0.25, "30 to under 50": 0.25, "50 and over": 0.5}}
    reference = Reference.from_shares(shares, bins=BINS)
    candidates = {"age": [20, 29.9, 30, 49, 50], "score": [0.5, 0.4, 0.3, 0.2, 0.1]}
    problem = Problem.from_frames(candidates, reference, score="score", attributes=["age"], k=1)
    assert problem.labels.argmax(axis=1).tolist() == [0, 0, 1, 1, 2]


def test_shares_may_stand_for_a_reference():
    shares = {"sex": {"man": 0.5, "woman": 0.5}}
    problem = Problem.from_frames(SMALL, shares, score="score", attributes=["sex"], k=2)
    assert mprlib.measure(problem, [0, 1], "groups").value == 0.5
    with pytest.raises(InputError, match="reference has no attribute 'age': it has sex"):
        Problem.from_frames({**SMALL, "age": [1, 2, 3]}, shares, score="score", attributes=["age"], k=2)


def test_levels_of_one_side_are_kept_and_said():
    reference = {"sex": ["man", "woman", "other", "woman"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = Problem.from_frames(SMALL, reference, score="score", attributes=["sex"], k=1)
    assert problem.label_names == ("sex=man", "sex=other", "sex=woman")
    candidates = {**SMALL, "sex": ["man", None, "trans man"]}
    for given in (reference, Reference.from_frame(reference, ["sex"])):
        with pytest.warns(
            AssumptionWarning, match=r"^no one in the reference has .*sex=trans man \(1 of 3 cand"
        ) as told:
            problem = Problem.from_frames(candidates, given, score="score", attributes=["sex"], k=1)
        assert "sex=unknown (1 of 3" in str(told[0].message)
        assert told[0].filename == __file__
        assert mprlib.measure(problem, [2], "groups").value == 1.0


def values_beside(reference, column):
    """MPR of the first two candidates beside a prepared reference or a frame; by rerank's way as well."""
    scores = [0.9, 0.8, 0.7, 0.6][: len(column)]
    candidates = {"a": column, "s": scores}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        problem = Problem.from_frames(candidates, reference, score="s", attributes=["a"], k=2)
        found = [mprlib.measure(problem, [0, 1], "groups").value]
        if isinstance(reference, Reference):
            again = mprlib.rerank(scores, {"a": column}, reference, k=2, rho=2.0)
            assert again.items.tolist() == [0, 1]
            found.append(again.mpr)
    assert found == [found[0]] * len(found)
    return found[0]


@pytest.mark.parametrize("column", [["unknown", None, "x", "x"], ["x", "unknown", None, "y"], ["x", None, "y", None]])
@pytest.mark.parametrize("of_people", [["x", "y", "x", "y"], ["x", "y", None, "y"], ["x", "unknown", "y", "y"]])
def test_a_text_unknown_and_a_missing_value_are_two_levels_however_the_reference_came(column, of_people):
    frame = {"a": of_people}
    prepared = values_beside(Reference.from_frame(frame, ["a"]), column)
    assert prepared == values_beside(frame, column)


def test_a_missing_value_beside_the_text_unknown_by_hand():
    # Half the selection is called unknown, half has no value; nobody in the reference is either.
    people = Reference.from_shares({"a": {"x": 0.5, "y": 0.5}})
    assert values_beside(people, ["unknown", None, "x", "x"]) == 0.5
    # A share that somebody states for `unknown` is that of the text and of those without a value.
    assert values_beside(Reference.from_shares({"a": {"x": 0.5, "unknown": 0.5}}), ["unknown", None, "x", "x"]) == 0.5


def test_parts_that_call_missing_values_differently_are_not_merged():
    parts = [Reference.from_frame({"a": own}, ["a"]) for own in (["man", "unknown"], ["man", None])]
    assert parts[0].label_names == parts[1].label_names
    with pytest.raises(InputError, match="parts call people without a value differently"):
        Reference.merged(parts)


def test_a_level_called_unknown_is_not_the_missing_value():
    both = {"sex": ["unknown", None, "man"], "score": [1, 2, 3]}
    problem = Problem.from_frames(both, both, score="score", attributes=["sex"], k=1)
    assert problem.label_names == ("sex=man", "sex=unknown", "sex=missing")


@pytest.mark.parametrize(
    ("candidates", "changes", "message"),
    [
        ({"gender": ["m"], "score": [1]}, {}, "candidates has no column 'sex': it has 'gender', 'score'"),
        ({**SMALL, "gender": SMALL["sex"]}, {"attributes": ["gendr"]}, "no column 'gendr': .*; did you mean 'gender'?"),
        (SMALL, {"attributes": ["woman"]}, "no column 'woman': .*; 'woman' is a value of its column 'sex'"),
        (SMALL, {"attributes": "sex"}, "attributes is 'sex': a list of names of columns is expected"),
        (SMALL, {"attributes": {"sex": ["man", "woman"]}}, "attributes is {.*: a list of names of columns is expected"),
        (SMALL, {"attributes": []}, "attributes is empty"),
        (SMALL, {"attributes": ["sex", "sex"]}, "attributes names a column twice"),
        (SMALL, {"score": "cosine"}, "candidates has no column 'cosine'"),
        (SMALL, {"score": "sex"}, "candidates, column 'sex', holds text"),
        ({**SMALL, "score": [0.1, None, 0.2]}, {}, "candidates, column 'score', holds a missing value"),
        ({**SMALL, "score": [0.1, float("nan"), 0.2]}, {}, "candidates, column 'score', holds nan at 1"),
        (SMALL, {"k": 4}, "k is 4: it must lie between 1 and the pool's 3 items"),
        (SMALL, {"bins": {"age": [30]}}, "bins names 'age', which is none of the attributes: sex"),
        (SMALL, {"bins": {"sex": [30]}}, "candidates, column 'sex', holds 'man', and bins are stated for it"),
        (SMALL, {"bins": {"sex": [50, 30]}}, "bins\\['sex'\\] is \\[50, 30\\]: cuts in rising order"),
        (SMALL, {"bins": {"sex": 30}}, "bins\\['sex'\\] is 30: a list of numbers"),
        (SMALL, {"bins": [30]}, "bins is \\[30\\]: a mapping is expected"),
        (SMALL, {"id": "score", "candidates": None}, "candidates is a NoneType: a data frame is expected"),
        ({**SMALL, "id": ["a", "a", "b"]}, {"id": "id"}, "candidates, column 'id': item_ids repeats 'a'"),
        ({**SMALL, "sex": [["m"], ["f"], ["m"]]}, {}, "candidates, column 'sex', holds lists or mappings"),
        ({"sex": [], "score": []}, {}, "candidates is empty"),
        ({**SMALL, "score": [1.0]}, {}, "candidates has 3 rows of levels, and scores has 1: one"),
        (pl.LazyFrame(SMALL), {}, "candidates is a lazy frame .*: collect it first"),
        (pd.DataFrame([["m", 1, 2]], columns=["sex", "score", "score"]), {}, "several columns called 'score'"),
        ({**SMALL, "sex": ["man"] * 3}, {"reference": {"sex": ["man"]}}, "attribute 'sex' has one value \\('man'\\)"),
        (SMALL, {"reference": {"sex": []}}, "reference is empty"),
        (SMALL, {"reference": {"gender": ["man"]}}, "reference has no column 'sex'"),
        (SMALL, {"weight": "w"}, "reference has no column 'w'"),
        (SMALL, {"weight": "sex"}, "holds text"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_one_sentence(candidates, changes, message):
    given = {"candidates": candidates, "reference": {"sex": ["man", "woman"]}, "score": "score", "attributes": ["sex"]}
    with pytest.raises(InputError, match=message) as told:
        Problem.from_frames(**{**given, "k": 1, **changes})
    assert "\n" not in str(told.value)


def test_numbers_without_bins_and_names_of_people_are_no_levels():
    message = (
        "candidates, column 'age', holds .* different numbers, from 17 to 89: state where they are cut, as in bins"
    )
    with pytest.raises(InputError, match=message):
        made(reference={"age": [20, 30]}, attributes=["age"], bins=None, weight=None)
    with pytest.raises(InputError, match="attributes names 'person', which has 900 different values in 1,100 rows"):
        made(attributes=["person"], bins=None)
    few = {"number": [1, 2.0, 3], "score": [1, 2, 3]}
    problem = Problem.from_frames(few, few, score="score", attributes=["number"], k=1)
    assert problem.label_names == ("number=1", "number=2", "number=3")


def test_a_reference_that_contradicts_is_refused():
    reference = Reference.from_frame(POPULATION, ["age"], bins=BINS)
    with pytest.raises(InputError, match="reference has no attribute 'race': it has age"):
        made(reference=reference, attributes=["age", "race"], weight=None)
    with pytest.raises(InputError, match=re.escape("bins['age'] is [40.0]: reference was made with [30.0, 50.0]")):
        made(reference=reference, attributes=["age"], bins={"age": [40]}, weight=None)
    with pytest.raises(InputError, match="weight goes with a frame"):
        made(reference=reference, attributes=["age"])
    with pytest.raises(InputError, match="reference was made of an array of labels"):
        made(reference=Reference.of(np.eye(2)), weight=None)


def test_vectors_go_with_frames():
    vectors = np.eye(3)
    plain = Problem.from_frames(SMALL, SMALL, score="score", attributes=["sex"], k=2)
    problem = plain.with_vectors(vectors, vectors[0])
    assert problem.label_names == plain.label_names
    assert mprlib.select(problem, "mmr", 0.5, "groups").status == "done"


def test_importing_the_library_loads_no_frames():
    heavy = "pandas", "polars", "pyarrow", "narwhals", "ray", "torch", "matplotlib"
    code = f"import mprlib, sys; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


GENDERS = {"Male": {"Male": 0.95, "Female": 0.05}, "Female": {"Female": 0.9, "Male": 0.1}}


def test_errors_of_labels_are_matched_by_names():
    # In another order than the levels of the frames, and without those who have no gender.
    problem = made(label_error={"gender": GENDERS})
    rows = Problem(
        **{
            name: getattr(problem, name)
            for name in ("scores", "labels", "reference", "k", "attributes", "label_names", "item_ids")
        },
        label_error={"gender": [[0.9, 0.1, 0], [0.05, 0.95, 0], [0, 0, 1]]},
    )
    for one in ("linear", "groups"):
        assert mprlib.corrected(problem, range(20), one) == mprlib.corrected(rows, range(20), one)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"gender": [[0.9, 0.1], [0.1, 0.9]]}, "no names of levels"),
        ({"sex": GENDERS}, "labels have no attribute 'sex'"),
        ({"gender": {"Male": {"Male": 1}, "Other": {"Other": 1}}}, "lacks the level 'Female'"),
    ],
)
def test_errors_of_labels_that_do_not_fit_the_frames_are_said(error, said):
    with pytest.raises(InputError, match=said):
        made(label_error=error)
