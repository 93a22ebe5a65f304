"""Workers that do what a test says; no Ray."""

from __future__ import annotations

from collections import Counter

from jobs.run.attempts import Loss, Lost, Report, Started
from jobs.run.dispatch import UnitEnded
from jobs.stages.execute import Outcome
from jobs.stages.unit import Unit
from jobs.store import Receipt
from tests.jobs.fake_units import fake_unit


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
