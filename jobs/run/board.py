"""What a run is doing now, in `running.json`, so that anybody who can read the folder can see it.

A thread rewrites it every few seconds. It remains when a run is killed: a reader on the same machine looks for the
process, one elsewhere at the age of the file's last write.
"""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from .. import interruption
from ..store import Store
from .heartbeat import Heartbeat, interval_seconds, lease_seconds
from .process import Process, this_process

if TYPE_CHECKING:
    from ..stages.unit import Unit
    from .dispatch import UnitStarted

RUNNING = "running.json"
PARTS = {"run_id", "state", "started", "updated", "interval_seconds", "cpus", "counts", "process", "units"}


@dataclass(slots=True)
class Board:
    """The run's present state; a context manager, since a thread writes it."""

    store: Store
    run_id: str
    state: str = "starting"
    cpus: int = 1
    counts: dict[str, int] = field(default_factory=dict)
    _units: dict[str, dict[str, Any]] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)
    _heartbeat: Heartbeat | None = None
    _began: float = field(default_factory=time.time)

    def __enter__(self) -> Board:
        self.publish()
        self._heartbeat = Heartbeat(self._write_board, interval_seconds(self.store))
        self._heartbeat.start()
        return self

    def __exit__(self, *_: object) -> None:
        interruption.bounded(f"writing {RUNNING}", self.close)

    def close(self) -> None:
        """Write the last state, with which the run is over."""
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self._units.clear()
        self.publish()

    def begin(self, event: UnitStarted) -> None:
        """A unit runs."""
        unit = event.unit
        with self._lock:
            self._units[unit.key] = {
                "stage": unit.stage,
                "unit": unit.key,
                "title": unit.title,
                "since": time.time(),
                "node": event.node,
                "pid": event.pid,
                "attempt": event.attempt,
            }

    def end(self, unit: Unit) -> None:
        """A unit no longer runs."""
        with self._lock:
            self._units.pop(unit.key, None)

    def publish(self) -> None:
        """Put the present state where readers look."""
        with self._lock:
            units = list(self._units.values())
        self.store.write_json(
            RUNNING,
            {
                "run_id": self.run_id,
                "state": self.state,
                "started": self._began,
                "updated": time.time(),
                "interval_seconds": interval_seconds(self.store),
                "cpus": self.cpus,
                "counts": self.counts,
                "process": asdict(this_process()),
                "units": units,
            },
        )

    def _write_board(self) -> bool:
        self.publish()
        return True


def read_board(store: Store) -> dict[str, Any] | None:
    """The last run's board, with `is_alive`; None where no run has left one."""
    board = store.read_json(RUNNING)
    if not isinstance(board, dict) or not board.keys() >= PARTS:
        return None
    is_alive = board["state"] in ("starting", "running", "collecting", "reporting")
    if is_alive:
        known = Process(**board["process"]).is_alive
        age_seconds = time.time() - board["updated"]
        is_alive = age_seconds < lease_seconds(board["interval_seconds"]) if known is None else known
    return board | {"is_alive": is_alive, "units": board["units"] if is_alive else []}
