"""What a change makes stale, and how `plan` says why."""

import json

import pandas as pd
import pyarrow as pa
import pytest

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.plan.plan_file import write_plan
from jobs.plan.staleness import DAMAGED, FAILED, NEVER, counted, reasons
from jobs.stages.execute import Outcome, commit, record_failure
from jobs.stages.solve import Solve
from jobs.store import Store, unit_file

from ..conftest import people, write_audit


def planned(path, *overrides):
    return prepare(read_config(path, overrides))[1]


def stale(path, store, before, *overrides):
    """Reasons by stage of a plan with overrides, where all of `before` is done."""
    write_plan(store, before)
    after = planned(path, *overrides)
    return counted(after, reasons(after, store, {unit.key for unit in before.units}))


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "run"))


SEARCH = {"prefilter", "merge", "rescore"}


@pytest.mark.parametrize(
    ("override", "stages", "why_solve"),
    [
        ("name=other", set(), None),
        ("runtime.workers=1", set(), None),
        ("report.minimum_share=0.2", set(), None),
        # Another kernel scores; the pools come out the same and so does everything above them.
        ("prefilter.backend=torch", SEARCH - {"merge"}, None),
        ("k=12", {"solve"}, {"k changed from 10 to 12": 6}),
        ("seed=3", {"reference", "solve"}, {"its reference changed; seed changed from 0 to 3": 6}),
        (
            "methods.1.mopr.points=5",
            {"solve"},
            {"method.points changed from 4 to 5, and the points of a curve are solved together": 2},
        ),
        ("function_classes.1={tree: {depth: 2}}", {"solve"}, {"function_classes changed": 6}),
        ("prefilter.top=50", {*SEARCH, "pool", "solve"}, {"its pool changed": 6}),
        (
            "shard_items=40",
            {"embed", *SEARCH, "pool", "solve"},
            # A method over vectors reads them from the shards too.
            {"its pool changed": 4, "its pool changed; its embed changed": 2},
        ),
    ],
)
def test_a_setting_makes_stale_what_depends_on_it_and_is_named(audit_file, store, override, stages, why_solve):
    found = stale(audit_file, store, planned(audit_file), override)
    assert found.keys() <= stages
    assert stages - found.keys() <= {"merge"}  # there is none where one part is all
    assert found.get("solve") == why_solve


def test_changed_data_is_called_so_and_units_above_name_the_unit_below(tmp_path, store):
    before = planned(write_audit(tmp_path))
    table = people()
    table.loc[0, "age"] = 20 if table["age"][0] > 40 else 80
    found = stale(write_audit(tmp_path, table), store, before)
    assert found["items"] == {"its data changed": 1}
    assert found["catalogue"] == {"its items changed": 1}
    assert all("its catalogue changed" in reason for reason in found["solve"])


def test_a_raised_code_version_is_named(audit_file, store, monkeypatch):
    before = planned(audit_file)
    write_plan(store, before)
    monkeypatch.setattr(Solve, "version", Solve.version + 1)
    after = planned(audit_file)
    [reason] = counted(after, reasons(after, store, {unit.key for unit in before.units}))["solve"]
    assert reason == f"its code changed from version {Solve.version - 1} to {Solve.version}"


def test_never_computed_failed_and_damaged(audit_file, store):
    plan = planned(audit_file)
    assert set(reasons(plan, store, set()).values()) == {NEVER}
    write_plan(store, plan)
    damaged, failed, *_ = plan.stages["solve"]
    commit(damaged, store, {"results": pa.table({"x": [1]})}, 0.0)
    store.delete(unit_file("solve", damaged.key, "results"))
    record_failure(failed, store, Outcome(key=failed.key, message="broke", traceback=""))
    why = reasons(plan, store, set())
    assert (why[damaged.key], why[failed.key]) == (DAMAGED, FAILED)
    assert why[plan.stages["solve"][2].key] == NEVER


def test_a_plan_file_that_was_cut_is_no_plan(audit_file, store):
    plan = planned(audit_file)
    write_plan(store, plan)
    store.write("plan.json", store.read("plan.json")[:100])
    assert set(reasons(plan, store, set()).values()) == {NEVER}


def test_plan_prints_why(audit_file, tmp_path, capsys):
    output = str(tmp_path / "run")
    assert main(["run", str(audit_file), "--output", output, "--json"]) == 0
    capsys.readouterr()
    assert main(["plan", str(audit_file), "--output", output, "--set", "seed=4"]) == 0
    assert "6 to compute: its reference changed; seed changed from 0 to 4" in capsys.readouterr().out
    assert main(["plan", str(audit_file), "--output", output, "--json"]) == 0
    stages = json.loads(capsys.readouterr().out)["stages"]
    assert all(count["stale"] == {} for count in stages.values())
    assert pd.read_parquet(f"{output}/results").shape[0] > 0
