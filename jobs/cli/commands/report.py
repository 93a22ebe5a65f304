"""`mpr-audit report`: the page of a run, written again."""

from __future__ import annotations

from ..options import AsJson, Folder, print_json


def report(folder: Folder, as_json: AsJson = False) -> int:
    """Write a run's report again from its results."""
    from ...config.runtime import Runtime
    from ...report.publish import publish
    from ...results.manifest import PAGE
    from ...run.executor import Lazily
    from ...store import Store

    store = Store(folder).readable()
    with Lazily(Runtime()) as executor:
        written = publish(store, executor)
    page = store.address(PAGE)
    if as_json:
        print_json({"report": page, "files": written})
    else:
        print(f"report: {page}")
    return 0
