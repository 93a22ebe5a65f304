"""Labels of what was shown: in the list itself, in a data set beside it, or missing."""

import json

import pandas as pd
import pytest

from jobs.cli import main
from tests.jobs.lists.audits import PEOPLE, SHOWN, notes, refused, run, shares, table, write


def test_labels_may_be_in_the_list_itself(tmp_path):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    path = write(tmp_path, shown, None, reference={"kind": "population"})
    run(path)
    # Five distinct items were shown, three of them women.
    assert shares(path, "gender=woman")["nurse", 2] == pytest.approx((1.0, 0.6))


def test_an_item_with_two_labels_is_named_with_its_row(tmp_path, capsys):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    shown.loc[shown.index[-1], "gender"] = "man"
    message = refused(write(tmp_path, shown, None), capsys)
    assert "column 'gender' calls the item 'd' 'man' in row 7 of" in message and "'woman' before" in message


def test_an_item_that_lacks_its_label_in_one_row_has_that_of_another(tmp_path):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    shown.loc[0, "gender"] = None
    path = write(tmp_path, shown, None)
    run(path)
    assert shares(path, "gender=woman")["nurse", 2] == (1.0, 0.5)


def test_missing_labels_of_the_list_are_a_level(tmp_path):
    shown = SHOWN.assign(
        item=[f"i{row}" for row in range(len(SHOWN))], gender=[None, "woman", *["man", "woman"] * 2, None]
    )
    path = write(tmp_path, shown, None)
    run(path)
    assert shares(path, "gender=unknown")["nurse", 2] == (0.5, 0.0)


def test_items_without_labels_and_labels_without_items_are_listed(tmp_path):
    shown = pd.concat([SHOWN, pd.DataFrame({"query": ["nurse"], "item": ["x"], "rank": [0]})])
    path = write(tmp_path, shown, dataset={
        "name": "people", "path": "people.csv", "id": "id", "attributes": {"gender": {}}, "max_skipped_share": 0.5,
    })  # fmt: skip
    run(path)
    skipped = table(path, "skipped")
    assert skipped[["dataset", "item_id", "reason"]].values.tolist() == [["people", "x", "no label"]]
    assert shares(path, "gender=woman")["nurse", 2] == (1.0, 0.5)
    assert any(
        "1 of 6 items that were shown are not in dataset people" in note and "'x'" in note for note in notes(path)
    )
    assert any("1 of 6 items are in no list: 'c'" in note for note in notes(path))


def test_a_data_set_that_has_none_of_the_items_is_refused_with_both_kinds_of_ids(tmp_path, capsys):
    message = refused(write(tmp_path, SHOWN.assign(item="item " + SHOWN["item"])), capsys)
    assert "has none of the items of list.csv, such as 'item d'" in message and "like 'a'" in message


def test_a_query_of_which_nothing_is_labelled_is_named(tmp_path):
    shown = pd.concat([SHOWN, pd.DataFrame({"query": ["pilot"], "item": ["x"], "rank": [1]})])
    path = write(tmp_path, shown)
    path.write_text(path.read_text(encoding="utf-8").replace("dataset:\n", "dataset:\n  max_skipped_share: 1\n"))
    assert set(run(path)["query"]) == {"nurse", "chef"}
    assert any("1 query with no labelled item: 'pilot'" in note for note in notes(path))


def test_a_fault_of_the_lists_own_attributes_is_at_the_lists_key(tmp_path, capsys):
    shown = SHOWN.merge(PEOPLE.rename(columns={"id": "item"}))
    path = write(tmp_path, shown, None)
    wrong = {"woman": {"woman": -1, "man": 2}, "man": {"woman": 0, "man": 1}}
    assert main(["plan", str(path), "--set", f"results.attributes.gender.confusion={json.dumps(wrong)}"]) == 2
    assert "results.attributes.gender.confusion" in capsys.readouterr().err
