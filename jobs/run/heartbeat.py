"""A thread that writes something again every few seconds, so that a reader elsewhere sees the run is alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from .. import interruption
from ..store import Store

# Seconds between two beats: on a disk, and on an object store, where each is a request.
DISK_SECONDS, OBJECT_SECONDS = 2.0, 15.0
# After this many missed beats another machine takes the run for dead.
MISSED_BEATS = 6


def interval_seconds(store: Store) -> float:
    """Time between two beats into a store."""
    return DISK_SECONDS if store.is_local else OBJECT_SECONDS


def lease_seconds(interval: float) -> float:
    """How long a run without a beat may still be alive, given the interval that it promised."""
    return MISSED_BEATS * interval


class Heartbeat:
    """Calls `beat` after every interval until it is stopped, or until `beat` returns False."""

    def __init__(self, beat: Callable[[], bool], interval: float) -> None:
        self._beat, self._interval = beat, interval
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_beating, daemon=True)

    def start(self) -> None:
        """Beat from now on."""
        self._thread.start()

    def stop(self) -> None:
        """No beat begins after this; one that a slow store holds up is waited for, within limits."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(interruption.LAST_SECONDS)

    def _keep_beating(self) -> None:
        while not self._over.wait(self._interval):
            # A full disk fails units, which the run reports; the next beat may succeed.
            with suppress(OSError):
                if not self._beat():
                    return
