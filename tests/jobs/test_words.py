"""Numbers as people read them: nouns that agree, and no digits that are rounding."""

import pandas as pd
import pytest

from jobs.analysis.tables import csv
from jobs.words import numbered


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
