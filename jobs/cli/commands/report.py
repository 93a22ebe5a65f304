"""`mpr-audit report`: the page of a run, written again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import room_in
from ..options import AsJson, Folder, print_json

if TYPE_CHECKING:
    from ...config.runtime import Runtime


def report(folder: Folder, as_json: AsJson = False) -> int:
    """Write a run's report again from its results."""
    from ...report.publish import publish
    from ...results.manifest import PAGE, read_manifest
    from ...run.executor import Lazily
    from ...store import Store

    store = Store(folder).readable()
    manifest = read_manifest(store)
    if manifest is not None:
        store.prepare()
    with room_in(folder), Lazily(_runtime(manifest)) as executor:
        written = publish(store, executor)
    page = store.address(PAGE)
    if as_json:
        print_json({"report": page, "files": written})
    else:
        print(f"report: {page}")
    return 0


def _runtime(manifest: dict[str, Any] | None) -> Runtime:
    """The executor of the run, on this machine: its cluster may be gone."""
    from ...config.runtime import Runtime

    settings = {} if manifest is None else manifest["settings"]
    runtime = settings.get("runtime") if isinstance(settings, dict) else None
    executor = runtime.get("executor") if isinstance(runtime, dict) else None
    return Runtime(executor="local") if executor == "local" else Runtime()
