"""Windows, retries and limits, on workers that do what the test says; no Ray."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from jobs.run.attempts import ENCODING_MEMORY_RETRIES, RETRIES, Limits, Loss
from jobs.run.dispatch import Dispatch, UnitRetried, UnitStarted
from jobs.stages.execute import commit
from jobs.store import failure_file
from tests.jobs.run.scripted import Scripted, ends, units


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
