"""Units through an executor: a bounded number in flight, losses tried again, limits kept. Knows no Ray."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import psutil

from jobs import interruption
from jobs.run.attempts import Attempt, Limits, Loss, Lost, Report, Started, explanation
from jobs.run.batches import Batches
from jobs.run.memory_watch import was_stopped
from jobs.stages.execute import Outcome, record_failure
from jobs.stages.unit import Unit
from jobs.store import Store, valid_receipt

# How long what is being stopped may take to end; a process that was killed ends at once, a lost machine never.
STOP_SECONDS = 10.0
# An actor is said to be dead some 0.02 s before its process is; a process of another machine is not seen to end.
UNSEEN_SECONDS = 1.0
# How long a unit rests after its machine ran out of memory; twice as long every time.
PAUSE_SECONDS = 2.0
# Seconds between looks whether a process has ended.
LOOK_SECONDS = 0.01
# The longest wait before limits, and whether a signal has come, are looked at again.
LONGEST_WAIT_SECONDS = 0.5


class Executor(Protocol):
    """Where units run. A handle stands for some units that were handed over together."""

    window: int

    def submit(self, attempts: Sequence[Attempt]) -> Hashable:
        """Hand over; called only while fewer than `window` handles are open."""

    def wait(self, handles: Sequence[Hashable], timeout: float) -> list[Hashable]:
        """Handles with something to read, after that many seconds at most."""

    def read(self, handle: Hashable) -> Report | Lost | None:
        """The next thing that a ready handle has to say; None at its end."""

    def stop(self, handle: Hashable) -> None:
        """Kill what runs the handle; it then reads as lost."""

    def release(self, handle: Hashable) -> None:
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
class Dispatch:
    """One pass over some units that need nothing of each other."""

    executor: Executor
    store: Store
    limits: Limits
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = interruption.pause
    pause_seconds: float = PAUSE_SECONDS
    _waiting: Batches = field(init=False)
    _again: deque[Attempt] = field(default_factory=deque)
    _resting: list[tuple[float, Attempt]] = field(default_factory=list)
    _flights: dict[Hashable, _Flight] = field(default_factory=dict)

    def run(self, units: Sequence[Unit], is_enough: Callable[[], bool] = never) -> Iterator[Event]:
        """What happens to the units, as it happens; stops what runs once it is enough, or when it is closed early.

        is_enough is asked after each event. Of what ran then, units that had finished still end as done; the others
        count as not tried, whatever their last word was.
        """
        self._waiting = Batches(units, self.executor.window)
        try:
            while not is_enough() and (self._waiting or self._again or self._resting or self._flights):
                interruption.check()
                self._fill()
                if not self._flights:
                    self.sleep(self._patience())
                    continue
                for handle in self.executor.wait(list(self._flights), self._patience()):
                    if is_enough():
                        break
                    yield from self._read(handle)
                self._stop_overdue()
            yield from self._stop_all()
        finally:
            for handle in self._flights:
                self.executor.stop(handle)

    def _fill(self) -> None:
        now = self.clock()
        self._again.extend(attempt for ready, attempt in self._resting if ready <= now)
        self._resting = [(ready, attempt) for ready, attempt in self._resting if ready > now]
        while len(self._flights) < self.executor.window and (self._again or self._waiting):
            # What was lost goes alone, so that whatever kills it takes nothing else along.
            attempts = [self._again.popleft()] if self._again else [Attempt(unit=one) for one in self._waiting.take()]
            self._flights[self.executor.submit(attempts)] = _Flight(deque(attempts))

    def _due(self) -> Iterator[tuple[Hashable, float]]:
        """Seconds that each running handle's unit has left."""
        for handle, flight in self._flights.items():
            if self.limits.seconds is not None and flight.since is not None and not flight.is_overdue:
                yield handle, flight.since + self.limits.seconds - self.clock()

    def _patience(self) -> float:
        rests = [ready - self.clock() for ready, _ in self._resting]
        return max(0.0, min([LONGEST_WAIT_SECONDS, *rests, *(left for _, left in self._due())]))

    def _stop_overdue(self) -> None:
        for handle in [handle for handle, left in self._due() if left <= 0]:
            self._flights[handle].is_overdue = True
            self.executor.stop(handle)

    def _stop_all(self) -> Iterator[UnitEnded]:
        """Stop what runs, wait for its end so that nothing is written after it, and tell what had finished."""
        for handle in self._flights:
            self.executor.stop(handle)
        running, killed, until = dict(self._flights), [], self.clock() + STOP_SECONDS
        while running and self.clock() < until:
            for handle in self.executor.wait(list(running), LONGEST_WAIT_SECONDS):
                said = self.executor.read(handle)
                if not isinstance(said, Report) or said.started is None:
                    self.executor.release(handle)
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

    def _read(self, handle: Hashable) -> Iterator[Event]:
        flight, said = self._flights[handle], self.executor.read(handle)
        if isinstance(said, Report):
            if said.outcome is not None:
                # It may have ended while it was being stopped: what that takes down is the next one, without blame.
                flight.since, flight.is_overdue = None, False
                unit = flight.attempts.popleft().unit
                if said.outcome.receipt is not None:
                    self._waiting.learn(unit.stage, 1, said.outcome.receipt.seconds)
                yield self._ended(unit, said.outcome)
            if said.started is not None:
                flight.since, flight.process = self.clock(), said.started
                yield self._started(flight.attempts[0], said.started)
            if flight.attempts:
                return
        del self._flights[handle]
        self.executor.release(handle)
        if flight.attempts:
            lost = said if isinstance(said, Lost) else Lost(loss=Loss.WORKER, reason="the worker went without a word")
            yield from self._lose(flight, lost)

    @staticmethod
    def _started(attempt: Attempt, started: Started) -> UnitStarted:
        return UnitStarted(unit=attempt.unit, node=started.node, pid=started.pid, attempt=attempt.number)

    def _lose(self, flight: _Flight, lost: Lost) -> Iterator[Event]:
        """Only the unit that was running is to blame; those behind it go back as they were."""
        culprit = flight.attempts.popleft()
        loss = Loss.UNIT_TIME if flight.is_overdue else lost.loss
        if loss is Loss.WORKER and self.limits.memory_bytes and was_stopped(culprit, self.store):
            loss = Loss.UNIT_MEMORY
        if flight.since is None and loss in (Loss.WORKER, Loss.NODE):
            loss = Loss.UNSTARTED
        self._waiting.split(attempt.unit for attempt in flight.attempts)
        # It may have died between its receipt and its word: then it is done.
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
        yield self._ended(culprit.unit, Outcome(key=culprit.unit.key, message=message, traceback=lost.reason))

    def _ended(self, unit: Unit, outcome: Outcome) -> UnitEnded:
        """Every failure of a run is written here, where it is told: the folder holds what the run counts."""
        if outcome.receipt is None:
            record_failure(unit, self.store, outcome)
        return UnitEnded(unit=unit, outcome=outcome)
