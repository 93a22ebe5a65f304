"""Running the units that were handed over, one after the other, with a report between them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence

from ..encoders import Encoder
from ..stages.execute import execute
from ..stages.unit import EncodingUnit, Unit
from ..store import Store
from .attempts import Attempt, Limits, Report, Started
from .memory_watch import watched


def may_do_without_encoder(units: Sequence[Unit]) -> bool:
    """Whether a cache may have all that the units embed: the first one that lacks something loads the encoder."""
    return all(isinstance(unit, EncodingUnit) and unit.cache is not None for unit in units)


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
