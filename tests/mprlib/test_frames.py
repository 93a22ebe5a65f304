"""Data frames are matched by the names of their columns and rows; what cannot be matched is refused."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mprlib import InputError, Problem, measure
from mprlib.frames.levels import coded, coded_as

LABELS = {"woman": [1, 0, 1, 1], "old": [0, 0, 1, 1], "tall": [1, 1, 0, 1]}
REFERENCE = {"woman": [1, 0, 0], "old": [1, 0, 0], "tall": [0, 0, 1]}
SCORES = [0.4, 0.3, 0.2, 0.1]


class Columns:
    """A frame as polars has it: names, and a column by its name."""

    def __init__(self, columns: dict[str, list[float]]) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array(self._columns[name])


FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pa.table, Columns], ids=["pandas", "pyarrow", "other"])


def reordered(columns: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: columns[name] for name in ("tall", "woman", "old")}


def matrix(columns: dict[str, list[float]]) -> np.ndarray:
    return np.column_stack(list(columns.values())).astype(float)


def problem(**changes) -> Problem:
    return Problem(**{"scores": SCORES, "labels": matrix(LABELS), "reference": matrix(REFERENCE), "k": 2, **changes})


@FRAMES
def test_columns_of_two_frames_are_matched_by_name(frame):
    matched = problem(labels=frame(LABELS), reference=frame(reordered(REFERENCE)))
    assert np.array_equal(matched.reference, matrix(REFERENCE))
    assert matched.label_names == ("woman", "old", "tall")
    assert measure(matched, [0, 1], "groups").value == measure(problem(), [0, 1], "groups").value


@FRAMES
def test_label_names_may_give_the_order_of_two_frames(frame):
    wanted = ["tall", "woman", "old"]
    matched = problem(labels=frame(LABELS), reference=frame(REFERENCE), label_names=wanted, attributes={"who": [0, 1]})
    assert np.array_equal(matched.labels, matrix(reordered(LABELS)))
    assert np.array_equal(matched.reference, matrix(reordered(REFERENCE)))
    assert matched.attributes == {"who": (0, 1), "old": (2,)}


@FRAMES
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reference": {"woman": [1], "old": [1]}}, "^reference lacks 'tall', compared with labels"),
        (
            {"reference": {"woman": [1], "old": [1], "height": [1]}},
            "^reference lacks 'tall' and has 'height' besides, compared with labels: columns are matched by name",
        ),
        ({"label_names": ["a", "b", "c"]}, "^labels lacks 'a', 'b', 'c' and has 'woman', 'old', 'tall' besides"),
        (
            {"reference": np.eye(3), "label_names": ["tall", "woman", "old"]},
            "^label_names and the columns of labels are in another order",
        ),
        (
            {"labels": np.ones((4, 3)), "label_names": ["tall", "woman", "old"]},
            "^label_names and the columns of reference are in another order",
        ),
    ],
)
def test_names_that_differ_are_refused(frame, changes, message):
    given = {"labels": LABELS, "reference": REFERENCE} | changes
    given = {name: frame(value) if isinstance(value, dict) else value for name, value in given.items()}
    with pytest.raises(InputError, match=message):
        problem(**given)


@FRAMES
def test_a_frame_beside_an_array_goes_by_position_and_names_the_columns(frame):
    for names in (None, ["woman", "old", "tall"]):
        assert problem(labels=frame(LABELS), label_names=names).label_names == ("woman", "old", "tall")
        assert problem(reference=frame(REFERENCE), label_names=names).label_names == ("woman", "old", "tall")


def test_names_that_a_library_invents_are_none():
    unnamed = pd.DataFrame(matrix(LABELS))
    for reference in (matrix(REFERENCE), pd.DataFrame(matrix(REFERENCE))):
        named = problem(labels=unnamed, reference=reference, label_names=["a", "b", "c"])
        assert named.label_names == ("a", "b", "c")
    numbered = Columns({f"column_{place}": column for place, column in enumerate(LABELS.values())})
    assert problem(labels=numbered, reference=pd.DataFrame(REFERENCE)).label_names == ("woman", "old", "tall")


def test_numbered_columns_in_another_order_are_matched_too():
    labels = pd.DataFrame(matrix(LABELS))[[2, 0, 1]]
    matched = problem(labels=labels, reference=pd.DataFrame(matrix(REFERENCE)))
    assert np.array_equal(matched.reference, matrix(REFERENCE)[:, [2, 0, 1]])


def test_a_column_name_that_stands_twice_is_refused():
    twice = pd.DataFrame(matrix(LABELS), columns=["a", "b", "a"])
    with pytest.raises(InputError, match="^labels has two columns called 'a'"):
        problem(labels=twice)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            ["f", "m", "f", "m"],
            r"^labels, column 'woman', holds text \('f'\): numbers are expected, Problem.from_fr",
        ),
        (["1", "0", "1", "1"], "holds text \\('1'\\)"),
        (pd.Categorical(["f", "m", "f", "m"]), "holds text \\('f'\\)"),
        (pd.array([1, None, 0, 1], dtype="Int64"), "^labels, column 'woman', holds nan at 1: finite numbers"),
        ([1, None, 0, pd.NA], "^labels, column 'woman', holds a missing value"),
        (pd.date_range("2020-01-01", periods=4), "holds dates"),
    ],
)
def test_a_column_that_holds_no_numbers_is_named(column, message):
    with pytest.raises(InputError, match=message):
        problem(labels=pd.DataFrame(LABELS | {"woman": column}))


def test_numbers_of_every_kind_are_read():
    mixed = {
        "woman": [True, False, True, True],
        "old": pd.array([0, 0, 1, 1], dtype="Int64"),
        "tall": [Decimal(1), 1, 0.0, np.float32(1)],
    }
    assert np.array_equal(problem(labels=pd.DataFrame(mixed)).labels, matrix(LABELS))
    codes = pd.DataFrame({name: pd.Categorical(column) for name, column in LABELS.items()})
    assert np.array_equal(problem(labels=codes).labels, matrix(LABELS))


@pytest.mark.parametrize(
    "scores",
    [["0.4", "0.3", "0.2", "0.1"], np.array(["2020"] * 4, dtype="M8[D]"), np.array([1j] * 4), [b"1"] * 4, [{}] * 4],
)
def test_scores_that_are_no_numbers_are_refused(scores):
    with pytest.raises(InputError, match="^scores (holds|cannot be read)"):
        problem(scores=scores)


@pytest.mark.parametrize("name", ["scores", "item_ids", "embeddings"])
def test_rows_in_another_order_are_refused(name):
    frame = pd.DataFrame(LABELS, index=list("wxyz"))
    values = {"scores": SCORES, "item_ids": [1, 2, 3, 4], "embeddings": [[1.0], [2.0], [3.0], [4.0]]}[name]
    make = pd.DataFrame if name == "embeddings" else pd.Series
    own = make(values, index=list("wxyz"))
    assert problem(**{"labels": frame, name: own}).n == 4
    with pytest.raises(InputError, match=f"^{name} has another index than labels \\('z', 'y', 'x', 'w'; 'w', 'x'"):
        problem(**{"labels": frame, name: own.iloc[::-1]})
    # Without an index rows go by position.
    assert problem(**{"labels": frame, name: own.iloc[::-1].to_numpy()}).n == 4


def test_weights_in_another_order_are_refused():
    reference = pd.DataFrame(REFERENCE, index=[5, 6, 7])
    with pytest.raises(InputError, match="^reference_weights has another index than reference"):
        problem(reference=reference, reference_weights=pd.Series([1, 2, 3]))
    assert problem(reference=reference, reference_weights=pd.Series([1, 2, 3], index=[5, 6, 7])).m < 3


def test_nothing_that_the_caller_does_to_a_frame_changes_a_problem():
    scores, labels = pd.Series(SCORES), pd.DataFrame(LABELS, dtype=float)
    made = problem(scores=scores, labels=labels)
    scores.iloc[0], labels.loc[0, "woman"] = 9.0, 9.0
    assert made.scores[0] == 0.4 and made.labels[0, 0] == 1.0
    assert scores.iloc[0] == 9.0


def test_frames_are_read_without_importing_their_libraries():
    code = "import sys, mprlib.frames; print(sorted({'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


DAYS = ["2020-01-01", "2020-01-02", None, "2020-01-01"]
HOURS = ["2020-01-01T12:30:00", "2020-01-02T00:00:00", None, "2020-01-01T12:30:00"]


def levels_of(column):
    """Levels of a column, and its codes."""
    found = coded("people", "a", column)
    return [None if code < 0 else found.levels[code] for code in found.codes.tolist()]


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_dates_are_the_same_levels_in_every_form(unit):
    for texts, expected in ((DAYS, DAYS), (HOURS, ["2020-01-01 12:30:00", "2020-01-02", None, "2020-01-01 12:30:00"])):
        if texts is HOURS and unit == "D":
            continue
        array = np.array([np.datetime64(one or "NaT", unit) for one in texts])
        forms = [array, array.tolist() if unit != "ns" else array, list(array), array.astype(object).tolist()]
        if unit == "ns":
            forms.pop()
        for form in [*forms, pd.Series(pd.to_datetime(texts)), pd.to_datetime(texts).to_numpy()]:
            assert levels_of(form) == expected


def test_parts_of_a_microsecond_are_kept():
    moments = np.array(["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000002"], "datetime64[ns]")
    assert levels_of(moments) == levels_of(pd.Series(moments)) == [
        "2020-01-01 00:00:00.000000001", "2020-01-01 00:00:00.000000002"
    ]  # fmt: skip


def test_durations_are_no_whole_numbers():
    assert levels_of(np.array([60, "NaT"], "timedelta64[s]").astype("timedelta64[ns]")) == ["0:01:00", None]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_numbers_of_few_bits_are_named_by_their_own_digits(kind):
    array = np.array([0.1, 2.0, 0.7, np.nan], kind)
    expected = ["0.1", "2", "0.7", None]
    forms = [array, list(array), pd.Series(array), pa.array(array, from_pandas=True)]
    if kind is not np.float16:
        forms += [pl.Series(array), pl.Series([*array.tolist()[:3], None], dtype=pl.Series(array).dtype)]
    for form in forms:
        assert levels_of(form) == expected
    ranges = coded("people", "a", array, (0.1, 0.7))
    assert [ranges.levels[code] for code in ranges.codes[:3]] == ["0.1 to under 0.7", "0.7 and over", "0.7 and over"]


def test_one_number_is_one_level_whatever_writes_it():
    ones = [Decimal("1.0"), Decimal("1.00"), 1, 1.0, np.float32(1), np.int8(1), Decimal("1E+0")]
    assert set(levels_of(ones)) == {"1"}
    assert levels_of([Decimal("1.50"), 1.5, Decimal("-0.0"), 0.0, Decimal("1E+2"), 100]) == [
        "1.5",
        "1.5",
        "0",
        "0",
        "100",
        "100",
    ]
    missing = [
        Decimal("NaN"),
        Decimal("sNaN"),
        float("nan"),
        np.float32("nan"),
        np.datetime64("NaT"),
        None,
        pd.NaT,
        pd.NA,
    ]
    assert levels_of([*missing, "x"]) == [None] * len(missing) + ["x"]


@pytest.mark.parametrize("kind", ["<U9", ">U9", "<U4"])
def test_texts_are_the_places_of_known_levels(kind):
    levels = ("woman", "", "män", "man") if kind != "<U4" else ("man", "", "män")
    texts = np.array(list(levels) * 3, dtype=kind)
    for given in (texts, np.repeat(texts, 2)[::2]):
        found = coded_as(given, levels)
        assert found is not None and found.codes.tolist() == list(range(len(levels))) * 3
    assert coded_as(np.array(["man", "mann"], dtype=kind), levels) is None
    assert coded_as(np.array(["man", "other"], dtype=object), levels) is None


def test_ids_that_are_called_twice_are_named_whatever_their_type():
    for ids in (["a", "bb", "a"], [1, 2, 1], np.array([b"x", b"y", b"x"]), np.array([3, 3, 4], dtype=np.int8)):
        with pytest.raises(InputError, match="repeats"):
            Problem(scores=[1, 2, 3], labels=np.ones((3, 1)), reference=np.ones((1, 1)), k=1, item_ids=ids)
    many = np.array([f"item {number}" for number in range(5_000)])
    problem = Problem(scores=np.arange(5_000), labels=np.ones((5_000, 1)), reference=[[1]], k=1, item_ids=many)
    assert problem.item_ids is not None and problem.item_ids.size == 5_000
