"""Compares two runs' folders: opens and checks them, and hands them to the analysis."""

from __future__ import annotations

from typing import Any

from ..analysis.comparison.compare import Comparison, compare
from ..analysis.load import Run, load
from ..analysis.systems.compare import Systems, compare_systems
from ..analysis.systems.sides import Side
from ..errors import UsageError
from ..store import Store
from ..words import numbered
from .manifest import SUCCESS, read_manifest
from .week import with_causes

TABLES = ("results/", "groups/", "items/")


def compare_folders(
    old: str, new: str, *, threshold: float, mpr_threshold: float | None, level: float
) -> tuple[Comparison, dict[str, dict[str, Any]]]:
    """The comparison, and facts of both runs by `old` and `new`.

    Raises:  UsageError naming the folder, or what differs, where the runs cannot be compared.
    """
    runs, about = {}, {}
    for side, folder in (("old", old), ("new", new)):
        runs[side], about[side] = _checked_run(folder)
    found = compare(runs["old"], runs["new"], threshold=threshold, mpr_threshold=mpr_threshold, level=level)
    found = with_causes(found, (runs["old"], old), (runs["new"], new))
    found.remarks.extend(
        f"{facts['folder']} is not complete ({numbered(facts['failures'], 'failed unit')}): `run` continues it"
        for facts in about.values()
        if not facts["is_complete"]
    )
    return found, about


def compare_system_folders(
    a: str, b: str | None, *, methods: tuple[str, str] | None
) -> tuple[Systems, dict[str, dict[str, Any]]]:
    """The comparison of two systems, and facts of their runs by `a` and `b`; without b, of two methods of one run.

    Raises:  UsageError naming the folder, or what differs, where the systems cannot be compared.
    """
    first, facts = _checked_run(a)
    second, other = (first, facts) if b is None or b == a else _checked_run(b)
    chosen = methods or (None, None)
    sides = [Side.of(run, method) for run, method in zip((first, second), chosen)]
    return compare_systems(*sides, minimum_share=first.minimum_share), {"a": facts, "b": other}


def _checked_run(folder: str) -> tuple[Run, dict[str, Any]]:
    """A run whose tables hold what its manifest states."""
    store = Store(folder).readable()
    manifest = read_manifest(store)
    if manifest is None:
        raise UsageError(f"{folder} holds no finished run: `mpr-audit run CONFIG --output {folder}` makes one")
    for name, file in manifest["files"].items():
        if name.startswith(TABLES) and not store.holds(name, file["bytes"], file["sha256"]):
            raise UsageError(f"{folder}: {name} is missing or damaged, run the audit again to repair it")
    run = load(folder)
    facts = {key: manifest.get(key) for key in ("run_id", "name", "created")}
    return run, {
        "folder": folder, **facts, "failures": len(manifest.get("failures") or []),
        "is_complete": store.exists(SUCCESS) and not manifest.get("failures"),
    }  # fmt: skip
