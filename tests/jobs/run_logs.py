"""What a run has logged."""

import json
from typing import Any

from jobs.run.run_log import log_file
from jobs.store import Store


def read_log(store: Store, run_id: str) -> list[dict[str, Any]]:
    """The lines of a run's log; a last line that was cut is left out."""
    lines = store.read(log_file(run_id)).decode("utf-8", errors="replace").splitlines()
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found
