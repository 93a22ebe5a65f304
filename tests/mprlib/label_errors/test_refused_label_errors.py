"""What is no label error is refused in one sentence that names the part and the attribute."""

import re
from typing import Any

import numpy as np
import pytest

from mprlib import Confusion, InputError, LabelError, Problem

OF_NO_KIND = [None, 3, 1.5, "x", b"x", True, object(), (1, 2, 3, 4), {1, 2}, np.array(3), np.array([1, 2]), type]
# The same where what is expected is a mapping, or holds one row for each item.
NOT_EVEN_ROWS = [[], [1], [[1, 0], [1]], [None] * 4, ["a"] * 4, [1j] * 4, np.zeros((2, 2, 2)), iter([1, 2, 3, 4])]
NUMBERS_THAT_ARE_NO_LEVELS = [np.zeros((4, 1), int), [5, 0, 0, 0], [-2, 0, 0, 0], [0.5, 0, 0, 0], [True] * 4]


def problem(error: Any) -> Problem:
    """Four items of one attribute."""
    return Problem(
        scores=[0.9, 0.8, 0.7, 0.6],
        labels=np.eye(2)[[0, 0, 1, 1]],
        reference=np.eye(2),
        k=2,
        attributes={"a": [0, 1]},
        label_error=error,
    )


def refused(error: Any, said: str) -> None:
    """The sentence begins so and is one line."""
    with pytest.raises(InputError, match=f"^{re.escape(said)}") as raised:
        problem(error)
    assert "\n" not in str(raised.value)


def in_words(value):
    """The value without its place in memory, which is another in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


@pytest.mark.parametrize("part", ["items", "reference", "probabilities", "known"])
@pytest.mark.parametrize("value", OF_NO_KIND + NOT_EVEN_ROWS, ids=in_words)
def test_a_part_that_is_no_mapping_is_refused(part, value):
    refused(LabelError(**{part: value}), f"label_error, {part}, is a {type(value).__name__}: a mapping of attributes")


@pytest.mark.parametrize("part", ["items", "reference"])
@pytest.mark.parametrize(
    "value", [*OF_NO_KIND, *NOT_EVEN_ROWS, {}, {"x": {"x": 1}}, np.eye(2).tolist(), Confusion], ids=in_words
)
def test_what_is_no_confusion_is_refused_where_one_is_expected(part, value):
    refused(LabelError(**{part: {"a": value}}), f"label_error, {part}: 'a' has a {type(value).__name__}, a Confusion")


@pytest.mark.parametrize(
    "value", [*OF_NO_KIND, *NOT_EVEN_ROWS, {}, {"a": 1}, *NUMBERS_THAT_ARE_NO_LEVELS], ids=in_words
)
def test_what_is_no_known_level_is_refused(value):
    refused(LabelError(known={"a": value}), "label_error, known levels of 'a'")


@pytest.mark.parametrize("value", [*OF_NO_KIND, *NOT_EVEN_ROWS, {}, {"a": 1}, np.zeros((4, 2))], ids=in_words)
def test_what_is_no_probability_is_refused(value):
    refused(LabelError(probabilities={"a": value}), "label_error, probabilities of 'a'")


@pytest.mark.parametrize(
    "value",
    [*OF_NO_KIND, *NOT_EVEN_ROWS, {"a": 1}, {"a": {"a": None}}, {1: {1: 1}, "1": {1: 1}}, [[1e308, 1e308], [1, 1]]],
    ids=in_words,
)
def test_a_confusion_of_no_numbers_names_its_attribute(value):
    refused({"a": value}, "label_error, 'a': ")


@pytest.mark.parametrize("levels", [3, "xy", {"x": 1, "y": 2}, {"x", "y"}, object(), np.eye(2), ["x"], ["x", "x"]])
def test_levels_that_are_no_names_are_refused(levels):
    with pytest.raises(InputError, match="^levels "):
        Confusion.of(np.eye(2), levels)


@pytest.mark.parametrize(
    "given", [[[0.1, 0.9], [0.8, 0.2]], {"f": {"f": 0.1, "m": 0.9}, "m": {"f": 0.8, "m": 0.2}}], ids=["matrix", "table"]
)
def test_levels_that_are_exchanged_are_refused_where_they_are_written_down(given):
    with pytest.raises(InputError, match="'sex': most items that are .* gaps of true labels would have the other sign"):
        LabelError.of({"sex": given})
    # Whoever makes the object means it.
    meant = Confusion.of(given) if isinstance(given, list) else Confusion.from_table(given)
    assert LabelError.of({"sex": meant}).items["sex"].exchanged()
    assert not Confusion.of([[0.6, 0.4], [0.5, 0.5]]).exchanged()
