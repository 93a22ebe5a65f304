"""A run's report into its folder: cases that no report has described are, by tasks, and all are put together."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .. import interruption
from ..analysis.load import described, pictured, read_all, tables_of
from ..analysis.parts import Case, Survey, item_ids, survey, with_groups
from ..config.runtime import Runtime
from ..errors import RunError, full_disk
from ..results.manifest import MANIFEST, SUCCESS, is_sealed, seal
from ..run.dispatch import UnitEnded
from ..run.executor import Executor, Lazily
from ..run.local import InProcess
from ..stages.execute import Outcome
from ..store import Store, schema
from ..words import numbered
from .assembled import Assembled, assembled
from .build import drawings_of, files_of
from .kept import Shelf, kept_cases, sweep
from .part import FOLDER, DescribedCases, key_of_case, read_described
from .shared import Shared, shared_by_survey

Files = dict[str, dict[str, Any]]


# Parts that are described in this process where no executor is at work yet: starting one would take longer.
FEW_PARTS = 6
# Drawings that are written at once: each is a small file, and an object store answers slowly.
WRITTEN_AT_ONCE = 16
NO_SHELF = Shelf()


def publish(store: Store, executor: Lazily, shelf: Shelf = NO_SHELF) -> list[str]:
    """Write the report's files and list them in the manifest; those of an earlier report go.

    executor: its tasks describe the cases. shelf: where cases may be described already, beside the run's folder.
    Returns: names below the root.
    Raises:  UsageError when the folder holds no results, or tables that cannot be read; RunError when a case cannot
             be described.
    """
    is_finished = is_sealed(store)
    manifest = store.read_json(MANIFEST) or {}
    files = _written_files(store, executor, manifest, shelf)
    for name in store.list(FOLDER):
        if name not in files:
            store.delete(name)
    others = {name: file for name, file in manifest.get("files", {}).items() if not name.startswith(f"{FOLDER}/")}
    store.delete(SUCCESS)
    store.write_json(MANIFEST, manifest | {"files": others | files})
    if is_finished:
        seal(store)
    return sorted(files)


def _written_files(store: Store, executor: Lazily, manifest: Mapping[str, Any], shelf: Shelf) -> Files:
    """Bytes and SHA-256 of the report's files, which are in place."""
    found = survey(store)
    shared = shared_by_survey(found, manifest)
    units = _described_cases(store, executor, found, shared, shelf)
    report = _assembled(store, units, shared, manifest)
    return _report_files(store, report) | _drawings(store, report, manifest.get("files", {}))


def _described_cases(store: Store, executor: Lazily, found: Survey, shared: Shared, shelf: Shelf) -> dict[str, str]:
    """The key of each case, with that of the unit that describes it; units that describe none go."""
    keys = {case: key_of_case(case, units, shared) for case, units in found.units.items()}
    kept = kept_cases(store)
    if shelf.restore(store, set(keys.values()) - set(kept)):
        kept = kept_cases(store)
    missing = [case for case, key in keys.items() if key not in kept]
    kept |= _describe_cases(store, executor, found, missing, keys, shared)
    described_by = {key: kept[key] for key in keys.values()}
    sweep(store, set(described_by.values()))
    return described_by


def _describe_cases(
    store: Store,
    executor: Lazily,
    found: Survey,
    cases: Sequence[Case],
    keys: Mapping[Case, str],
    shared: Shared,
) -> dict[str, str]:
    """Describe cases; the key of each, with that of its unit."""
    units = [
        DescribedCases(
            title=f"{numbered(len(part.cases), 'case')} of the report",
            keys=tuple(keys[case] for case in part.cases),
            part=part,
            shared=shared,
        )
        for part in with_groups(store, found.parts(cases))
    ]
    missing = units
    if units and (executor.is_entered or len(units) > FEW_PARTS):
        failed = _failures(executor.entered(), units, store)
        missing = [unit for unit in units if unit.key in failed]
    # Limits and losses of workers are of the audit's units: a report is finished in the run's own process.
    with InProcess(Runtime(executor="local")) as here:
        for outcome in _failures(here, missing, store).values():
            sweep(store, [unit.key for unit in units if unit not in missing])
            if outcome.is_disk_full:
                raise RunError(full_disk(store.root))
            raise RunError(f"the report cannot be made: {outcome.message}")
    return {key: unit.key for unit in units for key in unit.keys}


def _failures(executor: Executor, units: Sequence[DescribedCases], store: Store) -> dict[str, Outcome]:
    """What became of the units that are not done, by their keys."""
    ended = (event for event in executor.run_tasks(units, store) if isinstance(event, UnitEnded))
    return {event.unit.key: event.outcome for event in ended if event.outcome.receipt is None}


def _assembled(store: Store, described_by: Mapping[str, str], shared: Shared, manifest: Mapping[str, Any]) -> Assembled:
    with tables_of(store):
        items, thumbnails = (
            read_all(store, name, columns)
            for name, columns in (("items", schema.ITEMS), ("thumbnails", schema.THUMBNAILS))
        )
    return assembled(
        [read_described(store, key, described_by) for key in dict.fromkeys(described_by.values())],
        shared,
        manifest=manifest,
        ids=item_ids(store),
        items=described(items),
        thumbnails=pictured(thumbnails),
    )


def _report_files(store: Store, report: Assembled) -> Files:
    """Write all but the drawings of cases."""
    files = {}
    for relative, content in files_of(report):
        name = f"{FOLDER}/{relative}"
        with store.writing(name) as stream:
            for piece in content:
                interruption.check()
                stream.write(piece)
        files[name] = {"bytes": stream.bytes, "sha256": stream.sha256}
    return files


def _drawings(store: Store, report: Assembled, known: Mapping[str, Any]) -> Files:
    """Write the drawings of cases, but for those that are there. known: what the manifest says of files."""
    # A drawing that is lost with its machine is written again.
    unflushed = Store(store.root, is_durable=False, options=store.options or None)
    there = store.entries(f"{FOLDER}/curves")

    def written(relative: str, data: bytes) -> tuple[str, dict[str, Any]]:
        interruption.check()
        name, sha256 = f"{FOLDER}/{relative}", hashlib.sha256(data).hexdigest()
        file = {"bytes": len(data), "sha256": sha256}
        is_known = known.get(name) == file and name in there and there[name].bytes == len(data)
        # A disk is quick to read; an object store would take as long as to write, and loses no bits.
        if not is_known or (store.is_local and not store.holds(name, len(data), sha256)):
            unflushed.write(name, data)
        return name, file

    with ThreadPoolExecutor(WRITTEN_AT_ONCE) as threads:
        return dict(threads.map(lambda one: written(*one), drawings_of(report)))
