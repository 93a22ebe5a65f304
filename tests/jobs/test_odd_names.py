"""Columns, attributes and levels whose names YAML, Parquet or a template could take for something else."""

import pytest

from jobs.store import unit_file

from .conftest import people
from .units_in_process import run_units

NAMES = {"gender": "person.gender", "job": "0"}
LEVELS = {"female": "no", "male": "012"}


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    table = people().rename(columns=NAMES)
    table["person.gender"] = table["person.gender"].map(LEVELS)
    changes = {
        "dataset": {
            "path": "people.parquet",
            "id": "person",
            "text": "{person.gender}, {0}",
            "relevance": "0",
            "attributes": {"person.gender": {"order": ["no", "012"]}, "0": {}},
        },
        "reference": {"kind": "shares", "shares": {"person.gender": {"no": 0.5, "012": 0.5}}},
        "methods": ["top_k", {"fair_top_k": {"group": "person.gender=012"}}],
        "function_classes": [{"linear": {"over": ["0"]}}, "groups"],
    }
    return run_units(tmp_path_factory.mktemp("odd"), table=table, **changes)


def test_they_are_what_they_are_in_the_table(solved):
    plan, store = solved
    catalogue = next(iter(plan.catalogues.values()))
    assert catalogue.levels == {"person.gender": ("no", "012"), "0": ("chef", "nurse")}
    assert set(catalogue.items["text"].to_pylist()) == {
        f"{level}, {job}" for level in ("no", "012") for job in ("chef", "nurse")
    }
    rows = [
        row
        for unit in plan.stages["solve"]
        for row in store.read_table(unit_file("solve", unit.key, "results")).to_pylist()
    ]
    assert {row["function_class"] for row in rows} == {"linear(over=0)", "groups"}
    groups = {group["group"] for row in rows for group in row["witness"]}
    assert any("person.gender=012" in group for group in groups)
