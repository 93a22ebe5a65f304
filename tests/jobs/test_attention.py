"""An audit under several attentions: one more row for each, the report about the first, verified and compared."""

import json
import shutil

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import mprlib
from jobs.analysis.load import load
from jobs.cli import main
from jobs.config.file import read_config
from jobs.errors import UsageError
from jobs.results.verify import ROW_KEY, verify
from jobs.stages.case import Case
from jobs.stages.solve import Solve
from jobs.store import Store
from tests.jobs.units_in_process import run_units

from .conftest import write_audit

METHODS = ["top_k", {"det_greedy": {"order": "fair"}}, {"mopr": {"points": 3, "targets": ["linear"]}}]
BOTH = ["uniform", "log2"]
VARYING = ("run_id", "unit", "solve_seconds", "attention")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same audit under one attention and under two."""
    folders = {}
    for name, attention in (("plain", None), ("both", BOTH)):
        folder = tmp_path_factory.mktemp(name)
        changes = {} if attention is None else {"attention": attention}
        write_audit(folder, methods=METHODS, **changes)
        assert main(["run", str(folder / "audit.yaml"), "--output", str(folder / "run"), "--json"]) == 0
        folders[name] = folder / "run"
    return folders


def results(folder):
    return pq.read_table(folder / "results" / "part-00000.parquet")


def test_rows_of_sets_are_those_of_an_audit_without(runs):
    plain, both = results(runs["plain"]), results(runs["both"])
    sets = both.filter(pc.equal(both["attention"], "uniform"))
    assert plain.drop_columns(VARYING).equals(sets.drop_columns(VARYING))
    assert set(plain["attention"].to_pylist()) == {"uniform"}
    assert both.num_rows == 2 * plain.num_rows
    assert len(set(zip(*(both[name].to_pylist() for name in ROW_KEY)))) == both.num_rows


def test_rows_under_attention_are_what_the_library_measures(tmp_path):
    plan, store = run_units(tmp_path, methods=METHODS, attention=["log2", "geometric(0.5)"])
    for unit in (one for one in plan.units if one.stage == Solve.stage):
        case = Case(unit, store)
        places = {item: at for at, item in enumerate(case.ids_of(np.arange(case.problem.n)))}
        for row in store.read_table(Solve.file(unit.key, "results")).to_pylist():
            items = [places[item] for item in row["item_ids"]]
            found = mprlib.measure(case.problem, items, row["function_class"], attention=row["attention"])
            assert (row["mpr"], row["chi"], row["mpr_chance"]) == (found.value, found.chi, found.chance_level)
            assert row["p_chance"] == found.p_value
            top = case.top_k
            in_top = mprlib.measure(case.problem, top, row["function_class"], attention=row["attention"])
            assert row["mpr_top_k"] == in_top.value
            assert row["mpr_low"] <= row["mpr"] <= row["mpr_high"]


@pytest.mark.parametrize(
    ("attention", "curve"),
    [("uniform", "log2"), (["uniform", "geometric(0.5)", "log2"], "geometric(0.5)"), (["log2", "uniform"], "log2")],
)
def test_groups_say_who_is_first(tmp_path, attention, curve):
    plan, store = run_units(tmp_path, methods=METHODS, attention=attention)
    for unit in (one for one in plan.units if one.stage == Solve.stage):
        case = Case(unit, store)
        places = {item: at for at, item in enumerate(case.ids_of(np.arange(case.problem.n)))}
        rows = store.read_table(Solve.file(unit.key, "results")).to_pylist()
        shown = {row["parameter_value"]: [places[item] for item in row["item_ids"]] for row in rows}
        for row in store.read_table(Solve.file(unit.key, "groups")).to_pylist():
            if row["group"] != "gender=female":
                continue
            items = shown[row["parameter_value"]]
            is_member = case.problem.labels[items, list(case.problem.label_names).index("gender=female")]
            weights = 1 / np.log2(np.arange(2, 12)) if curve == "log2" else 0.5 ** np.arange(10)
            assert row["share_first_5"] == pytest.approx(is_member[:5].mean())
            assert row["share_first_10"] == pytest.approx(is_member.mean()) == pytest.approx(row["share_selected"])
            assert row["exposure"] == pytest.approx(is_member @ weights / weights.sum())


def test_a_report_is_about_the_first_attention(runs, tmp_path):
    plain, both = load(runs["plain"]), load(runs["both"])
    assert plain.results.drop(columns=list(VARYING)).equals(both.results.drop(columns=list(VARYING)))
    for name in ("curves.csv", "groups.csv", "worst.csv"):
        assert (runs["plain"] / "report" / name).read_bytes() == (runs["both"] / "report" / name).read_bytes()
    assert "share_first_5,share_first_10,exposure" in (runs["both"] / "report" / "groups.csv").read_text()


def test_a_run_under_attention_verifies_and_a_false_value_is_found(runs, tmp_path):
    folder = shutil.copytree(runs["both"], tmp_path / "copy")
    assert verify(Store(str(folder)), sample=1000).faults == ()
    table = results(folder)
    values = table["mpr"].to_pylist()
    row = table["attention"].to_pylist().index("log2")
    values[row] += 0.01
    column = table.schema.get_field_index("mpr")
    Store(str(folder)).write_table(
        "results/part-00000.parquet", table.set_column(column, table.schema.field(column), [values])
    )
    whats = [fault.what for fault in verify(Store(str(folder)), sample=1000).faults]
    assert any("attention=log2" in what and "states mpr" in what for what in whats)


def test_runs_compare_under_one_attention(runs, tmp_path, capsys):
    assert main(["compare", str(runs["plain"]), str(runs["both"]), "--json"]) == 0
    write_audit(tmp_path, methods=METHODS, attention="log2")
    assert main(["run", str(tmp_path / "audit.yaml"), "--output", str(tmp_path / "run"), "--json"]) == 0
    capsys.readouterr()
    assert main(["compare", str(runs["plain"]), str(tmp_path / "run")]) == 2
    assert "attention differs (uniform and log2): values do not compare" in capsys.readouterr().err
    assert main(["compare", str(runs["plain"]), str(tmp_path / "run"), "--systems", "--json"]) == 0
    remarks = json.loads(capsys.readouterr().out)["remarks"]
    assert "MPR is not compared: A counts places as uniform and B as log2" in remarks


def test_another_curve_changes_the_exposure_of_selections_that_stay(tmp_path):
    write_audit(tmp_path, methods=["top_k"])
    run = ["run", str(tmp_path / "audit.yaml"), "--output", str(tmp_path / "run"), "--json"]
    pages, exposures = [], []
    for attention in ("[uniform]", "[uniform, log2]", "[uniform, geometric(0.5)]"):
        assert main([*run, "--set", f"attention={attention}"]) == 0
        pages.append((tmp_path / "run/report/index.html").read_text(encoding="utf-8"))
        exposures.append(pq.read_table(tmp_path / "run/groups")["exposure"].to_pylist())
    assert exposures[0] == exposures[1] != exposures[2]
    said = ["the attention (1/log2 of the place + 1)", "the attention (geometric(0.5))"]
    assert [[text in page for text in said] for page in pages] == [[True, False], [True, False], [False, True]]


def test_exports_hold_every_selection_once(runs, tmp_path):
    lines = {}
    for name, folder in runs.items():
        assert main(["export", str(folder), "--format", "long", "--output", str(tmp_path / f"{name}.parquet")]) == 0
        lines[name] = pq.read_table(tmp_path / f"{name}.parquet").drop_columns(["run_id"])
    assert lines["plain"].equals(lines["both"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("dcg", "attention: uniform, log2 or geometric(p) with p between 0 and 1 is expected, got 'dcg'"),
        (["uniform", "uniform"], "attention: two of them share a name: uniform, uniform"),
        (["geometric(0.80)", "geometric(0.8)"], "attention: two of them share a name"),
        ([[1, 2]], "attention.0: uniform, log2 or geometric(p) with p between 0 and 1 is expected, got [1, 2]"),
        (
            "geometric(2)",
            "attention: uniform, log2 or geometric(p) with p between 0 and 1 is expected, got 'geometric(2)'",
        ),
        ([], "attention: a list of at least 1 is expected"),
    ],
)
def test_what_is_no_attention_is_refused(tmp_path, given, message):
    with pytest.raises(UsageError) as error:
        read_config(write_audit(tmp_path, attention=given))
    assert message in str(error.value)


def test_a_method_may_bound_mpr_under_attention(tmp_path):
    write_audit(tmp_path, methods=["top_k", {"mopr": {"points": 3, "attention": "log2"}}], attention=BOTH)
    assert main(["run", str(tmp_path / "audit.yaml"), "--output", str(tmp_path / "run"), "--json"]) == 0
    assert verify(Store(str(tmp_path / "run")), sample=1000).faults == ()
    rows = results(tmp_path / "run").to_pylist()
    aimed = [row for row in rows if row["method"] == "mopr"]
    assert {row["target_attention"] for row in aimed} == {"log2"}
    assert {row["target_attention"] for row in rows if row["method"] == "top_k"} == {None}
    own = [row for row in aimed if (row["attention"], row["function_class"]) == ("log2", row["target_class"])]
    assert len(own) == len(aimed) / 4
    for row in own:
        assert row["rho"] <= row["mpr_top_k"] + 1e-12
        if row["status"] in ("optimal", "feasible"):
            assert row["mpr"] <= row["rho"]
            assert 0 <= row["gap"] < 0.05
    assert any(row["mpr"] > row["rho"] for row in aimed if row["attention"] == "uniform")


def test_a_method_may_return_a_fair_order(tmp_path):
    methods = ["top_k", {"mopr": {"points": 3, "targets": ["groups"], "order": "fair"}}]
    plan, store = run_units(tmp_path, methods=methods)
    for unit in (one for one in plan.units if one.stage == Solve.stage and one.method.name == "mopr"):
        case = Case(unit, store)
        places = {item: at for at, item in enumerate(case.ids_of(np.arange(case.problem.n)))}
        for row in store.read_table(Solve.file(unit.key, "results")).to_pylist():
            items = [places[item] for item in row["item_ids"]]
            kept = all(
                mprlib.measure(case.problem, items[:length], "groups").value <= row["rho"] * np.sqrt(10 / length)
                for length in range(5, 11)
            )
            assert kept or "no order of" in row["message"] or row["mpr"] > row["rho"]
