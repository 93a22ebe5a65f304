"""Progress of a run: bars on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from .. import interruption
from ..words import numbered

# Seconds between lines where there is no terminal: a log stays short.
LINE_SECONDS = 5.0


def one_line(text: str) -> str:
    """A text without ends of lines, which a title of the data may hold."""
    return " ".join(text.split())


def of_stage(total: int, cached: int, computed: int) -> str:
    """A stage's units in numbers.

    >>> of_stage(3, 2, 0), of_stage(1, 0, 1)
    ('3 units, 2 cached', '1 unit, 0 cached, 1 computed')
    """
    return f"{numbered(total, 'unit')}, {cached} cached{f', {computed} computed' if computed else ''}"


class Reporter(Protocol):
    """Is notified of what a run does."""

    def start(self, stage: str, total: int, cached: int, computed: int) -> None:
        """A stage begins; of its `total` units `cached` were there, and `computed` came with reading the inputs."""

    def advance(self, stage: str) -> None:
        """One more unit ended."""

    def say(self, message: str) -> None:
        """Something a reader should know."""


class Silent:
    """Says nothing."""

    def start(self, stage: str, total: int, cached: int, computed: int) -> None: ...

    def advance(self, stage: str) -> None: ...

    def say(self, message: str) -> None: ...


class Lines:
    """A line on standard error when a stage begins and ends, and every few seconds between."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}
        self._total: dict[str, int] = {}
        self._last_line = 0.0

    def start(self, stage: str, total: int, cached: int, computed: int) -> None:
        self._done[stage], self._total[stage], self._last_line = cached + computed, total, time.monotonic()
        self.say(f"{stage}: {of_stage(total, cached, computed)}")

    def advance(self, stage: str) -> None:
        self._done[stage] += 1
        now = time.monotonic()
        if self._done[stage] == self._total[stage] or now - self._last_line >= LINE_SECONDS:
            self._last_line = now
            self.say(f"{stage}: {self._done[stage]} of {self._total[stage]}")

    def say(self, message: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {one_line(message)}", file=sys.stderr, flush=True)


class Bars:
    """Bars on a terminal; a context manager, since it owns the screen's last lines."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description:>10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Bars:
        # The cursor is hidden while bars are shown.
        interruption.at_leaving(self._progress.stop)
        self._progress.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()
        interruption.not_at_leaving(self._progress.stop)

    def start(self, stage: str, total: int, cached: int, computed: int) -> None:
        self._tasks[stage] = self._progress.add_task(stage, total=total, completed=cached + computed)

    def advance(self, stage: str) -> None:
        self._progress.advance(self._tasks[stage])

    def say(self, message: str) -> None:
        # Titles are texts of the data, in which brackets mean nothing.
        self._progress.console.print(one_line(message), markup=False, highlight=False)
