"""One run at a time in a folder: a lock that outlives no dead process and trusts no clock.

`lock.json` is created where there is none (an exclusive link on disks, a conditional PUT on object
stores) and written again every few seconds. Whoever finds one looks at its process: dead on this
machine, the lock is taken over at once; on another machine, it is taken over once it has not been
written again for a lease, measured by the finder's own watch. So a clock that was set back frees
nothing and holds nothing.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from .. import interruption
from ..errors import RunError
from ..store import Store
from .heartbeat import Heartbeat, interval_seconds, lease_seconds
from .process import Process, this_process

LOCK = "lock.json"
# Two that take over one dead lock at once: both write, and after this long only the last one holds it.
SETTLE_SECONDS = 0.5
# A file that is no lock: cut by a full disk, or of another program.
HALF: dict[str, Any] = {}


@dataclass(slots=True)
class Lock:
    """Holds a run's folder while it is entered.

    say is called when a lock is taken over, and when another machine's has to be watched.
    Raises (on entering):  RunError naming the run that holds the folder.
    """

    store: Store
    run_id: str
    say: Callable[[str], None]
    _token: str = field(default_factory=lambda: uuid.uuid4().hex)
    _beats: int = 0
    _started: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")
    _heartbeat: Heartbeat | None = None

    def __enter__(self) -> Lock:
        while not self.store.create(LOCK, self._content()):
            interruption.check()
            holder = _read(self.store)
            if holder is None:
                continue
            if not self._is_free(holder):
                raise RunError(_refusal(self.store, holder))
            if self._take_over(holder):
                break
        interruption.at_leaving(self._release)
        self._heartbeat = Heartbeat(self._renew, interval_seconds(self.store))
        self._heartbeat.start()
        return self

    def __exit__(self, *_: object) -> None:
        interruption.bounded(f"freeing the lock of {self.store.root}", self._release)
        interruption.not_at_leaving(self._release)

    def _release(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()
        if self._is_own():
            self.store.delete(LOCK)

    def expect_held(self) -> None:
        """Nobody has taken the folder over meanwhile.

        Raises:  RunError when somebody has: this run was thought dead.
        """
        if not self._is_own():
            raise RunError(
                f"output {self.store.root} was taken over by another run while this one did not write: finished "
                "units are kept"
            )

    def _content(self) -> bytes:
        return json.dumps(
            {
                "token": self._token,
                "run_id": self.run_id,
                "started": self._started,
                "process": asdict(this_process()),
                "beats": self._beats,
                "interval_seconds": interval_seconds(self.store),
            }
        ).encode()

    def _is_own(self) -> bool:
        return _token(_read(self.store)) == self._token

    def _is_free(self, holder: dict[str, Any]) -> bool:
        """Whether the holder is dead; watches a lock of another machine for a lease."""
        if holder is HALF:
            return True
        is_alive = _process(holder).is_alive
        if is_alive is not None:
            return not is_alive
        lease = lease_seconds(holder["interval_seconds"])
        self.say(
            f"{self.store.root} is locked by {_holder_text(holder)}: watching for {lease:.0f} s whether it is alive"
        )
        until = time.monotonic() + lease
        while time.monotonic() < until:
            interruption.pause(holder["interval_seconds"] / 4)
            if _read(self.store) != holder:
                return False
        return True

    def _take_over(self, holder: dict[str, Any]) -> bool:
        """Put this lock in the place of a dead one; False when another finder was later, or the lock has changed."""
        if _token(_read(self.store)) != _token(holder):
            return False
        self.store.write(LOCK, self._content())
        interruption.pause(SETTLE_SECONDS)
        if not self._is_own():
            return False
        self.say(f"took over the lock of {_holder_text(holder)}, which is dead")
        return True

    def _renew(self) -> bool:
        if not self._is_own():
            return False
        self._beats += 1
        self.store.write(LOCK, self._content())
        return True


def _read(store: Store) -> dict[str, Any] | None:
    """Content of the lock file: None where there is none, HALF for one that is no whole lock."""
    found = store.read_json(LOCK)
    if isinstance(found, dict) and found.keys() >= {"token", "run_id", "started", "process", "interval_seconds"}:
        return found
    return HALF if store.exists(LOCK) else None


def _token(holder: dict[str, Any] | None) -> str | None:
    return holder.get("token") if holder else None


def _process(holder: dict[str, Any]) -> Process:
    return Process(**holder["process"])


def _holder_text(holder: dict[str, Any]) -> str:
    if holder is HALF:
        return "a run that left half a lock"
    process = _process(holder)
    return f"run {holder['run_id']} (process {process.pid} on {process.host}, since {holder['started']})"


def _refusal(store: Store, holder: dict[str, Any]) -> str:
    return f"output {store.root} is in use by {_holder_text(holder)}: wait until it ends, or choose another --output"
