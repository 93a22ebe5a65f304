"""Kinds are asked for what they can do, never for their names.

The name of a kind is a string in the file of that kind and in the registry alone, so that one more of its sort touches
no other file. Constants are compared as a whole: a sentence that names a kind is free.
"""

import ast
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from jobs import datasets, encoders, lists
from jobs.stages.registry import STAGES

ROOT = Path(__file__).resolve().parents[1]
DATA_SETS, ENCODERS, LISTS = "jobs/datasets/__init__.py", "jobs/encoders/__init__.py", "jobs/lists/__init__.py"
# Each sort of part: its registry's file, and the class or block of every kind. Other sorts are added here.
REGISTRIES: Mapping[str, tuple[tuple[str, ...], Mapping[str, type]]] = {
    "data set": ((DATA_SETS,), datasets.KINDS),
    "encoder": ((ENCODERS, "jobs/encoders/models.py"), encoders.KINDS),
    "result list": ((LISTS,), lists.KINDS),
}
# What else has the name of a kind: runs are exported in the format in which lists are read, and the files of the
# paper's authors name the data sets that they are of.
PUBLISHED = {"jobs/report/published/layout.py"}
NAMESAKES = {
    "trec": {"jobs/results/export/formats.py"},
    **dict.fromkeys(("celeba", "utkface", "fairface", "occupations"), PUBLISHED),
}
# Names of stages that are settings, columns or tables as well.
COMMON_WORDS = (
    "catalogue",
    "hand_labels",
    "information",
    "items",
    "labels",
    "order",
    "pool",
    "prefilter",
    "probe",
    "queries",
    "reference",
    "texts",
    "tokens",
)
KINDS = [(sort, kind) for sort, (_, kinds) in REGISTRIES.items() for kind in kinds]


def strings(path: Path) -> set[str]:
    """String constants of a file, docstrings included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.fixture(scope="module")
def places():
    """The files that hold a string, by string."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "jobs").rglob("*.py")):
        for text in strings(path):
            found.setdefault(text, set()).add(path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.parametrize(("sort", "kind"), KINDS)
def test_a_kinds_name_stands_in_its_own_file_and_the_registry(sort, kind, places):
    # Two sorts may have a kind of one name, such as a table.
    namesakes = [(registry, kinds[kind]) for registry, kinds in REGISTRIES.values() if kind in kinds]
    own = {Path(sys.modules[block.__module__].__file__).relative_to(ROOT).as_posix() for _, block in namesakes}
    allowed = own.union(NAMESAKES.get(kind, set()), *(registry for registry, _ in namesakes))
    assert places.get(kind, set()) <= allowed


@pytest.mark.parametrize(("sort", "kind"), KINDS)
def test_the_registry_and_the_block_agree_on_the_name(sort, kind):
    block = REGISTRIES[sort][1][kind]
    assert block.model_fields["kind"].annotation.__args__ == (kind,)


# Stages' names are words that settings and columns have too: these are asked where a stage is meant.
STAGE_FILES = {"unit_file", "receipt_file", "failure_file", "ticket_file"}


def stages_named(path: Path) -> set[str]:
    """Names of stages that a file takes from its own strings: in paths, in comparisons, as keys of a plan's stages."""
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in STAGE_FILES:
            found += node.args[:1]
        elif isinstance(node, ast.Compare) and getattr(node.left, "attr", "") == "stage":
            found += node.comparators
        elif isinstance(node, ast.Subscript) and getattr(node.value, "attr", getattr(node.value, "id", "")) == "stages":
            found.append(node.slice)
    parts = [part for one in found for part in (one.elts if isinstance(one, (ast.Tuple, ast.Set, ast.List)) else [one])]
    return {part.value for part in parts if isinstance(part, ast.Constant)}


@pytest.mark.parametrize("path", sorted((ROOT / "jobs").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_names_a_stage_by_its_string(path):
    assert not stages_named(path)


@pytest.mark.parametrize("stage", sorted(set(STAGES) - set(COMMON_WORDS)))
def test_a_stages_name_stands_in_its_own_file(stage, places):
    own = Path(sys.modules[STAGES[stage].__module__].__file__).relative_to(ROOT).as_posix()
    assert places.get(stage, set()) <= {own}
