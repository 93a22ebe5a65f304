"""Where a run reports to: the screen, its log, its board for `status`, and the metrics."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from .. import interruption
from ..stages.unit import Unit
from ..store import Store
from .board import Board
from .dispatch import Event, UnitEnded, UnitRetried, UnitStarted
from .meters import Meters
from .process import this_process
from .progress import Reporter, of_stage
from .run_log import RunLog


class Journal:
    """Gets each event once and passes it on to all of them."""

    def __init__(self, reporter: Reporter, log: RunLog, board: Board) -> None:
        self._reporter, self._log, self.board = reporter, log, board
        self._running: set[str] = set()
        self._meters: Meters | None = None

    def begin(self, cpus: int, meters: Meters | None) -> None:
        """Units can run: on how many CPUs, and the metrics to keep, if any."""
        self.board.cpus, self._meters = cpus, meters
        self.enter("running", cpus=cpus)

    def say(self, event: str, message: str, level: str = "info", **fields: Any) -> None:
        """Something a reader should know."""
        self._reporter.say(message)
        self._log.write(event, message, level, **fields)

    def enter(self, state: str, message: str = "", level: str = "info", **fields: Any) -> None:
        """The run enters another state; a message, if any, is shown."""
        self.board.state = state
        if message:
            self._reporter.say(message)
        self._log.write(f"run_{state}", message, level, **fields)

    def end(self, state: str, counts: dict[str, int], seconds: float) -> None:
        """The run is over; counts of units computed, cached, failed and skipped."""
        self.board.counts = counts
        fields: dict[str, Any] = counts | {"seconds": round(seconds, 3)}
        self.enter(state, **fields)

    def stage(self, stage: str, total: int, cached: int, computed: int) -> None:
        """A stage begins; of its `total` units `cached` were there, and `computed` came with reading the inputs."""
        self._reporter.start(stage, total, cached, computed)
        self._log.write("stage_started", of_stage(total, cached, computed), stage=stage)

    def computed(self, unit: Unit, seconds: float) -> None:
        """A unit is done."""
        self._log.write("unit_done", unit.title, **_unit_fields(unit), seconds=round(seconds, 6))
        self._count_unit(unit.stage, "done", seconds)

    def note(self, event: Event) -> None:
        """Something happened to a unit."""
        match event:
            case UnitStarted():
                self._running.add(event.unit.key)
                self.board.begin(event)
                self._measure_running()
            case UnitRetried():
                self._end_unit(event.unit)
                message = f"lost ({event.loss}), tried again: {event.unit.stage} {event.unit.title}"
                self.say("unit_retried", message, "warning", **_unit_fields(event.unit), attempt=event.attempt)
                self._count_unit(event.unit.stage, "retried", None)
            case UnitEnded():
                self._end_unit(event.unit)
                if event.outcome.receipt is not None:
                    self.computed(event.unit, event.outcome.receipt.seconds)
                else:
                    message = f"failed: {event.unit.stage} {event.unit.title}: {event.outcome.message}"
                    # The next run clears the folder of failures; its log keeps what went wrong in this one.
                    trace = event.outcome.traceback or None
                    self.say("unit_failed", message, "error", **_unit_fields(event.unit), traceback=trace)
                    self._count_unit(event.unit.stage, "failed", None)
                self._reporter.advance(event.unit.stage)

    def _end_unit(self, unit: Unit) -> None:
        self._running.discard(unit.key)
        self.board.end(unit)
        self._measure_running()

    def _count_unit(self, stage: str, outcome: str, seconds: float | None) -> None:
        if self._meters is not None:
            self._meters.ended(stage, outcome, seconds)

    def _measure_running(self) -> None:
        if self._meters is not None:
            self._meters.in_flight(len(self._running))


def _unit_fields(unit: Unit) -> dict[str, str]:
    return {"stage": unit.stage, "unit": unit.key}


@contextmanager
def opened(reporter: Reporter, store: Store, run_id: str, **fields: Any) -> Iterator[Journal]:
    """The journal of a run; however the run ends, its log and its board record it."""
    unflushed = Store(store.root, is_durable=False)
    with RunLog(store, run_id) as log, Board(unflushed, run_id) as board:
        journal = Journal(reporter, log, board)
        log.write("run_starting", **fields, run_id=run_id, **asdict(this_process()))

        def interrupt() -> None:
            board.state = "interrupted"
            log.write("run_interrupted", "finished units are kept", "warning")

        def leave() -> None:
            interrupt()
            board.close()
            log.upload()

        interruption.at_leaving(leave)
        try:
            yield journal
        except KeyboardInterrupt:
            interrupt()
            raise
        except Exception as error:
            board.state = "failed"
            log.write("run_failed", f"{type(error).__name__}: {error}", "error", traceback=traceback.format_exc())
            raise
        finally:
            interruption.not_at_leaving(leave)
