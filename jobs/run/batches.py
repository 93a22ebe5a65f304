"""How many units one task gets: a task should take much longer than its scheduling."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable

from ..stages.unit import Unit

# What a task is filled up to; dispatching one costs Ray a millisecond or two.
TASK_SECONDS = 0.25
# What it may take when units that read the same follow each other, while there are others for all workers.
LONGEST_SECONDS = 0.5
# Units of one task at most, so that a lost worker loses little and bars move.
MOST_UNITS = 64


class Batches:
    """Units waiting for tasks, dealt out in batches of one stage, larger as units turn out to be short.

    A stage's first tasks hold one unit each, until the duration of its units is known. The last units are shared out
    evenly among `window` tasks. Neighbours that share what they read stay together where that makes no task long.
    """

    def __init__(self, units: Iterable[Unit], window: int) -> None:
        self._waiting: dict[str, deque[Unit]] = defaultdict(deque)
        for unit in units:
            self._waiting[unit.stage].append(unit)
        self._alone: deque[Unit] = deque()
        self._window = window
        self._seconds: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._alone) or any(self._waiting.values())

    def take(self) -> list[Unit]:
        """The next batch; at least one unit while any waits."""
        if self._alone:
            return [self._alone.popleft()]
        stage, waiting = next((stage, units) for stage, units in self._waiting.items() if units)
        taken = [waiting.popleft() for _ in range(self._size(stage, len(waiting)))]
        longest = min(MOST_UNITS, int(LONGEST_SECONDS / max(self._seconds.get(stage, LONGEST_SECONDS), 1e-9)))
        while len(taken) < longest and len(waiting) > self._window and _share_reading(taken[-1], waiting[0]):
            taken.append(waiting.popleft())
        return taken

    def learn(self, stage: str, count: int, seconds: float) -> None:
        """Note how long a task of `count` units took; recent tasks count most."""
        latest = seconds / count
        known = self._seconds.get(stage, latest)
        self._seconds[stage] = (known + latest) / 2

    def split(self, units: Iterable[Unit]) -> None:
        """Take back units whose task was lost: each is sent alone next time, so that only the one at fault fails."""
        self._alone.extend(units)

    def _size(self, stage: str, waiting: int) -> int:
        if stage not in self._seconds:
            return 1
        wanted = int(TASK_SECONDS / max(self._seconds[stage], 1e-9))
        fair_share = math.ceil(waiting / self._window)
        return max(1, min(wanted, MOST_UNITS, fair_share))


def _share_reading(unit: Unit, following: Unit) -> bool:
    return unit.shared_reading is not None and unit.shared_reading == following.shared_reading
