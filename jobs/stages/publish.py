"""A run's report into its folder."""

from __future__ import annotations

from jobs import report
from jobs.store import Store

FOLDER = "report"


def publish(store: Store) -> list[str]:
    """Write the report's files; those of an earlier report go.

    Returns: names below the root.
    Raises:  FileNotFoundError when the folder holds no results.
    """
    files = {f"{FOLDER}/{name}": data for name, data in report.build(report.load(store.root)).items()}
    for name, data in files.items():
        store.write(name, data)
    for name in store.list(FOLDER):
        if name not in files:
            store.delete(name)
    return sorted(files)
