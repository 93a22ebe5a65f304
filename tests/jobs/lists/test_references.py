"""Another engine's list as the reference of an audit of lists."""

import pandas as pd
import pytest
import yaml

from tests.jobs.lists.audits import PEOPLE, SHOWN, notes, refused, run, shares, write

OTHER = pd.DataFrame({"query": ["nurse", "nurse", "pilot"], "item": ["a", "d", "b"], "rank": [1, 2, 1]})


def test_another_engines_list_may_be_the_reference(tmp_path):
    OTHER.to_csv(tmp_path / "other.csv", index=False)
    other = {"path": "other.csv", "item": "item", "rank": "rank"}
    path = write(tmp_path, SHOWN, reference={"name": "old engine", "kind": "results", "results": other})
    rows = run(path)
    assert shares(path, "gender=woman") == {("nurse", 2): (1.0, 0.5)}
    # Chosen by an engine, its items are no sample of a population.
    assert rows["mpr_low"].isna().all()
    assert any("reference old engine: 1 query of 2 without a list" in note and "'chef'" in note for note in notes(path))


def test_the_other_list_may_have_labels_of_its_own(tmp_path):
    OTHER.assign(item=["x", "y", "z"], gender=["woman", "man", "man"]).to_csv(tmp_path / "other.csv", index=False)
    other = {"path": "other.csv", "item": "item", "rank": "rank", "attributes": {"gender": {}}}
    path = write(tmp_path, SHOWN, reference={"kind": "results", "results": other})
    run(path)
    assert shares(path, "gender=woman") == {("nurse", 2): (1.0, 0.5)}


def test_what_another_engine_showed_is_not_weighted_as_a_sample_is(tmp_path):
    SHOWN.to_csv(tmp_path / "other.csv", index=False)
    people = {"name": "people", "path": "people.csv", "id": "id", "weight": "weight", "attributes": {"gender": {}}}
    other = {"path": "other.csv", "item": "item", "rank": "rank"}
    path = write(tmp_path, SHOWN, PEOPLE.assign(weight=[9, 1, 1, 1, 1, 1]), reference={"kind": "population"})
    settings = yaml.safe_load(path.read_text())
    settings |= {"dataset": people, "k": "all", "reference": {"kind": "results", "results": other}}
    path.write_text(yaml.safe_dump(settings))
    rows = run(path)
    # The list is compared with itself.
    assert shares(path, "gender=woman") == {("nurse", 4): (0.75, 0.75), ("chef", 3): (1 / 3, 1 / 3)}
    assert rows["mpr"].tolist() == [0.0, 0.0] and sorted(rows["reference_size"]) == [3.0, 4.0]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"kind": "results"}, "a results block goes with kind: results"),
        ({"kind": "balanced", "results": {"path": "list.csv"}}, "a results block goes with kind: results"),
        ({"kind": "results", "results": {"path": "other.csv", "item": "item"}}, "nothing for the queries of the audit"),
    ],
)
def test_a_reference_that_is_no_other_list_is_one_sentence(tmp_path, capsys, reference, expected):
    OTHER[OTHER["query"] == "pilot"].to_csv(tmp_path / "other.csv", index=False)
    assert expected in refused(write(tmp_path, SHOWN, reference=reference), capsys)
