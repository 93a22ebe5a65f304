"""Texts of items: templates over columns of any name."""

import pandas as pd
import pytest

from jobs import datasets
from jobs.datasets.table import Table
from jobs.errors import UsageError

COLUMNS = ["name", "person.name", "0", "x[0]", "a:b", "a!r", "two words", " padded ", "Größe", "person.__class__"]


def texts(folder, template):
    table = pd.DataFrame({"id": ["a", "b"], "sex": ["f", "m"]} | {name: [f"<{name}>", None] for name in COLUMNS})
    table.to_parquet(folder / "people.parquet")
    block = Table(path="people.parquet", id="id", text=template, attributes={"sex": {}})
    return datasets.load(block, folder).items["text"].to_pylist()


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_named_as_it_is(tmp_path, name):
    assert texts(tmp_path, f"see {{{name}}}.") == [f"see <{name}>.", "see unknown."]


def test_doubled_braces_are_braces_and_a_column_may_stand_twice(tmp_path):
    assert texts(tmp_path, "{{{name}}} {name}{0}") == ["{<name>} <name><0>", "{unknown} unknownunknown"]


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{nam}", "people.parquet lacks the column 'nam'"),
        ("{1}", "lacks the column '1'"),
        ("{}", "brace at character 1"),
        ("{name", "brace at character 1"),
        ("{name}}", "brace at character 7"),
        ("}{name}", "brace at character 1"),
        ("{name{0}}", "brace at character 1"),
        ("{name:>3}", "without a format"),
        ("{name!r}", "without a format"),
        ("{{name}}", "names no column"),
        ("", "names no column"),
    ],
)
def test_what_is_no_template_over_these_columns(tmp_path, template, words):
    with pytest.raises(UsageError, match="^dataset items: ") as caught:
        texts(tmp_path, template)
    assert words in str(caught.value)
