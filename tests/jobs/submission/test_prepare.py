"""What is sent, and under which id; nothing here needs a cluster."""

import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs import datasets
from jobs.cli import main
from jobs.config import audit as config
from jobs.config.file import read_config
from jobs.config.reference import blocks as setting_blocks
from jobs.datasets.table import Table
from jobs.errors import UsageError
from jobs.methods import file_settings
from jobs.submission import bundle
from jobs.submission.identity import period_of
from jobs.submission.job import _exit_code, prepare
from mprlib import METHODS
from tests.jobs.conftest import write_audit


def prepared(path, overrides=(), **changes):
    asked = {"output": "/shared/out", "overrides": overrides, "limit": None, "period": None, "address": None}
    asked |= {"is_on_cluster": False, "environment": ()} | changes
    return prepare(read_config(path, tuple(overrides)), **asked)


def test_the_id_is_of_the_content(tmp_path):
    path = write_audit(tmp_path)
    name = prepared(path).submission_id
    assert name.startswith("small-")
    path.write_text("# a remark\n" + path.read_text())
    assert prepared(path).submission_id == name
    assert prepared(path, ("runtime.workers=2",)).submission_id == name
    assert prepared(path, ("seed=1",)).submission_id != name
    assert prepared(path, output="/shared/other").submission_id != name
    assert prepared(path, limit=1).submission_id != name
    write_audit(tmp_path, queries=["nurse"])
    assert prepared(path).submission_id != name


def test_a_period_is_part_of_the_id_and_may_name_the_output(tmp_path):
    weekly = prepared(write_audit(tmp_path), period="weekly", output="s3://bucket/{period}")
    assert weekly.submission_id.endswith(f"-{period_of('weekly')}")
    assert weekly.output == f"s3://bucket/{period_of('weekly')}"


# The last days of 2024 belong to the first week of 2025.
@pytest.mark.parametrize(
    ("period", "expected"),
    [("weekly", "2025-W01"), ("daily", "2024-12-31"), ("monthly", "2024-12"), ("hourly", "2024-12-31T23")],
)
def test_periods(period, expected):
    assert period_of(period, datetime(2024, 12, 31, 23, 30, tzinfo=UTC)) == expected


def test_only_what_the_configuration_names_travels(tmp_path):
    (tmp_path / "configs").mkdir()
    path = write_audit(tmp_path / "configs")
    data = tmp_path / "data"
    data.mkdir()
    (path.parent / "people.parquet").rename(data / "people.parquet")
    (data / ".hidden.parquet").write_bytes(b"")
    (path.parent / "secret").write_text("stays")
    submission = prepared(path, ("dataset.path=../data",), period="daily")
    submission.bundle.copy_to(tmp_path / "sent")
    sent = sorted(file.relative_to(tmp_path / "sent") for file in (tmp_path / "sent").rglob("*") if file.is_file())
    names = ["configs/audit.yaml", "configs/queries.parquet", "data/people.parquet"]
    assert sent == [Path("audit-files", name) for name in names]
    assert "mpr-audit run audit-files/configs/audit.yaml --output /shared/out" in submission.entrypoint


def test_on_the_cluster_nothing_travels(tmp_path):
    path = write_audit(tmp_path)
    submission = prepared(path, ("dataset.path=/shared/people.parquet",), is_on_cluster=True)
    assert submission.bundle is None
    assert submission.to_json()["files"] == {}
    assert f"mpr-audit run {path} --output" in submission.entrypoint


def test_every_relative_path_of_the_configuration_is_known():
    """A new setting that is a path must travel too; its description says what it is relative to."""
    for block in setting_blocks(config.Audit):
        for name, field in block.model_fields.items():
            if re.search("relative (to the configuration|as `)", field.description or ""):
                assert name in block.file_paths(), f"{block.__name__}.{name}"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("setting", ["hand_labels", "confusion"])
def test_files_on_wrong_labels_travel(tmp_path, setting):
    (tmp_path / "labels.csv").write_text("item_id,gender\n", encoding="utf-8")
    submission = prepared(write_audit(tmp_path), (f"dataset.attributes.gender.{setting}=labels.csv",))
    assert tmp_path / "labels.csv" in submission.bundle.files


def test_files_of_methods_travel():
    assert {name for method in METHODS for name in file_settings(method)} == {"phrases", "tokens"}


def test_a_block_of_another_name_travels_alike(tmp_path, monkeypatch):
    """What travels follows from the settings' own marks, whatever their class is called."""

    class Renamed(Table):
        pass

    monkeypatch.setitem(datasets.KINDS, "table", Renamed)
    submission = prepared(write_audit(tmp_path))
    assert tmp_path / "people.parquet" in submission.bundle.files


def test_values_never_reach_a_shell(tmp_path):
    evil = "$(touch marker); `touch marker` 'quoted' && touch marker"
    submission = prepared(write_audit(tmp_path), (f"name={evil!r}",), output=f"/shared/{evil}")
    assert submission.submission_id.replace("-", "").isalnum()
    assert shlex.split(submission.entrypoint)[4] == f"/shared/{evil}"
    assert len(shlex.split(submission.entrypoint)) == 7


def test_a_table_that_workers_read_in_parts_does_not_travel(tmp_path, monkeypatch):
    path = write_audit(tmp_path)
    prepared(path)
    monkeypatch.setattr("jobs.datasets.table_files.PART_ROWS", 50)
    with pytest.raises(UsageError, match="people.parquet is relative, and workers on every node read it"):
        prepared(path)
    prepared(path, is_on_cluster=True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"output": "runs/here"}, "is relative"),
        ({"output": "/shared/{period}"}, "--period"),
        ({"address": "10.0.0.1:6379"}, "http"),
        ({"environment": ("A B=c",)}, "NAME=VALUE"),
        ({"overrides": ("dataset.path=absent.parquet",)}, "dataset.path"),
        ({"overrides": ("dataset.image=picture", "dataset.root=faces")}, "workers on every node read it"),
    ],
)
def test_bad_usage(tmp_path, changes, words):
    with pytest.raises(UsageError, match=words):
        prepared(write_audit(tmp_path), **changes)


def test_too_much_to_travel(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "LARGEST_BYTES", 1000)
    with pytest.raises(UsageError, match="put .*people.parquet on storage that the cluster reaches"):
        prepared(write_audit(tmp_path))


def test_no_dashboard_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    path = write_audit(tmp_path)
    assert main(["submit", str(path), "--output", "/shared/out", "--address", "http://127.0.0.1:9"]) == 2
    assert "address http://127.0.0.1:9: no Ray dashboard answers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [("SUCCEEDED", 0, 0), ("FAILED", 3, 3), ("FAILED", None, 1), ("FAILED", -9, 137), ("STOPPED", -15, 130)],
)
def test_exit_codes(status, code, expected):
    assert _exit_code(status, code) == expected


def test_a_cache_that_would_go_with_the_job_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cache shared is relative, and a job's own folder"):
        prepared(write_audit(tmp_path), ("cache=shared",))
    with_one = prepared(write_audit(tmp_path), ("cache=s3://bucket/cache",))
    assert with_one.submission_id == prepared(write_audit(tmp_path)).submission_id
    assert "cache=s3://bucket/cache" in with_one.entrypoint
