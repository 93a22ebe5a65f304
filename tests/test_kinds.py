"""Kinds are asked for what they can do, never for their names.

The name of a kind is a string in the file of that kind and in the registry alone, so that one more of its sort touches
no other file. Constants are compared as a whole: a sentence that names a kind is free.
"""

import ast
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from jobs import datasets, encoders

ROOT = Path(__file__).resolve().parents[1]
DATA_SETS, ENCODERS = "jobs/datasets/__init__.py", "jobs/encoders/__init__.py"
# Each sort of part: its registry's file, and the class or block of every kind. Other sorts are added here.
REGISTRIES: Mapping[str, tuple[tuple[str, ...], Mapping[str, type]]] = {
    "data set": ((DATA_SETS,), datasets.KINDS),
    "encoder": ((ENCODERS, "jobs/encoders/models.py"), encoders.KINDS),
}
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
    registry, kinds = REGISTRIES[sort]
    own = Path(sys.modules[kinds[kind].__module__].__file__).relative_to(ROOT).as_posix()
    assert places.get(kind, set()) <= {*registry, own}


@pytest.mark.parametrize(("sort", "kind"), KINDS)
def test_the_registry_and_the_block_agree_on_the_name(sort, kind):
    block = REGISTRIES[sort][1][kind]
    assert block.model_fields["kind"].annotation.__args__ == (kind,)
