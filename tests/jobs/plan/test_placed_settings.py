"""What only the data can tell of a setting is told by `plan` too: exit code 2 and one line with file, line and key."""

from types import SimpleNamespace

import numpy as np
import pytest

import mprlib
from jobs.cli import main
from jobs.config import entries
from jobs.errors import BadSetting, UsageError, about
from jobs.methods import library_settings
from mprlib import InputError
from tests.jobs.conftest import write_audit


def said(capsys, path, *more):
    code = main(["plan", str(path), *more])
    captured = capsys.readouterr()
    assert code == 2, captured.out
    assert captured.err.count("\n") == 1
    return captured.err


def line_of(path, text):
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


@pytest.mark.parametrize(
    ("changes", "at", "key", "words"),
    [
        (
            {"methods": [{"mopr_integer": {"nodes": -5}}]},
            "nodes",
            "methods.0.mopr_integer.nodes",
            "whole number from 1",
        ),
        (
            {"methods": [{"mopr_paper": {"programme": "print"}}]},
            "programme",
            "methods.0.mopr_paper.programme",
            "printed",
        ),
        ({"methods": ["top_k", {"clip_clip": {"values": [1.5]}}]}, "values", "methods.1.clip_clip.values", "whole"),
        ({"methods": [{"clip_clip": {"values": [1, 8]}}]}, "values", "methods.0.clip_clip.values", "from 0 to 7"),
        (
            {"methods": [{"fair_top_k": {"group": "gender=women"}}]},
            "group: ",
            "methods.0.fair_top_k.group",
            "gender=female",
        ),
        ({"methods": [{"pbm": {"prompts": ["a", "b"]}}]}, "- pbm", "methods.0.pbm", "encoder.text"),
        ({"methods": ["paths"]}, "- paths", "methods.0.paths", "encoder.text"),
        ({"function_classes": [{"forest": {"seed": -1}}]}, "seed: -1", "function_classes.0.forest.seed", "from 0"),
        (
            {"function_classes": [{"tree_greedy": {"seed": 1.5}}]},
            "seed: 1.5",
            "function_classes.0.tree_greedy.seed",
            "1.5",
        ),
        (
            {"function_classes": [{"rkhs": {"bandwidth": 0}}]},
            "bandwidth",
            "function_classes.0.rkhs.bandwidth",
            "1e-100",
        ),
        ({"k": [5, 121]}, "k:", "k", "k is 121"),
        ({"dataset": {"path": "absent.parquet", "attributes": {"a": {}}}}, "dataset:", "dataset", "absent.parquet"),
        ({"encoder": {"kind": "open_clip", "model": "ViT-B-33"}}, "encoder:", "encoder", "ViT-B-3"),
    ],
)
def test_plan_names_file_line_and_key(tmp_path, capsys, changes, at, key, words):
    path = write_audit(tmp_path, **changes)
    found = said(capsys, path)
    assert found.startswith(f"mpr-audit: {path}:{line_of(path, at)}: {key}: "), found
    assert words in found


def test_shares_are_refused_at_their_attribute(tmp_path, capsys):
    path = write_audit(tmp_path, reference={"kind": "shares", "shares": {"gender": {"female": 2}}})
    at = line_of(path, "kind: shares") + 2
    assert said(capsys, path).startswith(f"mpr-audit: {path}:{at}: reference.shares.gender: ")


@pytest.mark.parametrize(
    ("queries", "key", "words"),
    [
        ("{list: [nurse, nurse]}", "queries.list", "query 'nurse' occurs twice"),
        ("{list: [nurse, ' ']}", "queries.list", "query 2 is empty"),
        ("{file: absent.txt}", "queries.file", "absent.txt: No such file"),
        ("{vectors: absent.parquet}", "queries.vectors", "absent.parquet"),
        ("{named: tens}", "queries.named", "did you mean 'ten'?"),
        ("{}", "queries", "exactly one of"),
        ("{list: [nurse]}", "queries", "encoder precomputed cannot embed query texts"),
    ],
)
def test_queries_are_refused_at_their_line(tmp_path, capsys, queries, key, words):
    path = write_audit(tmp_path)
    text = path.read_text(encoding="utf-8").replace("queries:\n  vectors: queries.parquet\n", f"queries: {queries}\n")
    path.write_text(text, encoding="utf-8")
    found = said(capsys, path)
    assert found.startswith(f"mpr-audit: {path}:{line_of(path, 'queries:')}: {key}: "), found
    assert words in found


def test_a_setting_of_the_command_line_is_named_so(tmp_path, capsys):
    path = write_audit(tmp_path)
    found = said(capsys, path, "--set", "methods=[{fair_top_k: {group: gender=women}}]")
    assert found.startswith("mpr-audit: --set methods: methods.0.fair_top_k.group: group 'gender=women' is unknown")
    assert said(capsys, path, "--set", "k=121").startswith("mpr-audit: --set k: k is 121")


@pytest.mark.parametrize(
    ("encoder", "most"),
    [("{kind: sentence}", 383), ("{kind: open_clip, model: ViT-B-32, pretrained: openai}", 511)],
)
def test_columns_that_a_known_model_does_not_have(tmp_path, capsys, encoder, most):
    path = write_audit(tmp_path, methods=["top_k", {"clip_clip": {"values": [1, 512]}}])
    text = path.read_text(encoding="utf-8").replace("vectors: queries.parquet", "list: [nurse]")
    path.write_text(text.replace("  id: person\n", "  id: person\n  text: '{job}'\n"), encoding="utf-8")
    found = said(capsys, path, "--set", f"encoder={encoder}")
    assert f"methods.1.clip_clip.values: clip_clip's columns dropped is 512: a whole number from 0 to {most} " in found


def test_run_refuses_before_anything_is_written(tmp_path, capsys):
    path = write_audit(tmp_path, methods=[{"fair_top_k": {"group": "gender=women"}}])
    assert main(["run", str(path), "--output", str(tmp_path / "out")]) == 2
    assert "methods.0.fair_top_k.group" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_class_that_takes_no_fractions_is_refused_over_vectors(tmp_path, capsys, monkeypatch):
    """Whatever a class says of labels like these, it says where the configuration is read."""

    class NoFractions:
        name = "linear"
        is_normalised = False

        def bind(self, problem):
            if not np.array_equal(problem.labels, np.rint(problem.labels)):
                raise InputError("labels are fractions: whole numbers are expected")

    monkeypatch.setattr(entries.registry, "function_class", lambda name, /, **settings: NoFractions())
    with pytest.raises(BadSetting, match="labels are fractions"):
        entries.class_entry({"linear": {"over": "embedding"}})
    entries.class_entry({"linear": {}})


def test_a_share_of_nobody_or_of_all_is_a_share(tmp_path):
    """A stated share lies between; the reference's own may be 0 or 1, and is not the configuration's fault."""
    reference = [[0.0, 1.0]], [[1.0, 0.0]]
    for rows, women in zip(reference, (1, 2)):
        problem = mprlib.Problem(
            scores=np.arange(6.0), labels=np.eye(2)[[0, 1] * 3], reference=rows, k=2, label_names=["g=f", "g=m"]
        )
        entry = entries.MethodEntry(**entries.method_entry({"fair_top_k": {"group": "g=f"}}))
        settings = library_settings(entry.name, entry.extras, SimpleNamespace(problem=problem))
        found = mprlib.select(problem, mprlib.FairTopK(**settings))
        assert np.isin(found.items, [0, 2, 4]).sum() == women


def test_the_nearest_key_is_kept():
    with pytest.raises(BadSetting) as caught, about("dataset", 0), about("dataset", 0, "path"):
        raise UsageError("no such file")
    assert caught.value.key == ("dataset", 0, "path")
    assert str(caught.value) == "dataset.0.path: no such file"
