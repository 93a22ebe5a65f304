"""A run's folder to files of one format."""

from __future__ import annotations

from ...errors import UsageError
from ...store import Store
from ..manifest import MANIFEST
from .formats import FORMATS


def write(folder: str, form: str, output: str) -> list[str]:
    """Write a run's selections in a format; paths of what was written.

    Raises:  UsageError for a folder that holds no results, or an output that cannot be written.
    """
    store = Store(folder).readable()
    if not store.exists(MANIFEST) or not (store.list("results") and store.list("items")):
        raise UsageError(f"{folder} holds no results: `mpr-audit run CONFIG --output {folder}` makes them")
    try:
        return FORMATS[form](store, output)
    except OSError as error:
        raise UsageError(f"--output {output}: {error.strerror or error}") from None
