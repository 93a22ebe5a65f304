"""`mpr-audit report`: the page of a run, written again."""

from __future__ import annotations

from jobs.cli.options import AsJson, Folder, print_json


def report(folder: Folder, as_json: AsJson = False) -> int:
    """Write a run's report again from its results."""
    from jobs.config.audit import Runtime
    from jobs.report.publish import publish
    from jobs.results.manifest import PAGE
    from jobs.run.executor import Lazily
    from jobs.store import Store

    store = Store(folder).readable()
    with Lazily(Runtime()) as executor:
        written = publish(store, executor)
    page = store.address(PAGE)
    if as_json:
        print_json({"report": page, "files": written})
    else:
        print(f"report: {page}")
    return 0
