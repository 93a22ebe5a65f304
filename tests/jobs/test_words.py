"""Numbers, sizes and texts as people read them: nouns that agree, units that fit, no digits that are rounding."""

import pandas as pd
import pytest

from jobs.analysis.tables import csv
from jobs.words import bytes_of, closest, examples, first_line, numbered, shortened


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (1, ("unit",), "1 unit"),
        (0, ("unit",), "0 units"),
        (12_000, ("query", "queries"), "12,000 queries"),
        (1, ("query", "queries"), "1 query"),
    ],
)
def test_nouns_agree_with_their_numbers(count, words, text):
    assert numbered(count, *words) == text


def test_a_table_for_people_holds_no_rounding():
    table = pd.DataFrame({"gap_points": [100 * (0.5 - 0.4902), 0.1 + 0.2], "k": [50, 5], "query": ["nurse", "=x"]})
    assert csv(table).decode() == "gap_points,k,query\n0.98,50,nurse\n0.3,5,'=x\n"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999.6, "1 kB"),
        (1_500, "1.5 kB"),
        (99_960, "100 kB"),
        (2_000_000, "2 MB"),
        (700e6, "700 MB"),
        (999_999_999, "1 GB"),
        (16.26e9, "16.3 GB"),
        (4e15, "4,000 TB"),
    ],
)
def test_sizes_have_three_digits_and_the_unit_that_fits(count, text):
    assert bytes_of(count) == text


def test_a_slip_of_a_known_name_is_recognised():
    assert closest("atributes", ["reference", "attributes"]) == "attributes"
    assert closest("colour", ["reference", "attributes"]) is None
    assert closest("anything", []) is None


def test_a_long_text_loses_its_middle_and_its_line_ends():
    assert shortened(" two\n lines ", 80) == "two lines"
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 10) == "abc ... jk"
    assert [len(shortened("x" * 50, most)) for most in (1, 2, 3, 49)] == [1, 2, 3, 49]


@pytest.mark.parametrize("text", ["", "\n", "one", "one\ntwo", "\n one \n two"])
def test_the_first_line_of_any_message(text):
    assert first_line(text) == ("one" if "one" in text else "")


def test_examples_name_the_first_and_count_the_others():
    assert examples(["a", "b"]) == "'a', 'b'"
    assert examples(["a", "b", "c", "d"]) == "'a', 'b', 'c' and 1 more"
