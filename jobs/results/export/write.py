"""A run's folder to files of one format."""

from __future__ import annotations

from jobs.errors import UsageError
from jobs.results.export.formats import FORMATS
from jobs.results.manifest import MANIFEST
from jobs.store import Store


def write(folder: str, form: str, output: str) -> list[str]:
    """Write a run's selections in a format; paths of what was written.

    Raises:  UsageError for a folder that holds no results, or an output that cannot be written.
    """
    store = Store(folder).readable()
    if not store.exists(MANIFEST) or not store.list("results"):
        raise UsageError(f"{folder} holds no results: `mpr-audit run CONFIG --output {folder}` makes them")
    try:
        return FORMATS[form](store, output)
    except OSError as error:
        raise UsageError(f"--output {output}: {error.strerror or error}") from None
