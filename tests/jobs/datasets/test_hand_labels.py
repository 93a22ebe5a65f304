"""Hand labels: what a CSV may hold, how items are found, and what they say of predicted labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from jobs import datasets
from jobs.datasets import table_files
from jobs.datasets.block import Attribute
from jobs.datasets.hand_labels import (
    Labelled,
    confusion_of,
    labelled,
    read_hand_labels,
    unlabelled_levels,
)
from jobs.errors import UsageError
from jobs.plan.label_errors import hand_label_notes
from jobs.settings.block import Block

LEVELS = ["female", "male"]


def read(folder, text, encoding="utf-8"):
    (folder / "labels.csv").write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return read_hand_labels("labels.csv", folder, "gender")


@pytest.mark.parametrize("text", ["item_id,gender\na,female\nb,\nc,cannot tell\nd,male\n"])
@pytest.mark.parametrize("change", [lambda one: one, lambda one: "\ufeff" + one.replace("\n", "\r\n") + "\r\n\r\n"])
def test_labels_are_read_and_what_is_none_is_left_out(tmp_path, text, change):
    found = read(tmp_path, change(text))
    assert (found.ids, found.levels, found.lines) == (("a", "d"), ("female", "male"), (2, 5))
    assert found.probabilities == (1.0, 1.0)


def test_other_columns_do_not_matter_and_fields_may_hold_anything(tmp_path):
    found = read(
        tmp_path, 'note,inclusion_probability,gender,item_id\n"two\nlines",0.25,male,"a,""b"""\nx,1,female,c\n'
    )
    assert found.ids == ('a,"b"', "c") and found.lines == (2, 4) and found.probabilities == (0.25, 1.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "labels.csv:1: no column 'item_id'; it has nothing"),
        ("id,gender\na,male\n", "labels.csv:1: no column 'item_id'; it has id, gender"),
        ("item_id,sex\na,male\n", "labels.csv:1: no column 'gender'; it has item_id, sex"),
        ("item_id,gender,gender\na,male,male\n", "labels.csv:1: two columns 'gender'"),
        ("item_id,gender\na,male,1\n", "labels.csv:2: 3 fields, where the header has 2"),
        ("item_id,gender\n,male\n", "labels.csv:2: column 'item_id' has no id"),
        ("item_id,gender\na,male\n\na,female\n", "labels.csv:4: item 'a' is in line 2 already"),
        ("item_id,gender\na,\n", "labels.csv: column 'gender' holds no label"),
        ('item_id,gender\na,male\n"b,female\n', "labels.csv:3: no CSV"),
        ("item_id,gender\na,m\0le\n", "labels.csv:2: a NUL character"),
        (b"item_id,gender\na,male\nb,m\xe4le\n", "labels.csv:3: bytes that are no UTF-8 text"),
        ("item_id,gender\n".encode("utf-16"), "labels.csv: it is UTF-16 text"),
        *(
            (f"item_id,gender,inclusion_probability\na,male,{share}\n", "labels.csv:2: inclusion_probability is")
            for share in ("0", "1.5", "-1", "nan", "", "half", "inf")
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, text, said):
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="labels.csv: No such file"):
        read_hand_labels("labels.csv", tmp_path, "gender")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("z,male", "labels.csv:3: the data have no item 'z'"),
        ("b,femal", "labels.csv:3: 'femal' is no level of the attribute; did you mean 'female'?"),
        ("b,7", "labels.csv:3: '7' is no level of the attribute; its levels are female, male"),
    ],
)
def test_items_and_levels_that_are_not_known(tmp_path, row, said):
    given = read(tmp_path, f"item_id,gender\na,male\n{row}\n")
    with pytest.raises(UsageError) as caught:
        labelled(given, {"a": "male", "b": None}, LEVELS)
    assert str(caught.value) == said


FOUND = Labelled(
    ids=("a", "b", "c", "d"),
    true=("female", "female", "male", "male"),
    predicted=("female", "male", "male", None),
    probabilities=(0.5, 0.5, 0.5, 0.5),
)


def test_a_confusion_has_the_levels_of_the_attribute_and_its_error():
    found = confusion_of(FOUND, ["female", "male", "unknown"], {"female": 10, "male": 20, "unknown": 2}, "unknown")
    assert found.levels == ("female", "male", "unknown")
    # Of 10 items one was labelled, a woman: (1 + 1/3) / 2 of them with the doubt of one label. Half of 20 are none.
    assert found.shares[0, 1] / found.shares[0, 0] == pytest.approx(20 * 0.5 / (10 * 2 / 3))
    assert np.isfinite(found.sizes[:2]).all() and found.shares[2].tolist() == [0.0, 0.0, 1.0]
    assert unlabelled_levels(FOUND, ["female", "male", "other", "unknown"], "unknown") == ["other"]


def people(folder, **settings) -> Block:
    table = pd.DataFrame({"name": [f"p{number}" for number in range(40)], "sex": ["female", "male"] * 20})
    table.loc[3, "sex"] = None
    table.to_parquet(folder / "people.parquet", row_group_size=10)
    attribute = {"column": "sex", "hand_labels": "labels.csv"}
    return datasets.described(
        {"kind": "table", "path": "people.parquet", "id": "name", "text": "{name}", "attributes": {"gender": attribute}}
    )


@pytest.mark.parametrize("rows", [None, 10])
def test_items_of_a_data_set_are_found_whether_it_is_read_whole_or_in_parts(tmp_path, monkeypatch, rows):
    block = people(tmp_path)
    (tmp_path / "labels.csv").write_text("item_id,gender\np0,male\np3,male\np39,male\n", encoding="utf-8")
    if rows is not None:
        monkeypatch.setattr(table_files, "PART_ROWS", rows)
    catalogue = datasets.load(block, tmp_path)
    assert len(catalogue.parts) == (4 if rows else 1)
    found = catalogue.hand_labels["gender"]
    assert found.true == ("male", "male", "male") and found.predicted == ("female", None, "male")


def test_levels_that_nobody_labelled_are_said(tmp_path):
    block = people(tmp_path)
    (tmp_path / "labels.csv").write_text("item_id,gender\np0,male\np1,male\n", encoding="utf-8")
    [said] = hand_label_notes(datasets.load(block, tmp_path))
    assert said.startswith("dataset items: no item was labelled by hand as 'female' of 'gender'")
    (tmp_path / "labels.csv").write_text("item_id,gender\np0,male\np1,female\n", encoding="utf-8")
    assert list(hand_label_notes(datasets.load(block, tmp_path))) == []


def test_hand_labels_leave_the_items_as_they_are(tmp_path):
    block = people(tmp_path)
    (tmp_path / "labels.csv").write_text("item_id,gender\np0,male\n", encoding="utf-8")
    with_labels = datasets.load(block, tmp_path)
    without = datasets.described(block.model_dump(exclude_unset=True) | {"attributes": {"gender": {"column": "sex"}}})
    assert datasets.load(without, tmp_path).fingerprint == with_labels.fingerprint


def test_an_error_names_the_data_set(tmp_path):
    block = people(tmp_path)
    (tmp_path / "labels.csv").write_text("item_id,gender\nnobody,male\n", encoding="utf-8")
    with pytest.raises(UsageError, match="dataset items: labels.csv:2: the data have no item 'nobody'"):
        datasets.load(block, tmp_path)


@pytest.mark.parametrize("other", [{"confusion": "c.csv"}, {"probabilities": {"a": "b"}}])
def test_one_thing_says_how_often_labels_are_wrong(other):
    with pytest.raises(ValueError, match="one of them"):
        Attribute.model_validate({"hand_labels": "labels.csv", **other})
