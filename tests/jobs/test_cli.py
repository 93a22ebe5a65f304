"""The command line as its user meets it, on a real local Ray."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from typer.main import get_command

from jobs.audit import prepare
from jobs.cli import app, main
from jobs.config.file import read_config

from .conftest import people, write_audit

# Columns that may differ between two runs of the same audit.
VARYING = ["run_id", "solve_seconds"]


def audit(capsys, *arguments) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def counts(capsys, *arguments) -> tuple[int, dict]:
    code, out, _err = audit(capsys, *arguments, "--json")
    return code, json.loads(out.strip().splitlines()[-1])


def results(folder) -> pd.DataFrame:
    return pd.read_parquet(folder / "results").drop(columns=VARYING)


class TestRun:
    def test_a_run_then_nothing_to_do(self, audit_file, tmp_path, capsys):
        output = tmp_path / "run"
        code, first = counts(capsys, "run", audit_file, "--output", output)
        assert code == 0
        assert (first["cached"], first["failed"], first["skipped"]) == (0, 0, 0)
        assert (output / "_SUCCESS").exists()
        assert (output / "report" / "index.html").exists()
        before = {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
        code, second = counts(capsys, "run", audit_file, "--output", output)
        assert code == 0
        assert second["computed"] == 0
        assert second["cached"] == first["computed"]
        assert second["run_id"] == first["run_id"]
        assert before == {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}

    def test_text_output_names_worst_groups_and_the_report(self, audit_file, tmp_path, capsys):
        code, out, err = audit(capsys, "run", audit_file, "--output", tmp_path / "run")
        assert code == 0
        assert "worst groups" in out
        assert str(tmp_path / "run" / "report" / "index.html") in out
        assert "solve: 6 of 6" in err

    def test_more_queries_compute_only_what_is_new(self, audit_file, tmp_path, capsys):
        output = tmp_path / "run"
        counts(capsys, "run", audit_file, "--output", output, "--limit", 1)
        assert set(results(output)["query"]) == {"nurse"}
        _, summary = counts(capsys, "run", audit_file, "--output", output)
        assert set(results(output)["query"]) == {"nurse", "chef"}
        assert summary["computed"] > 0

    def test_another_column_of_vectors_gives_a_fresh_run_s_rows(self, tmp_path, capsys):
        table = people()
        table["other"] = table["embedding"].map(lambda vector: vector[::-1].copy())
        path = write_audit(tmp_path, table)
        other = ("--set", "encoder.column=other")
        assert counts(capsys, "run", path, "--output", tmp_path / "used")[0] == 0
        assert counts(capsys, "run", path, "--output", tmp_path / "used", *other)[0] == 0
        assert counts(capsys, "run", path, "--output", tmp_path / "fresh", *other)[0] == 0
        pd.testing.assert_frame_equal(results(tmp_path / "used"), results(tmp_path / "fresh"))

    def test_another_name_computes_nothing_and_arrives(self, audit_file, tmp_path, capsys):
        output = tmp_path / "run"
        counts(capsys, "run", audit_file, "--output", output)
        code, summary = counts(capsys, "run", audit_file, "--output", output, "--set", "name=renamed")
        assert (code, summary["computed"]) == (0, 0)
        assert json.loads((output / "manifest.json").read_text())["name"] == "renamed"

    def test_a_lost_and_a_cut_file_are_made_again(self, audit_file, tmp_path, capsys):
        output = tmp_path / "run"
        counts(capsys, "run", audit_file, "--output", output)
        expected = results(output)
        [lost, cut, *_] = sorted((output / "units" / "solve").rglob("results.parquet"))
        lost.unlink()
        cut.write_bytes(cut.read_bytes()[:100])
        [flipped] = sorted((output / "units" / "pool").rglob("pool.parquet"))[:1]
        flipped.write_bytes(bytes([*flipped.read_bytes()[:-9], 1, *flipped.read_bytes()[-8:]]))
        code, summary = counts(capsys, "run", audit_file, "--output", output)
        assert code == 0
        # What the pool was made of was removed once it was there: its query is embedded and searched again.
        assert summary["computed"] == 3 + len(("queries", "prefilter", "rescore"))
        pd.testing.assert_frame_equal(results(output), expected)

    def test_a_failing_unit_is_a_row_in_the_failures_and_exit_code_3(self, tmp_path, capsys):
        output = tmp_path / "run"
        path = write_audit(tmp_path, methods=["top_k"])
        # A file lies where a pool's folder belongs: the unit cannot be written.
        pool = prepare(read_config(path))[1].stages["pool"][0]
        blocked = output / "units" / "pool" / pool.key
        blocked.parent.mkdir(parents=True)
        blocked.write_text("in the way")
        code, summary = counts(capsys, "run", path, "--output", output)
        assert code == 3
        assert (summary["failed"], summary["skipped"]) == (1, 1)
        assert [failure["title"] for failure in summary["failures"]] == ["items: nurse"]
        assert set(results(output)["query"]) == {"chef"}
        assert not (output / "_SUCCESS").exists()
        code, out, _ = audit(capsys, "status", output)
        assert code == 0
        assert "not complete" in out
        assert "failed: pool items: nurse" in out
        blocked.unlink()
        code, summary = counts(capsys, "run", path, "--output", output)
        assert (code, summary["failed"], summary["computed"]) == (0, 0, 2)
        assert set(results(output)["query"]) == {"nurse", "chef"}
        assert "not complete" not in audit(capsys, "status", output)[1]

    def test_a_run_that_solves_nothing_leaves_the_last_tables(self, tmp_path, capsys):
        output = tmp_path / "run"
        path = write_audit(tmp_path, methods=["top_k"], queries=["nurse"])
        counts(capsys, "run", path, "--output", output)
        expected = results(output)
        pool = prepare(read_config(path, ("prefilter.top=90",)))[1].stages["pool"][0]
        (output / "units" / "pool" / pool.key).write_text("in the way")
        code, summary = counts(capsys, "run", path, "--output", output, "--set", "prefilter.top=90")
        assert (code, summary["report"]) == (3, None)
        pd.testing.assert_frame_equal(results(output), expected)

    def test_damaged_tables_are_written_again(self, audit_file, tmp_path, capsys):
        output = tmp_path / "run"
        counts(capsys, "run", audit_file, "--output", output)
        expected = results(output)
        for damage in ("groups/part-00000.parquet", "results/part-00000.parquet", "report/index.html", "manifest.json"):
            whole = (output / damage).read_bytes()
            (output / damage).write_bytes(whole[:40])
            code, summary = counts(capsys, "run", audit_file, "--output", output)
            assert (code, summary["computed"]) == (0, 0)
            assert len((output / damage).read_bytes()) > 40
        (output / "results" / "part-00000.parquet").write_bytes(b"cut")
        code, _, err = audit(capsys, "report", output)
        assert code == 2
        assert "run the audit again" in err
        counts(capsys, "run", audit_file, "--output", output)
        pd.testing.assert_frame_equal(results(output), expected)

    def test_an_unwritable_output_is_bad_usage(self, audit_file, tmp_path, capsys):
        (tmp_path / "file").write_text("here")
        for output in (tmp_path / "file", tmp_path / "file" / "below", "/proc/nothing", tmp_path / ("x" * 300)):
            code, _, err = audit(capsys, "run", audit_file, "--output", output, "--json")
            assert code == 2
            # A folder that cannot be one is met when it is listed, before anything is written.
            assert "cannot be written: " in err or "cannot be read: " in err

    def test_odd_queries(self, tmp_path, capsys):
        odd = ["and/or", 'the "boss"', "<b>it's</b>", "\N{FIRE ENGINE}", "x" * 300, "{a} {query}"]
        path = write_audit(tmp_path, queries=odd, methods=["top_k"])
        code, _ = counts(capsys, "run", path, "--output", tmp_path / "run")
        assert code == 0
        assert set(results(tmp_path / "run")["query"]) == set(odd)
        page = (tmp_path / "run" / "report" / "index.html").read_text(encoding="utf-8")
        assert "<b>it's</b>" not in page

    def test_a_class_may_see_some_attributes_or_the_embedding(self, tmp_path, capsys):
        classes = ["linear", {"linear": {"over": ["gender"]}}, {"linear": {"over": "embedding"}}]
        path = write_audit(tmp_path, function_classes=classes, methods=["top_k"])
        code, _ = counts(capsys, "run", path, "--output", tmp_path / "run")
        assert code == 0
        values = results(tmp_path / "run").query("query == 'nurse'").set_index("function_class")["mpr"]
        assert set(values.index) == {"linear", "linear(over=gender)", "linear(over=embedding)"}
        assert values["linear(over=gender)"] <= values["linear"]

    def test_another_data_set_as_reference(self, tmp_path, capsys):
        path = write_audit(tmp_path, methods=["top_k"])
        people(seed=5).to_parquet(tmp_path / "other.parquet")
        block = "{path: other.parquet, id: person, attributes: {gender: {}, age: {bins: [30, 60]}}}"
        both = f"reference=[{{name: own}}, {{name: other, kind: dataset, dataset: {block}}}]"
        code, _ = counts(capsys, "run", path, "--output", tmp_path / "run", "--set", both)
        assert code == 0
        frame = results(tmp_path / "run")
        assert set(frame["reference"]) == {"own", "other"}
        assert frame[frame["reference"] == "other"]["reference_size"].unique().tolist() == [pytest.approx(120)]

    def test_stated_shares_a_balanced_and_a_query_conditioned_reference(self, tmp_path, capsys):
        path = write_audit(tmp_path, methods=["top_k"])
        references = [
            "{name: parity, kind: shares, shares: {gender: {female: 0.5, male: 0.5}}, size: 5000}",
            "{name: even, kind: balanced}",
            "{name: similar, kind: population, query_conditioned: true}",
        ]
        override = f"reference=[{', '.join(references)}]"
        code, _ = counts(capsys, "run", path, "--output", tmp_path / "run", "--set", override)
        assert code == 0
        groups = pd.read_parquet(tmp_path / "run" / "groups").query("query == 'nurse'").set_index("group")
        shares = groups.groupby("reference")["share_reference"]
        assert shares.get_group("parity")["gender=female"] == pytest.approx(0.5)
        assert shares.get_group("even")["gender=female & age=under 30"] == pytest.approx(1 / 6)
        rows = results(tmp_path / "run").set_index("reference")
        assert rows.loc["parity", "reference_size"].tolist() == [5000] * 4
        assert rows.loc["similar", "n_reference"].tolist() == [100] * 4
        # An interval is for references that are samples; none of these is.
        assert rows["mpr_low"].isna().all()

    def test_an_interval_lies_around_the_value_of_a_sampled_reference(self, tmp_path, capsys):
        path = write_audit(tmp_path, methods=["top_k"])
        counts(capsys, "run", path, "--output", tmp_path / "run")
        rows = results(tmp_path / "run")
        assert (rows["mpr_low"] < rows["mpr"]).all()
        assert (rows["mpr_high"] > rows["mpr"]).all()

    def test_report_is_written_again_to_the_same_bytes(self, audit_file, tmp_path, capsys):
        output = tmp_path / "run"
        counts(capsys, "run", audit_file, "--output", output)
        page = output / "report" / "index.html"
        before = page.read_bytes()
        page.unlink()
        assert audit(capsys, "report", output)[0] == 0
        assert page.read_bytes() == before


@pytest.mark.system
def test_one_and_two_workers_give_identical_results(tmp_path):
    path = write_audit(tmp_path, runtime={})
    for workers in ("1", "2"):
        command = [sys.executable, "-m", "jobs", "run", str(path), "--output", str(tmp_path / workers)]
        subprocess.run([*command, "--set", f"runtime.workers={workers}"], check=True, capture_output=True)
    pd.testing.assert_frame_equal(results(tmp_path / "1"), results(tmp_path / "2"))
    for table in ("groups", "items"):
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "1" / table), pd.read_parquet(tmp_path / "2" / table))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "Missing command"),
        (["runn"], "runn"),
        (["run"], "config"),
        (["run", "absent.yaml", "--output", "x"], "absent.yaml"),
        (["run", "absent.yaml", "--limit", "0"], "'--limit': a number of at least 1 is expected, got 0"),
        (["run", "absent.yaml", "--limit", "few"], "'--limit': a whole number is expected, got few"),
        (["compare", "a", "b", "--level", "low"], "'--level': a number is expected, got low"),
        (["plan", "absent.yaml", "--colour"], "--colour"),
        (["status", "absent"], "holds no run"),
        (["report", "absent"], "absent"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(capsys, arguments, word):
    code, out, err = audit(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert word in err


def test_a_run_without_output(audit_file, capsys):
    code, _, err = audit(capsys, "run", audit_file)
    assert code == 2
    assert "--output" in err


def test_plan_lists_stages_and_estimates(audit_file, tmp_path, capsys):
    code, out, _ = audit(capsys, "plan", audit_file, "--output", tmp_path / "run")
    assert code == 0
    for word in ("top_k", "mopr (4 values)", "120 items", "estimate", "solve"):
        assert word in out
    code, table = counts(capsys, "plan", audit_file)
    assert table["stages"]["solve"] == {"units": 6, "cached": 0, "stale": {}}
    assert table["estimate"]["wall_seconds"] > 0


@pytest.mark.parametrize("name", [None, *get_command(app).commands])
def test_every_command_has_help(capsys, name):
    code, out, _ = audit(capsys, *([name] if name else []), "--help")
    assert code == 0
    assert "--json" in out or name is None
