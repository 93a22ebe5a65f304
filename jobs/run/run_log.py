"""The log of one run: one JSON object per line in `logs/RUN_ID.jsonl`, written as things happen.

Keys of every line: time (UTC), level, event, message; of a unit's also stage, unit (its key) and,
as far as they are known, seconds, node, pid, attempt. A local log grows line by line; on an object
store, which cannot append, it is put again every half minute and at the end.
"""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import interruption
from ..store import Store

FOLDER = "logs"
# Seconds between two uploads of a log to an object store.
UPLOAD_SECONDS = 30.0


def log_file(run_id: str) -> str:
    """Path of a run's log below the root."""
    return f"{FOLDER}/{run_id}.jsonl"


class RunLog:
    """A log that is being written; a context manager."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store, self._name = store, log_file(run_id)
        if store.is_local:
            path = Path(store.path(self._name))
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lines = path.open("a", encoding="utf-8", buffering=1)
        else:
            self._lines = tempfile.TemporaryFile("w+", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed by `close`
        self._uploaded = time.monotonic()

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, *_: object) -> None:
        if interruption.bounded(f"writing {self._name}", self.upload):
            with suppress(OSError):
                self._lines.close()

    def write(self, event: str, message: str = "", level: str = "info", **fields: Any) -> None:
        """One line; fields of None are left out."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": now, "level": level, "event": event, "message": message}
        line |= {name: value for name, value in fields.items() if value is not None}
        # A full disk fails units, which the run reports; a log that cannot grow is no reason to end it.
        with suppress(OSError):
            self._lines.write(json.dumps(line, ensure_ascii=False) + "\n")
        if time.monotonic() - self._uploaded > UPLOAD_SECONDS:
            self.upload()

    def upload(self) -> None:
        """Put the lines where readers look for them; those of a local log are there."""
        self._uploaded = time.monotonic()
        if not self._store.is_local:
            self._lines.seek(0)
            self._store.write(self._name, self._lines.read().encode())
