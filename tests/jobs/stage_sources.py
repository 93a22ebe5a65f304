"""What each stage's code was when its version was last raised: python -m tests.jobs.stage_sources

A unit's key holds its stage's version, not its code: code that writes something else under the same
version would leave old units in place. So the digests of every module that determines what a stage
writes are kept in `stage_sources.json`, and a test compares. The command records them anew; it refuses
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

from jobs.encoders import MODELS
from jobs.planning.units import STAGE_VERSIONS
from jobs.stages import ENCODING, STAGES

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_suffix(".json")
COMMAND = "python -m tests.jobs.stage_sources"
# What a stage's imports are followed into. Settings are left out: what matters of them is in a unit's spec.
FOLLOWED = (
    "mprlib",
    "jobs.datasets",
    "jobs.encoders",
    "jobs.config.entries",
    "jobs.images",
    "jobs.config.method_settings",
    "jobs.schema",
    "jobs.search",
    "jobs.stages",
)
# The list of stages imports them all.
NOT_FOLLOWED = {"jobs.stages"}
# Imported by name at run time, or read by the driver.
ENCODERS = (*(model.__module__ for model in MODELS.values()), "jobs.images.decode_worker")
DRIVER = {"catalogue": ("jobs.datasets",), "tokens": ("jobs.encoders.prompt_files",)}
DIGITS = 16


def current() -> dict[str, Any]:
    """Version and digests by module of every stage."""
    return {
        stage: {"version": version, "modules": {name: _digest(name) for name in sorted(modules(stage))}}
        for stage, version in STAGE_VERSIONS.items()
    }


def modules(stage: str) -> set[str]:
    """Names of the modules that determine what a stage writes."""
    waiting = list(DRIVER[stage]) if stage in DRIVER else [{**STAGES, **ENCODING}[stage].__module__]
    if stage in ENCODING:
        waiting += ENCODERS
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imported(name)
    return found


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
        names = sorted({*old["modules"], *new["modules"]})
        changed = [name for name in names if old["modules"].get(name) != new["modules"].get(name)]
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
        print(f"{what}: raise its STAGE_VERSIONS in jobs/planning/units.py, or give --same-output", file=sys.stderr)
    if not wrong:
        RECORD.write_text(json.dumps(after, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def _path(name: str) -> Path | None:
    """The file of a module of this project; None for what is none."""
    base = ROOT.joinpath(*name.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _text(name: str) -> str:
    return _path(name).read_text(encoding="utf-8")


@cache
def _digest(name: str) -> str:
    return digest(_text(name))


@cache
def _imported(name: str) -> tuple[str, ...]:
    """Modules that a module imports anywhere, among those that are followed."""
    names: list[str] = []
    for node in ast.walk(ast.parse(_text(name))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            # A package is followed where it gives a name itself.
            names += [one if _path(one) else node.module for one in below]
    return tuple(
        one
        for one in dict.fromkeys(names)
        if one not in NOT_FOLLOWED and any(f"{one}.".startswith(f"{top}.") for top in FOLLOWED) and _path(one)
    )


if __name__ == "__main__":
    sys.exit(main())
