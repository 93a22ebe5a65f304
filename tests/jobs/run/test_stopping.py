"""Units that are stopped, on workers that do what the test says; no Ray."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections import deque

from jobs.run.attempts import Attempt, Limits, Loss, Lost, Report, Started
from jobs.run.batches import Batches
from jobs.run.dispatch import STOP_SECONDS, Dispatch, UnitEnded, UnitRetried, UnitStarted, _Flight
from jobs.stages.execute import Outcome, commit
from jobs.store import Receipt, failure_file, receipt_file
from tests.jobs.run.scripted import Scripted, ends, units

SECONDS = 0.05


def test_a_unit_beyond_its_time_is_stopped_and_failed_at_once(store):
    now = [0.0]

    def clock():
        now[0] += SECONDS
        return now[0]

    workers = Scripted(2, lambda unit, number: Loss.UNIT_TIME if unit.key == "00001" else None)
    outcomes = ends(Dispatch(workers, store, Limits(seconds=1.0), clock).run(units(4)))
    assert [key for key, outcome in outcomes.items() if outcome.receipt is None] == ["00001"]
    assert outcomes["00001"].message.startswith("stopped after 1 s: runtime.unit_seconds")
    assert workers.runs["00001"] == 1


def test_a_kill_that_comes_after_the_end_of_its_unit_is_no_fault_of_the_next_one(store):
    first, second = units(2)
    receipt = Receipt(stage="solve", key=first.key, title="", files={}, seconds=0.0)
    started = Started(key=second.key, node="here", pid=1)
    workers = Scripted(1)
    workers.open["task"] = [
        Report(outcome=Outcome(key=first.key, receipt=receipt), started=started),
        Lost(loss=Loss.WORKER, reason="killed"),
    ]
    dispatch = Dispatch(workers, store, Limits(seconds=1.0))
    dispatch._waiting = Batches([], window=1)
    attempts = deque([Attempt(unit=first), Attempt(unit=second)])
    dispatch._flights["task"] = _Flight(attempts, since=0.0, is_overdue=True)
    [ended, began, lost] = [*dispatch._events_from("task"), *dispatch._events_from("task")]
    assert (ended.unit, began.unit) == (first, second)
    assert isinstance(lost, UnitRetried) and (lost.unit, lost.loss) == (second, Loss.WORKER)


def test_what_fails_while_it_is_stopped_was_not_tried_and_what_had_finished_is_done(store):
    late, finished, fails, waiting = units(4)

    class Late(Scripted):
        def submit(self, attempts):
            [unit] = [attempt.unit for attempt in attempts]
            begins = Report(started=Started(key=unit.key, node="here", pid=1))
            broke = Report(outcome=Outcome(key=unit.key, message="ValueError: no"))
            self.open[unit.key] = {
                late.key: [begins, Lost(loss=Loss.UNIT_TIME, reason="runs still")],
                finished.key: [begins, Lost(loss=Loss.UNIT_TIME, reason="runs still")],
                fails.key: [begins, broke],
            }[unit.key]
            return unit.key

        def stop(self, handle):
            if handle == finished.key:
                commit(finished, store, {}, 1.0)
            # It fails with its last breath, and says so.
            self.open[handle] = [Report(outcome=Outcome(key=handle, message="ValueError: late"))]

    workers, seen = Late(3), []

    def is_enough():
        return any(isinstance(event, UnitEnded) and event.outcome.receipt is None for event in seen)

    for event in Dispatch(workers, store, Limits()).run([late, finished, fails, waiting], is_enough):
        seen.append(event)
    outcomes = ends(seen)
    assert {key: outcome.receipt is not None for key, outcome in outcomes.items()} == {
        finished.key: True,
        fails.key: False,
    }
    assert store.list("failures") == [failure_file("solve", fails.key)]
    assert not workers.open


def test_what_a_process_writes_between_the_word_of_its_death_and_its_death_counts(store):
    [unit] = units(1)
    commit(unit, store, {}, 1.0)
    receipt = store.path(receipt_file(unit.stage, unit.key))
    os.rename(receipt, f"{receipt}-later")
    code = f"import os, time; time.sleep(0.3); os.rename('{receipt}-later', '{receipt}')"

    class Lingering(Scripted):
        def submit(self, attempts):
            self.process = subprocess.Popen([sys.executable, "-c", code])
            # Its parent has to ask about it, or its number stays.
            threading.Thread(target=self.process.wait).start()
            started = Started(key=unit.key, node=socket.gethostname(), pid=self.process.pid)
            self.open[0] = [Report(started=started), Lost(loss=Loss.WORKER, reason="ActorDiedError")]
            return 0

        def stop(self, handle):
            """It is said to be dead at once."""

    seen = []
    for event in Dispatch(Lingering(1), store, Limits()).run([unit], lambda: len(seen) == 1):
        seen.append(event)
    assert ends(seen)[unit.key].receipt is not None


def test_what_cannot_be_stopped_is_waited_for_no_longer_than_its_limit(store):
    class Deaf(Scripted):
        stops = 0

        def stop(self, handle):
            self.stops += 1

    now = [0.0]

    def clock():
        now[0] += SECONDS
        return now[0]

    workers = Deaf(2, lambda unit, number: Loss.UNIT_TIME)
    seen = []
    for event in Dispatch(workers, store, Limits(), clock).run(units(2), lambda: len(seen) == 2):
        seen.append(event)
    assert now[0] < 2 * STOP_SECONDS
    assert not ends(seen) and workers.stops


def test_closing_early_stops_what_is_in_flight(store):
    workers = Scripted(3, lambda unit, number: Loss.UNIT_TIME)
    events = Dispatch(workers, store, Limits()).run(units(5))
    assert isinstance(next(events), UnitStarted)
    events.close()
    assert all(script[0] == Lost(loss=Loss.WORKER, reason="killed") for script in workers.open.values())
