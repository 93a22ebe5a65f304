"""A run's report into its folder: tasks describe and draw some cases each, and what they wrote is put together."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .. import interruption
from ..analysis.load import described, pictured, read_all, tables_of
from ..analysis.parts import Survey, chance_of_queries, item_ids, survey
from ..config.runtime import Runtime
from ..errors import RunError
from ..results.manifest import MANIFEST, SUCCESS, is_sealed, seal
from ..run.dispatch import UnitEnded
from ..run.executor import Executor, Lazily
from ..run.local import InProcess
from ..store import Store, failure_file, receipt_file, schema
from .assembled import Assembled, assembled
from .build import files_of
from .part import FOLDER, DescribedCases, read_described, read_drawn
from .shared import Shared, shared_by_survey

Files = dict[str, dict[str, Any]]


# Parts that are described in this process where no executor is at work yet: starting one would take longer.
FEW_PARTS = 6


def publish(store: Store, executor: Lazily) -> list[str]:
    """Write the report's files and list them in the manifest; those of an earlier report go.

    executor: its tasks describe the cases.
    Returns: names below the root.
    Raises:  UsageError when the folder holds no results, or tables that cannot be read; RunError when a case cannot
             be described.
    """
    is_finished = is_sealed(store)
    manifest = store.read_json(MANIFEST) or {}
    files = _written(store, executor, manifest)
    for name in store.list(FOLDER):
        if name not in files:
            store.delete(name)
    others = {name: file for name, file in manifest.get("files", {}).items() if not name.startswith(f"{FOLDER}/")}
    store.delete(SUCCESS)
    store.write_json(MANIFEST, manifest | {"files": others | files})
    if is_finished:
        seal(store)
    return sorted(files)


def _written(store: Store, executor: Lazily, manifest: Mapping[str, Any]) -> Files:
    """Bytes and SHA-256 of the report's files, which are in place."""
    found = survey(store)
    shared = shared_by_survey(found, manifest, chance_of_queries(store, found.parts))
    with _described(store, executor, found, shared) as units:
        files = _report_files(store, _assembled(store, units, shared, manifest))
        for unit in units:
            files |= read_drawn(store, unit.key)
    return files


@contextmanager
def _described(store: Store, executor: Lazily, found: Survey, shared: Shared) -> Iterator[list[DescribedCases]]:
    """The units that have described all cases; what they wrote goes at the end, and what a killed report left."""
    _clear(store)
    publishing = uuid.uuid4().hex
    units = [
        DescribedCases(title=f"{len(part.cases)} cases of the report", part=part, shared=shared, publishing=publishing)
        for part in found.parts
    ]
    try:
        missing = units
        if executor.is_entered or len(units) > FEW_PARTS:
            failed = _failures(executor.entered(), units, store)
            missing = [unit for unit in units if unit.key in failed]
        # Limits and losses of workers are of the audit's units: a report is finished in the run's own process.
        with InProcess(Runtime(executor="local")) as here:
            for message in _failures(here, missing, store).values():
                raise RunError(f"the report cannot be made: {message}")
        yield units
    finally:
        _clear(store)


def _failures(executor: Executor, units: Sequence[DescribedCases], store: Store) -> dict[str, str]:
    """What went wrong with the units that are not done, by their keys."""
    ended = (event for event in executor.run_tasks(units, store) if isinstance(event, UnitEnded))
    return {event.unit.key: event.outcome.message for event in ended if event.outcome.receipt is None}


def _clear(store: Store) -> None:
    stage = DescribedCases.stage
    folders = [file(stage, "").rpartition("/")[0] for file in (receipt_file, failure_file)]
    for folder in (*folders, f"units/{stage}"):
        for name in store.list(folder):
            store.delete(name)
        store.delete_empty_folders(folder)


def _assembled(store: Store, units: Sequence[DescribedCases], shared: Shared, manifest: Mapping[str, Any]) -> Assembled:
    with tables_of(store):
        items, thumbnails = (
            read_all(store, name, columns)
            for name, columns in (("items", schema.ITEMS), ("thumbnails", schema.THUMBNAILS))
        )
    return assembled(
        [read_described(store, unit.key) for unit in units],
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
