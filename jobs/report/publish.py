"""A run's report into its folder."""

from __future__ import annotations

import hashlib

from jobs import interruption
from jobs.analysis.load import load
from jobs.report.build import build
from jobs.results.manifest import MANIFEST, SUCCESS, is_sealed, seal
from jobs.store import Store

FOLDER = "report"


def publish(store: Store) -> list[str]:
    """Write the report's files and list them in the manifest; those of an earlier report go.

    Returns: names below the root.
    Raises:  UsageError when the folder holds no results, or tables that cannot be read.
    """
    is_finished = is_sealed(store)
    files = {f"{FOLDER}/{name}": data for name, data in build(load(store.root)).items()}
    for name, data in files.items():
        interruption.check()
        store.write(name, data)
    for name in store.list(FOLDER):
        if name not in files:
            store.delete(name)
    manifest = store.read_json(MANIFEST) or {}
    others = {name: file for name, file in manifest.get("files", {}).items() if not name.startswith(f"{FOLDER}/")}
    written = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    store.delete(SUCCESS)
    store.write_json(MANIFEST, manifest | {"files": others | written})
    if is_finished:
        seal(store)
    return sorted(files)
