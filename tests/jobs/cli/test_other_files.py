"""Files of a run's folder that hold JSON of another form: one sentence, as for a folder that is no run's."""

import json
import shutil

import pytest

from jobs.cli import main
from jobs.plan.plan_file import PLAN
from jobs.results.manifest import MANIFEST
from jobs.run.board import RUNNING
from jobs.run.lock import LOCK
from tests.jobs.cli import small_run
from tests.jobs.report import synthetic

OTHERS = [{}, [], [1], "text", 3, None, {"a": 1}, [{"stage": "solve"}]]
MANIFESTS = [
    *OTHERS,
    {"settings": {}, "files": [1]},
    {"settings": {}, "files": {"results/part-00000.parquet": {"rows": 1}}},
    {"settings": {}, "receipts": {"unit": 1}},
    {"settings": {}, "receipts": ["unit"]},
]


def ended(capsys, *arguments) -> tuple[int, str]:
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("other", [other for other in OTHERS if other != []], ids=json.dumps)
@pytest.mark.parametrize("command", ["status", "verify", "clean"])
def test_a_plan_that_is_none(tmp_path, capsys, command, other):
    folder = small_run.write(tmp_path / "run")
    (folder / PLAN).write_text(json.dumps(other), encoding="utf-8")
    code, printed = ended(capsys, command, folder)
    assert (code, printed.count("\n")) == (2, 1) and f"{folder} holds no " in printed


@pytest.mark.parametrize("other", OTHERS, ids=json.dumps)
def test_a_board_that_is_none(tmp_path, capsys, other):
    folder = small_run.write(tmp_path / "run")
    (folder / RUNNING).write_text(json.dumps(other), encoding="utf-8")
    assert main(["status", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] is None


@pytest.mark.parametrize("other", MANIFESTS, ids=json.dumps)
def test_a_manifest_that_is_none(tmp_path, capsys, other):
    folder = small_run.write(tmp_path / "run")
    synthetic.write(folder)
    (folder / MANIFEST).write_text(json.dumps(other), encoding="utf-8")
    code, printed = ended(capsys, "compare", folder, folder)
    assert (code, printed.count("\n")) == (2, 1) and "holds no finished run" in printed
    assert ended(capsys, "verify", folder)[0] in (0, 1)


@pytest.mark.parametrize(
    ("command", "name"), [("status", PLAN), ("status", RUNNING), ("verify", PLAN), ("clean", PLAN), ("clean", LOCK)]
)
def test_a_folder_in_the_place_of_a_file_is_named(tmp_path, capsys, command, name):
    folder = small_run.write(tmp_path / "run")
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    code, printed = ended(capsys, command, folder)
    assert (code, printed) == (1, f"mpr-audit: failed: {folder / name} is in the way (Is a directory): move it\n")


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path, capsys):
    folder = small_run.write(tmp_path / "run")
    synthetic.write(folder)
    shutil.rmtree(folder / "report", ignore_errors=True)
    (folder / "report").write_text("in the way", encoding="utf-8")
    code, printed = ended(capsys, "report", folder)
    assert (code, printed) == (1, f"mpr-audit: failed: {folder / 'report'} is in the way (File exists): move it\n")
