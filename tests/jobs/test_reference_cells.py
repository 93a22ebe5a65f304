"""People counted by cells: the same for any number of parts, and as solve units would see them row by row."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mprlib
from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.datasets.catalogue import ATTRIBUTE
from jobs.plan import reference_units
from jobs.stages.case import Case
from jobs.stages.cells import cell_table, encoded_levels, restored
from jobs.stages.reference import read_reference
from jobs.stages.solve import Solve
from jobs.store import Store
from mprlib.cell_table import CellTable
from mprlib.encoding import Encoding
from mprlib.statistics import Chosen, sampling_interval

from .conftest import people, write_audit

ENCODING = Encoding(levels={"sex": ("f", "m"), "age": ("old", "young", "unknown")})
TIMES_AND_KEYS = ["run_id", "unit", "solve_seconds"]


def catalogue(rows, seed=0):
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "item_id": [str(row) for row in range(rows)],
            "weight": random.lognormal(size=rows) * (random.random(rows) > 0.1),
            f"{ATTRIBUTE}sex": random.choice(["f", "m"], rows),
            f"{ATTRIBUTE}age": random.choice(["young", "old"], rows),
        }
    )


def written(table, store, name):
    """A table of cells after its way through a file."""
    store.write_table(f"{name}.parquet", cell_table(table))
    found = store.read_table(f"{name}.parquet")
    return restored(found, encoded_levels(found, ENCODING))


def content(table):
    return [table.labels.tolist(), table.counts.tolist(), table.rows, table.lightest, table.heaviest] + [
        (one.start, one.digits.tolist()) for one in table.powers
    ]


@pytest.mark.parametrize("is_coded", [False, True], ids=["texts", "dictionaries"])
def test_parts_make_the_whole_to_the_last_bit(tmp_path, is_coded):
    store, items = Store(str(tmp_path)), catalogue(500)
    if is_coded:
        for place in (2, 3):
            items = items.set_column(place, items.column_names[place], items.column(place).dictionary_encode())
    whole = written(items, store, "whole")
    # One part has one level of an attribute, and one is empty.
    parts = [items.slice(0, 1), items.slice(1, 0), items.slice(1, 200), items.slice(201)]
    merged = CellTable.merged([written(part, store, str(at)) for at, part in enumerate(parts)])
    assert content(merged) == content(CellTable.merged([whole]))
    rows = ENCODING.encode({name: items[ATTRIBUTE + name].to_pylist() for name in ("sex", "age")})
    assert content(merged) == content(mprlib.Reference.of(rows, items["weight"].to_numpy()).table)


def test_a_level_that_was_not_planned_is_named(tmp_path):
    items = catalogue(5).append_column("other", pa.nulls(5))
    with pytest.raises(ValueError, match="'age' has the value"):
        encoded_levels(cell_table(items), Encoding(levels={"sex": ("f", "m"), "age": ("old", "ancient")}))


def results(folder):
    frame = pd.concat(pd.read_parquet(path) for path in sorted((folder / "results").glob("*.parquet")))
    return frame.drop(columns=TIMES_AND_KEYS).astype(str).reset_index(drop=True)


CLASSES = ["linear", "saturated", "groups", {"tree": {"depth": 2, "over": ["gender"]}}]


def test_an_audit_in_parts_has_the_same_rows(tmp_path, monkeypatch):
    path = write_audit(tmp_path, function_classes=CLASSES)
    assert main(["run", str(path), "--output", str(tmp_path / "whole")]) == 0
    monkeypatch.setattr(reference_units, "PEOPLE_OF_A_UNIT", 50)
    assert main(["run", str(path), "--output", str(tmp_path / "parts")]) == 0
    plan = prepare(read_config(path))[1]
    assert len(plan.stages["cells"]) == 3
    assert len(plan.stages["reference"]) == 2
    pd.testing.assert_frame_equal(results(tmp_path / "parts"), results(tmp_path / "whole"))


def test_a_solve_unit_sees_the_people_of_the_table(tmp_path):
    path = write_audit(tmp_path, function_classes=CLASSES)
    assert main(["run", str(path), "--output", str(tmp_path / "run")]) == 0
    store, table = Store(str(tmp_path / "run")), people()
    unit = next(one for one in prepare(read_config(path))[1].units if isinstance(one, Solve))
    case = Case(unit, store)
    age = pd.cut(table["age"], [0, 30, 60, 200], right=False, labels=unit.levels["age"]).astype(str)
    encoding = Encoding(levels=dict(unit.levels))
    rows = encoding.encode({"gender": table["gender"].to_numpy(str), "age": age.to_numpy(str)})
    by_rows = mprlib.Problem(
        scores=case.problem.scores,
        labels=case.problem.labels,
        reference=rows,
        reference_weights=table["weight"],
        k=10,
        attributes=encoding.attributes,
        label_names=encoding.names,
        item_ids=case.problem.item_ids,
    )
    for entry in unit.function_classes[:3]:
        assert case.measure(entry, case.top_k) == mprlib.measure(by_rows, case.top_k, entry.name)
        for is_fitted in (False, True):
            own = sampling_interval(by_rows, Chosen(items=case.top_k, is_fitted=is_fitted), entry.name)
            assert case.intervals(entry, [case.top_k], is_fitted=is_fitted) == [own]
    over_gender = unit.function_classes[3]
    assert case.view(over_gender).labels.shape[1] == 2
    [found] = case.intervals(over_gender, [case.top_k], is_fitted=True)
    assert found == sampling_interval(case.view(over_gender), case.top_k, "tree")


def test_shares_and_a_query_s_people_are_no_samples(tmp_path):
    for name, reference in (
        ("shares", {"kind": "shares", "shares": {"gender": {"female": 0.5, "male": 0.5}}}),
        ("balanced", {"kind": "balanced"}),
        ("conditioned", {"kind": "population", "query_conditioned": True}),
    ):
        path = write_audit(tmp_path, reference=reference)
        assert main(["run", str(path), "--output", str(tmp_path / name)]) == 0
        assert pd.read_parquet(tmp_path / name / "results")["mpr_low"].isna().all()
        plan = prepare(read_config(path))[1]
        assert len(plan.stages.get("reference", [])) == (0 if name == "conditioned" else 1)
        for unit in plan.stages.get("reference", []):
            assert not read_reference(Store(str(tmp_path / name)), unit.key).is_sample
