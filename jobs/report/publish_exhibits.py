"""The paper's exhibits of finished runs, into a folder of their own."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.together import load_together
from ..store import Store
from . import exhibits


def write_exhibits(folders: Sequence[str], store: Store) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Write every exhibit that the runs' tables allow.

    Returns: names of the written files by exhibit, and what is missing for each of the others.
    Raises:  UsageError when a folder holds no results or tables that cannot be read, or the store cannot be written.
    """
    run = load_together(folders)
    store.prepare()
    written: dict[str, list[str]] = {}
    missing: dict[str, str] = {}
    for name, files in exhibits.build(run):
        if isinstance(files, str):
            missing[name] = files
            continue
        for file, data in files.items():
            store.write(file, data)
        written[name] = sorted(files)
    return written, missing
