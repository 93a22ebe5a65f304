"""What each stage's code was when its version was last raised: python -m tests.jobs.stage_sources

A unit's key holds its stage's version, not its code: code that writes something else under the same
version would leave old units in place. So the digests of a stage's own module and of the numeric code that it
declares are kept in `stage_sources.json`, and a test compares. The command records them anew; it refuses
for a stage that changed under the same version, unless --same-output says that it writes what it wrote.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jobs.report.part import DescribedCases
from jobs.stages.registry import STAGES

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_suffix(".json")
COMMAND = "python -m tests.jobs.stage_sources"
# Modules that only list the kinds of parts.
LISTS = {"jobs.datasets", "jobs.encoders", "jobs.encoders.models", "jobs.methods"}
DIGITS = 16
# Those of plans, and the one whose units a report keeps.
KINDS = {**STAGES, DescribedCases.stage: DescribedCases}


def current() -> dict[str, Any]:
    """Version and digests by module of every stage."""
    return {
        stage: {"version": kind.version, "modules": {name: _digest(name) for name in sorted(modules(stage))}}
        for stage, kind in KINDS.items()
    }


def modules(stage: str) -> set[str]:
    """Names of the modules that determine what a stage writes: its own, and the numeric code that it declares."""
    kind = KINDS[stage]
    return {kind.__module__, *(name for declared in kind.numeric_code for name in _within(declared))} - LISTS


def digest(text: str) -> str:
    """A digest of source without comments, docstrings and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:DIGITS]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each stage that is not as recorded, and a sentence on how."""
    for stage in sorted({*before, *after}):
        old, new = before.get(stage), after.get(stage)
        if old is None or new is None:
            yield stage, f"stage {stage} is {'new' if old is None else 'gone'}"
            continue
        # A module that is new is used by what was there only if that changes too.
        changed = [name for name, known in sorted(old["modules"].items()) if new["modules"].get(name) != known]
        if old["version"] != new["version"]:
            yield stage, f"stage {stage} has version {new['version']}, recorded is {old['version']}"
        elif changed:
            yield stage, f"stage {stage} changed under version {old['version']}: {', '.join(changed)}"


def refused(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What may not be recorded: stages whose code changed and whose version did not."""
    return [
        what
        for stage, what in differences(before, after)
        if stage in before and stage in after and before[stage]["version"] >= after[stage]["version"]
    ]


def recorded() -> dict[str, Any]:
    """What was recorded; nothing before the first time."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--same-output", action="store_true", help="the changed stages write what they wrote before")
    is_same_output = parser.parse_args(arguments).same_output
    before, after = recorded(), current()
    wrong = [] if is_same_output else refused(before, after)
    for what in wrong:
        print(f"{what}: raise its version, or give --same-output", file=sys.stderr)
    if not wrong:
        RECORD.write_text(json.dumps(after, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def _within(name: str) -> list[str]:
    """A module, or all modules of a package, by name."""
    base = ROOT.joinpath(*name.split("."))
    if base.with_suffix(".py").is_file():
        return [name]
    found = sorted(base.rglob("*.py"))
    assert found, f"{name} is no module of this project"
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in found]


@cache
def _digest(name: str) -> str:
    base = ROOT.joinpath(*name.split("."))
    path = base.with_suffix(".py")
    return digest((path if path.is_file() else base / "__init__.py").read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
