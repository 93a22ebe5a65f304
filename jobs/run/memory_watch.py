"""A bound on the memory of the process that runs a unit: beyond it the process ends itself and leaves the reason.

What counts is memory of the process's own: pages of mapped shards are shared with the page cache
and do not. A thread checks a few times per second: native code that holds the interpreter lock for
longer is noticed late; Ray's memory monitor and the operating system are the last resort.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from ..store import Store, ticket_file
from .attempts import Attempt

# Seconds between two checks: a unit that allocates a gigabyte per second exceeds its limit by 200 MB.
LOOK_SECONDS = 0.2
# Exit code of the process, for the log.
EXIT_CODE = 137


@contextmanager
def watched(attempt: Attempt, store: Store, limit_bytes: int | None) -> Iterator[None]:
    """End the process when its own memory passes the limit, leaving the attempt's ticket behind."""
    if limit_bytes is None:
        yield
        return
    is_over = threading.Event()
    watch = threading.Thread(target=_watch, args=(attempt, store, limit_bytes, is_over), daemon=True)
    watch.start()
    try:
        yield
    finally:
        is_over.set()
        watch.join()


def was_stopped(attempt: Attempt, store: Store) -> bool:
    """Whether that attempt ended because of its memory; its ticket is taken away."""
    name = ticket_file(attempt.unit.stage, attempt.unit.key)
    left = store.read_json(name)
    if not isinstance(left, dict) or left.get("ticket") != attempt.ticket:
        return False
    store.delete(name)
    return True


def _watch(attempt: Attempt, store: Store, limit_bytes: int, is_over: threading.Event) -> None:
    process = psutil.Process()
    while not is_over.wait(LOOK_SECONDS):
        memory = process.memory_info()
        used = memory.rss - memory.shared
        if used > limit_bytes:
            left = {"ticket": attempt.ticket, "message": f"stopped at {used / 1e6:,.0f} MB of memory"}
            # Without room for the ticket the run takes it for a crash, and the process ends all the same.
            with suppress(OSError):
                store.write_json(ticket_file(attempt.unit.stage, attempt.unit.key), left)
            os._exit(EXIT_CODE)
