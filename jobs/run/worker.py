"""Running the units that were handed over, one after the other, with a report between them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence

from ..encoders import Encoder
from ..stages.execute import execute
from ..store import Store
from .attempts import Attempt, Limits, Report, Started
from .memory_watch import watched


def work(
    store: Store, attempts: Sequence[Attempt], limits: Limits, encoder: Callable[[], Encoder | None] = lambda: None
) -> Iterator[Report]:
    """Run units and commit them; each report says which unit begins and how the one before ended."""
    outcome = None
    for attempt in attempts:
        started = Started(key=attempt.unit.key, node=socket.gethostname(), pid=os.getpid())
        yield Report(outcome=outcome, started=started)
        with watched(attempt, store, limits.memory_bytes):
            outcome = execute(attempt.unit, store, encoder)
    yield Report(outcome=outcome)
