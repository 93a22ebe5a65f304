"""A stage whose code changed has a new version, so that no unit of the old code is taken for one of the new."""

import ast
import copy
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from jobs.report.part import DescribedCases
from jobs.stages.registry import STAGES
from tests.jobs import stage_sources
from tests.jobs.stage_sources import COMMAND, current, differences, digest, modules, recorded, refused
from tests.sources import source_module

# Where the numbers come from, and modules there that only name and check them.
NUMERIC = ("mprlib.", "jobs.search.", "jobs.stages.vectors", "jobs.stages.candidates")
NAMES_ONLY = {
    "mprlib.assumptions",
    "mprlib.declarations",
    "mprlib.errors",
    "mprlib.frames.columns",
    "mprlib.frames.matching",
    "mprlib.from_frames",
    "mprlib.html",
    "mprlib.registry",
    "mprlib.requirements",
    "mprlib.scikit_learn",
    "mprlib.settings",
    "mprlib.spelling",
}


@cache
def imported(module):
    """Modules that a module imports, or imports names from."""
    return frozenset(sources_of(module))


def sources_of(module):
    path = Path(find_spec(module).origin)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            source = source_module(node, path)
            below = f"{source}.{alias.name}"
            is_package = find_spec(source).submodule_search_locations
            yield below if is_package and find_spec(below) else source


def is_numeric(module):
    return module.startswith(NUMERIC) and module not in NAMES_ONLY


def test_every_stage_is_as_recorded():
    found = [what for _, what in differences(recorded(), current())]
    assert not found, (
        "; ".join(found) + f": raise the version of its class where what it writes changed, then run "
        f"`{COMMAND}` (--same-output where it did not)"
    )


def test_what_determines_a_stage():
    assert "mprlib.optimisers.mopr" in modules("solve")
    assert "jobs.search.canonical" in modules("pool")
    assert "jobs.encoders.sentence" in modules("queries")
    assert "jobs.datasets.fairface" in modules("items")
    assert {"jobs.stages.rescore", "jobs.search.canonical"} <= modules("rescore")
    assert not any(name.startswith(("jobs.run.ray", "jobs.store", "jobs.stages.solve")) for name in modules("pool"))


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_declares_the_numeric_code_that_it_reaches(stage):
    """What its own module imports, and what that imports in turn."""
    declared = modules(stage)
    reached = {name for module in declared if is_numeric(module) for name in imported(module)}
    used = {name for name in {*imported(STAGES[stage].__module__), *reached} if is_numeric(name)}
    assert used <= declared, f"add {sorted(used - declared)} to numeric_code of stage {stage}"


def test_descriptions_of_cases_declare_what_they_are_made_of():
    """What is kept of a report is used as long as none of this changes."""
    declared = modules(DescribedCases.stage)
    reached = {name for module in declared for name in imported(module)}
    made_of = {name for name in reached if name.startswith(("jobs.analysis", "jobs.words", "jobs.stages.first_shown"))}
    assert made_of <= declared, f"add {sorted(made_of - declared)} to numeric_code of DescribedCases"


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ('"""Other words."""\n\n\ndef twice(x):\n    return 2 * x  # a remark\n', True),
        ('def twice(x):\n    """Doubles."""\n\n    return (2 *\n        x)\n', True),
        ("def twice(x):\n    return 3 * x\n", False),
        ("def twice(y):\n    return 2 * y\n", False),
    ],
)
def test_only_code_counts(text, is_same):
    assert (digest(text) == digest("def twice(x):\n    return 2 * x\n")) is is_same


def test_a_function_of_a_docstring_alone():
    assert digest('def nothing():\n    """Does nothing."""\n') == digest("def nothing():\n    pass\n")


def test_changed_code_needs_a_new_version_or_a_word(monkeypatch, tmp_path, capsys):
    record = tmp_path / "record.json"
    monkeypatch.setattr(stage_sources, "RECORD", record)
    assert stage_sources.main([]) == 0
    before = recorded()
    changed = copy.deepcopy(before)
    changed["pool"]["modules"]["jobs.stages.pool"] = "other"
    monkeypatch.setattr(stage_sources, "current", lambda: changed)
    assert stage_sources.main([]) == 1
    version = STAGES["pool"].version
    assert f"stage pool changed under version {version}: jobs.stages.pool: raise its" in capsys.readouterr().err
    assert recorded() == before
    assert stage_sources.main(["--same-output"]) == 0
    assert recorded() == changed
    raised = copy.deepcopy(before)
    raised["pool"]["version"] += 1
    assert refused(before, raised) == []
    assert refused(raised, before) == [f"stage pool has version {version}, recorded is {version + 1}"]
    assert [stage for stage, _ in differences(before, {**before, "new": raised["pool"]})] == ["new"]
    assert set(before) == set(stage_sources.KINDS)
