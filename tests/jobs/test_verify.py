"""`verify` finds what changed in a folder, and `run` repairs it."""

import json
import os
import shutil

import pandas as pd
import pyarrow.parquet as pq
import pytest

from jobs.analysis.cases import KEEPS_RHO
from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.errors import UsageError
from jobs.plan.plan_file import read_plan
from jobs.results.manifest import MANIFEST
from jobs.results.verify import AGAIN, OF_EARLIER_PLANS, REMOVED_AGAIN, verify
from jobs.store import Store

from .conftest import write_audit


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run beside its configuration; tests work on copies."""
    folder = tmp_path_factory.mktemp("finished")
    write_audit(folder)
    assert main(["run", str(folder / "audit.yaml"), "--output", str(folder / "run"), "--json"]) == 0
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


def flip(path, at=-20):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def change_a_unit(run):
    path = sorted((run / "units" / "pool").rglob("*.parquet"))[0]
    flip(path, 60)
    return str(path.relative_to(run))


def cut_a_unit(run):
    path = sorted((run / "units" / "solve").rglob("results.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-100])
    return str(path.relative_to(run))


def lose_a_unit(run):
    path = sorted((run / "units" / "embed").rglob("*.arrow"))[0]
    path.unlink()
    return str(path.relative_to(run))


def spoil_a_receipt(run):
    path = sorted((run / "receipts" / "solve").iterdir())[0]
    path.write_text("{")
    return str(path.relative_to(run))


def flip_the_results(run):
    path = run / "results" / "part-00000.parquet"
    flip(path, 200)
    return "results/part-00000.parquet"


def drop_a_line_of_the_manifest(run):
    path = run / MANIFEST
    manifest = json.loads(path.read_text())
    manifest["receipts"].pop()
    path.write_text(json.dumps(manifest))
    return MANIFEST


def lose_the_manifest(run):
    (run / MANIFEST).unlink()
    return MANIFEST


def exchange_receipts(run):
    one, other = sorted((run / "receipts" / "solve").iterdir())[:2]
    one.write_text(other.read_text())
    return str(one.relative_to(run))


def change_what_a_report_kept(run):
    """Bits that a disk has lost: size and time are as before."""
    path = sorted((run / "units" / "report").rglob("cases.arrow"))[0]
    written = path.stat().st_mtime_ns
    flip(path, 300)
    os.utime(path, ns=(written, written))
    return str(path.relative_to(run))


def spoil_a_receipt_of_the_report(run):
    path = sorted((run / "receipts" / "report").iterdir())[0]
    path.write_text("{")
    return str(path.relative_to(run))


def change_the_page(run):
    path = run / "report" / "index.html"
    path.write_text(path.read_text().replace("nurse", "purse", 1))
    return "report/index.html"


def test_a_whole_folder_has_no_faults(finished, capsys):
    found = verify(Store(str(finished / "run")), sample=1000)
    assert found.faults == ()
    assert found.is_complete
    assert found.rows == found.remeasured == len(pd.read_parquet(finished / "run" / "results"))
    assert main(["verify", str(finished / "run")]) == 0
    assert "no faults in" in capsys.readouterr().out


@pytest.mark.parametrize(
    "damage",
    [
        change_a_unit,
        cut_a_unit,
        lose_a_unit,
        spoil_a_receipt,
        flip_the_results,
        drop_a_line_of_the_manifest,
        lose_the_manifest,
        change_the_page,
        change_what_a_report_kept,
        spoil_a_receipt_of_the_report,
        exchange_receipts,
    ],
)
def test_damage_is_found_named_and_repaired(folder, damage, capsys):
    run = folder / "run"
    expected = pd.read_parquet(run / "results").drop(columns=["run_id", "solve_seconds"])
    file = damage(run)
    assert main(["verify", str(run), "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert file in {fault["file"] for fault in faults}
    assert {fault["remedy"] for fault in faults} == {AGAIN}
    assert main(["run", str(folder / "audit.yaml"), "--output", str(run), "--json"]) == 0
    capsys.readouterr()
    assert main(["verify", str(run), "--sample", "5"]) == 0
    repaired = pd.read_parquet(run / "results").drop(columns=["run_id", "solve_seconds"])
    pd.testing.assert_frame_equal(repaired, expected)


def test_a_plan_that_was_lost_is_written_again(folder, capsys):
    run = folder / "run"
    for damage in (lambda plan: plan.unlink(), lambda plan: plan.write_bytes(plan.read_bytes()[:100])):
        damage(run / "plan.json")
        assert main(["verify", str(run)]) == 2
        assert "holds no plan that can be read: `mpr-audit run" in capsys.readouterr().err
        assert main(["run", str(folder / "audit.yaml"), "--output", str(run), "--json"]) == 0
        assert json.loads(capsys.readouterr().out.splitlines()[-1])["computed"] == 0
        assert main(["verify", str(run), "--sample", "5"]) == 0


def test_what_a_run_would_leave_is_to_be_removed_first(folder, capsys):
    run = folder / "run"
    path = sorted((run / "units" / "pool").rglob("*.parquet"))[0]
    written = path.stat().st_mtime_ns
    flip(path, 60)
    os.utime(path, ns=(written, written))
    [fault] = verify(Store(str(run)), sample=0).faults
    assert (fault.file, fault.remedy) == (str(path.relative_to(run)), REMOVED_AGAIN)
    path.unlink()
    assert main(["run", str(folder / "audit.yaml"), "--output", str(run), "--json"]) == 0
    assert verify(Store(str(run)), sample=0).faults == ()


def test_a_damaged_unit_of_an_earlier_plan_is_to_be_cleaned(folder, capsys):
    run = folder / "run"
    assert main(["run", str(folder / "audit.yaml"), "--output", str(run), "--json", "--limit", "1"]) == 0
    planned = {unit.key for unit in read_plan(Store(str(run)))}
    path = next(one for one in sorted((run / "units/solve").rglob("*.parquet")) if one.parent.name not in planned)
    path.write_bytes(path.read_bytes()[:-100])
    [fault] = verify(Store(str(run)), sample=0).faults
    assert (fault.file, fault.remedy) == (str(path.relative_to(run)), OF_EARLIER_PLANS)
    assert main(["clean", str(run)]) == 0
    assert verify(Store(str(run)), sample=0).faults == ()


def test_a_false_value_is_found_though_every_hash_agrees(folder, capsys):
    """Whoever writes a number and its hashes anew is found by measuring."""
    run = Store(str(folder / "run"))
    name = "results/part-00000.parquet"
    table = pq.read_table(run.path(name))
    values = table["mpr"].to_pylist()
    row = next(at for at, method in enumerate(table["method"].to_pylist()) if method == "mopr")
    values[row] /= 2
    column = table.schema.get_field_index("mpr")
    receipt = run.write_table(name, table.set_column(column, table.schema.field(column), [values]))
    manifest = run.read_json(MANIFEST)
    manifest["files"][name] |= {"bytes": receipt.bytes, "sha256": receipt.sha256}
    run.write_json(MANIFEST, manifest)
    run.write("_SUCCESS", run.digest(MANIFEST).encode())
    [fault] = verify(run, sample=1000).faults
    assert "states mpr" in fault.what
    assert "method=mopr" in fault.what
    assert verify(run, sample=0).faults == ()


def test_rows_that_cannot_be_are_found_without_measuring(folder):
    run = Store(str(folder / "run"))
    name = "results/part-00000.parquet"
    rows = pq.read_table(run.path(name)).to_pylist()
    found = next(
        row
        for row in rows
        if row["status"] in KEEPS_RHO and row["target_class"] == row["function_class"] and row["mpr"] > 0
    )
    found["rho"] = found["mpr"] / 2
    rows[0]["item_ids"][1] = rows[0]["item_ids"][0]
    rows.append(rows[5])
    run.write_table(name, pq.read_table(run.path(name)).from_pylist(rows))
    whats = " | ".join(fault.what for fault in verify(run, sample=0).faults)
    assert "exceeds rho" in whats
    assert "distinct items" in whats
    assert "occurs twice" in whats


def test_a_run_that_is_not_complete_is_no_fault(folder, capsys):
    run = folder / "run"
    (run / "_SUCCESS").unlink()
    assert main(["verify", str(run)]) == 0
    assert "not complete" in capsys.readouterr().out


def test_a_folder_without_a_run(tmp_path, capsys):
    with pytest.raises(UsageError, match="holds no plan"):
        verify(Store(str(tmp_path)), sample=0)
    assert main(["verify", str(tmp_path)]) == 2


def test_a_report_written_again_keeps_the_seal(folder):
    assert main(["report", str(folder / "run")]) == 0
    assert verify(Store(str(folder / "run")), sample=0).faults == ()
    plan = prepare(read_config(folder / "audit.yaml"))[1]
    assert len(plan.units) > 0
