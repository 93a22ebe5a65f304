"""Units handed to workers: a bounded number in flight, losses tried again, limits enforced. Knows no Ray."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import psutil

from .. import interruption
from ..stages.execute import Outcome, record_failure
from ..stages.unit import Unit
from ..store import Store, valid_receipt
from .attempts import Attempt, Limits, Loss, Lost, Report, Started, explanation
from .batches import Batches
from .memory_watch import was_stopped

# Wait for stopped workers to end; a killed process ends at once, one on a lost machine never.
STOP_SECONDS = 10.0
# Ray reports an actor as dead some 0.02 s before its process ends; the end of a remote process cannot be observed.
UNSEEN_SECONDS = 1.0
# Pause before a unit is tried again after its machine ran out of memory; doubles every time.
PAUSE_SECONDS = 2.0
# Seconds between looks whether a process has ended.
LOOK_SECONDS = 0.01
# Longest wait between checks of the limits and for a signal.
LONGEST_WAIT_SECONDS = 0.5

# Whatever a kind of workers likes, as long as it can be a key.
Handle = TypeVar("Handle")


class Workers(Protocol[Handle]):
    """What runs units: tasks, actors, or this process. A handle is for units that were handed over together."""

    @property
    def window(self) -> int:
        """Handles that may be open at once."""

    def submit(self, attempts: Sequence[Attempt]) -> Handle:
        """Hand over; called only while fewer than `window` handles are open."""

    def wait(self, handles: Sequence[Handle], timeout: float) -> list[Handle]:
        """Handles with something to read, after that many seconds at most."""

    def read(self, handle: Handle) -> Report | Lost | None:
        """The next message of a ready handle; None at its end."""

    def stop(self, handle: Handle) -> None:
        """Kill what runs the handle; it then reads as lost."""

    def release(self, handle: Handle) -> None:
        """The handle has ended and will not be read again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitStarted:
    """A unit began."""

    unit: Unit
    node: str
    pid: int
    attempt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitEnded:
    """A unit is done, or failed for this run."""

    unit: Unit
    outcome: Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitRetried:
    """A unit was lost and will be tried again."""

    unit: Unit
    loss: Loss
    attempt: int


Event = UnitStarted | UnitEnded | UnitRetried
# Closing it early stops what runs.
Events = Generator[Event, None, None]


@dataclass(slots=True)
class _Flight:
    """Units handed over together; the first of them runs since `since` in `process`, if it has begun."""

    attempts: deque[Attempt]
    since: float | None = None
    is_overdue: bool = False
    process: Started | None = None


def never() -> bool:
    """A run that goes on to its end."""
    return False


@dataclass(slots=True)
class Dispatch(Generic[Handle]):
    """One pass over some units that need nothing of each other."""

    workers: Workers[Handle]
    store: Store
    limits: Limits
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = interruption.pause
    pause_seconds: float = PAUSE_SECONDS
    _waiting: Batches = field(init=False)
    _again: deque[Attempt] = field(default_factory=deque)
    _resting: list[tuple[float, Attempt]] = field(default_factory=list)
    _flights: dict[Handle, _Flight] = field(default_factory=dict)

    def run(self, units: Sequence[Unit], is_enough: Callable[[], bool] = never) -> Events:
        """What happens to the units, as it happens; stops what runs once it is enough, or when it is closed early.

        is_enough is called after each event. Units that had finished by then still end as done; the others count as not
        tried, whatever they reported last.
        """
        self._waiting = Batches(units, self.workers.window)
        try:
            while not is_enough() and (self._waiting or self._again or self._resting or self._flights):
                interruption.check()
                self._fill_window()
                if not self._flights:
                    self.sleep(self._longest_wait())
                    continue
                for handle in self.workers.wait(list(self._flights), self._longest_wait()):
                    if is_enough():
                        break
                    yield from self._events_from(handle)
                self._stop_overdue()
            yield from self._stop_all()
        finally:
            for handle in self._flights:
                self.workers.stop(handle)

    def _fill_window(self) -> None:
        now = self.clock()
        self._again.extend(attempt for ready, attempt in self._resting if ready <= now)
        self._resting = [(ready, attempt) for ready, attempt in self._resting if ready > now]
        while len(self._flights) < self.workers.window and (self._again or self._waiting):
            # A lost unit is sent alone: what killed its worker shall not take others with it.
            attempts = [self._again.popleft()] if self._again else [Attempt(unit=one) for one in self._waiting.take()]
            self._flights[self.workers.submit(attempts)] = _Flight(deque(attempts))

    def _seconds_left(self) -> Iterator[tuple[Handle, float]]:
        """Seconds that each running handle's unit has left."""
        for handle, flight in self._flights.items():
            if self.limits.seconds is not None and flight.since is not None and not flight.is_overdue:
                yield handle, flight.since + self.limits.seconds - self.clock()

    def _longest_wait(self) -> float:
        rests = [ready - self.clock() for ready, _ in self._resting]
        return max(0.0, min([LONGEST_WAIT_SECONDS, *rests, *(left for _, left in self._seconds_left())]))

    def _stop_overdue(self) -> None:
        for handle in [handle for handle, left in self._seconds_left() if left <= 0]:
            self._flights[handle].is_overdue = True
            self.workers.stop(handle)

    def _stop_all(self) -> Iterator[UnitEnded]:
        """Stop all workers, wait until none can write any more, and report the units that had finished."""
        for handle in self._flights:
            self.workers.stop(handle)
        running, killed, until = dict(self._flights), [], self.clock() + STOP_SECONDS
        while running and self.clock() < until:
            for handle in self.workers.wait(list(running), LONGEST_WAIT_SECONDS):
                said = self.workers.read(handle)
                if not isinstance(said, Report) or said.started is None:
                    self.workers.release(handle)
                    flight = running.pop(handle)
                    killed += [flight.process] if flight.process and isinstance(said, Lost) else []
        self._await_death(killed, until)
        flights, self._flights = self._flights, running
        for attempt in (attempt for flight in flights.values() for attempt in flight.attempts):
            receipt = valid_receipt(self.store, attempt.unit.stage, attempt.unit.key)
            if receipt is not None:
                yield UnitEnded(unit=attempt.unit, outcome=Outcome(key=attempt.unit.key, receipt=receipt))

    def _await_death(self, killed: Sequence[Started], until: float) -> None:
        if any(process.node != socket.gethostname() for process in killed):
            self.sleep(UNSEEN_SECONDS)
        here = {process.pid for process in killed if process.node == socket.gethostname()}
        while any(map(psutil.pid_exists, here)) and self.clock() < until:
            self.sleep(LOOK_SECONDS)

    def _events_from(self, handle: Handle) -> Iterator[Event]:
        flight, said = self._flights[handle], self.workers.read(handle)
        if isinstance(said, Report):
            if said.outcome is not None:
                # It may have ended while it was being stopped: cancelling it may also kill the next unit, which is then
                # retried without counting as overdue.
                flight.since, flight.is_overdue = None, False
                unit = flight.attempts.popleft().unit
                if said.outcome.receipt is not None:
                    self._waiting.learn(unit.stage, 1, said.outcome.receipt.seconds)
                yield self._unit_ended(unit, said.outcome)
            if said.started is not None:
                flight.since, flight.process = self.clock(), said.started
                yield self._unit_started(flight.attempts[0], said.started)
            if flight.attempts:
                return
        del self._flights[handle]
        self.workers.release(handle)
        if flight.attempts:
            lost = said if isinstance(said, Lost) else Lost(loss=Loss.WORKER, reason="its worker reported nothing")
            yield from self._handle_loss(flight, lost)

    @staticmethod
    def _unit_started(attempt: Attempt, started: Started) -> UnitStarted:
        return UnitStarted(unit=attempt.unit, node=started.node, pid=started.pid, attempt=attempt.number)

    def _handle_loss(self, flight: _Flight, lost: Lost) -> Iterator[Event]:
        """Only the unit that was running counts as lost; those queued behind it return unchanged."""
        culprit = flight.attempts.popleft()
        loss = Loss.UNIT_TIME if flight.is_overdue else lost.loss
        if loss is Loss.WORKER and self.limits.memory_bytes and was_stopped(culprit, self.store):
            loss = Loss.UNIT_MEMORY
        if flight.since is None and loss in (Loss.WORKER, Loss.NODE):
            loss = Loss.UNSTARTED
        self._waiting.split(attempt.unit for attempt in flight.attempts)
        # The worker may have died after it wrote the receipt and before it could report: the unit is done.
        receipt = valid_receipt(self.store, culprit.unit.stage, culprit.unit.key)
        if receipt is not None:
            yield UnitEnded(unit=culprit.unit, outcome=Outcome(key=culprit.unit.key, receipt=receipt))
            return
        again = culprit.after(loss)
        if again is not None:
            # A machine without memory needs time more than another try.
            pause = self.pause_seconds * 2 ** (again.halvings - 1) if loss is Loss.NODE_MEMORY else 0.0
            self._resting.append((self.clock() + pause, again))
            yield UnitRetried(unit=culprit.unit, loss=loss, attempt=again.number)
            return
        message = explanation(culprit, loss, self.limits, lost.reason)
        yield self._unit_ended(culprit.unit, Outcome(key=culprit.unit.key, message=message, traceback=lost.reason))

    def _unit_ended(self, unit: Unit, outcome: Outcome) -> UnitEnded:
        """Record a failure where it is counted, so that the folder and the run's counts agree."""
        if outcome.receipt is None and not outcome.refused:
            record_failure(unit, self.store, outcome)
        return UnitEnded(unit=unit, outcome=outcome)
