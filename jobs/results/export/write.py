"""A run's selections in the forms that other programs read."""

from __future__ import annotations

from collections.abc import Callable

from jobs.errors import UsageError
from jobs.results.export.long import export_long
from jobs.results.export.trec import export_trec
from jobs.results.manifest import MANIFEST
from jobs.store import Store

# Format -> what writes it to an output, returning names of the files written.
FORMATS: dict[str, Callable[[Store, str], list[str]]] = {"trec": export_trec, "long": export_long}


def export(folder: str, form: str, output: str) -> list[str]:
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
