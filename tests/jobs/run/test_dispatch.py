"""Windows, retries and limits, on workers that do what the test says; no Ray."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import threading
from collections import Counter, deque

import pytest

from jobs.run.attempts import ENCODING_MEMORY_RETRIES, RETRIES, Attempt, Limits, Loss, Lost, Report, Started
from jobs.run.batches import Batches
from jobs.run.dispatch import STOP_SECONDS, Dispatch, UnitEnded, UnitRetried, UnitStarted, _Flight
from jobs.stages.execute import Outcome, commit
from jobs.stages.unit import Unit
from jobs.store import Receipt, Store, failure_file, receipt_file
from tests.jobs.fake_units import fake_unit

SECONDS = 0.05


class Scripted:
    """Runs units at once; `fate(unit, attempt number)` gives a Loss, or None for success.

    What hangs says nothing until it is stopped.
    """

    def __init__(self, window: int, fate=lambda unit, number: None, before=False) -> None:
        self.window, self.fate, self.before = window, fate, before
        self.open: dict[int, list] = {}
        self.most_open = 0
        self.runs: Counter[str] = Counter()
        self.alone: set[str] = set()

    def submit(self, attempts):
        handle, script = sum(self.runs.values()) * 1000 + len(self.open), []
        while handle in self.open:
            handle += 1
        outcome = None
        for attempt in attempts:
            unit = attempt.unit
            self.runs[unit.key] += 1
            if len(attempts) == 1:
                self.alone.add(unit.key)
            fate = self.fate(unit, attempt.number)
            if fate is not Loss.UNSTARTED:
                script.append(Report(outcome=outcome, started=Started(key=unit.key, node="here", pid=1)))
            elif outcome:
                script.append(Report(outcome=outcome))
            if fate is not None:
                script.append(Lost(loss=fate, reason="WorkerCrashedError: gone\nand more"))
                break
            receipt = Receipt(stage=unit.stage, key=unit.key, title="", files={}, seconds=0.0)
            outcome = Outcome(key=unit.key, receipt=receipt)
        else:
            script.append(Report(outcome=outcome))
        self.open[handle] = script
        self.most_open = max(self.most_open, len(self.open))
        return handle

    def wait(self, handles, timeout):
        return [handle for handle in handles if not self._hangs(handle)]

    def _hangs(self, handle):
        first = self.open[handle][0]
        return isinstance(first, Lost) and first.loss is Loss.UNIT_TIME

    def read(self, handle):
        return self.open[handle].pop(0)

    def stop(self, handle):
        self.open[handle][0] = Lost(loss=Loss.WORKER, reason="killed")

    def release(self, handle):
        del self.open[handle]


def units(count: int, stage: str = "solve") -> list[Unit]:
    return [fake_unit(f"{number:05d}", f"unit {number}", stage) for number in range(count)]


def ends(events) -> dict[str, Outcome]:
    ended = [event for event in events if isinstance(event, UnitEnded)]
    assert len({event.unit.key for event in ended}) == len(ended)
    return {event.unit.key: event.outcome for event in ended}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(str(tmp_path))


def test_every_unit_ends_once_and_never_more_are_in_flight_than_the_window(store):
    workers = Scripted(window=6)
    assert len(ends(Dispatch(workers, store, Limits()).run(units(20_000)))) == 20_000
    assert workers.most_open == 6
    assert set(workers.runs.values()) == {1}
    assert not workers.open


@pytest.mark.parametrize("loss", [Loss.WORKER, Loss.NODE, Loss.NODE_MEMORY, Loss.UNIT_MEMORY, Loss.ERROR])
def test_what_is_lost_every_time_fails_after_its_bound_and_is_kept(store, loss):
    workers = Scripted(2, lambda unit, number: loss if unit.key == "00003" else None)
    dispatch = Dispatch(workers, store, Limits(memory_bytes=10**9), pause_seconds=0.0)
    events = list(dispatch.run(units(8)))
    outcomes = ends(events)
    assert [key for key, outcome in outcomes.items() if outcome.receipt is None] == ["00003"]
    assert workers.runs["00003"] == RETRIES[loss] + 1
    assert sum(isinstance(event, UnitRetried) for event in events) == RETRIES[loss]
    kept = store.read_json(failure_file("solve", "00003"))
    assert kept["message"] == outcomes["00003"].message
    assert "\n" not in kept["message"]
    assert kept["traceback"].startswith("WorkerCrashedError")


def test_what_is_lost_once_is_done_and_its_fellows_go_back_without_blame(store):
    workers = Scripted(1, lambda unit, number: Loss.WORKER if unit.key == "00005" and number == 1 else None)
    events = list(Dispatch(workers, store, Limits()).run(units(12)))
    assert all(outcome.receipt for outcome in ends(events).values())
    assert [(event.unit.key, event.attempt) for event in events if isinstance(event, UnitRetried)] == [("00005", 2)]
    started = [event.unit.key for event in events if isinstance(event, UnitStarted)]
    assert Counter(started) == {unit.key: 1 + (unit.key == "00005") for unit in units(12)}
    assert "00005" in workers.alone


def test_a_unit_whose_worker_died_after_its_receipt_is_done_and_not_tried_again(store):
    [unit] = units(1)
    commit(unit, store, {}, 1.0)
    workers = Scripted(1, lambda unit, number: Loss.WORKER)
    assert ends(Dispatch(workers, store, Limits()).run([unit]))[unit.key].receipt is not None
    assert workers.runs[unit.key] == 1


def test_what_could_not_start_is_no_failure_of_the_unit(store):
    tries = Counter()

    def fate(unit, number):
        assert number == 1
        tries[unit.key] += 1
        return Loss.UNSTARTED if tries[unit.key] <= 5 else None

    assert ends(Dispatch(Scripted(1, fate), store, Limits()).run(units(1)))["00000"].receipt
    never = ends(Dispatch(Scripted(1, lambda *_: Loss.UNSTARTED), store, Limits()).run(units(1)))
    assert "could not be started" in never["00000"].message


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
    [ended, began, lost] = [*dispatch._read("task"), *dispatch._read("task")]
    assert (ended.unit, began.unit) == (first, second)
    assert isinstance(lost, UnitRetried) and (lost.unit, lost.loss) == (second, Loss.WORKER)


def test_an_encoder_that_runs_out_of_memory_gets_half_the_batch_until_it_is_given_up(store):
    seen = []

    class Watching(Scripted):
        def submit(self, attempts):
            seen.append(attempts[0].halvings)
            return super().submit(attempts)

    workers = Watching(1, lambda unit, number: Loss.UNIT_MEMORY)
    outcome = ends(Dispatch(workers, store, Limits(memory_bytes=10**6)).run(units(1, "embed")))["00000"]
    assert seen == list(range(ENCODING_MEMORY_RETRIES + 1))
    assert "runtime.unit_megabytes" in outcome.message


def test_a_unit_rests_longer_every_time_its_machine_runs_out_of_memory_even_before_it_began(store):
    now, handed = [0.0], []

    class Timed(Scripted):
        def submit(self, attempts):
            handed.append(now[0])
            return super().submit(attempts)

        def read(self, handle):
            self.open[handle] = self.open[handle][-1:]  # not a word but the end
            return super().read(handle)

        def wait(self, handles, timeout):
            return list(handles)

    def clock():
        now[0] += 0.5
        return now[0]

    def sleep(seconds):
        now[0] += seconds

    workers = Timed(1, lambda unit, number: Loss.NODE_MEMORY)
    outcome = ends(Dispatch(workers, store, Limits(), clock, sleep, pause_seconds=100.0).run(units(1)))["00000"]
    assert outcome.message.startswith(f"killed {RETRIES[Loss.NODE_MEMORY] + 1} times because its machine ran out")
    rests = [later - earlier for earlier, later in itertools.pairwise(handed)]
    assert all(rest >= 100 * 2**number for number, rest in enumerate(rests))


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
