"""How an attempt at a unit can end, and whether the unit is tried again: pure rules, no Ray.

A unit that raises has failed and is not tried again in this run. A unit that was lost (its process, node or memory
went away) is tried again a bounded number of times, so that a unit that always kills its worker ends as a failed unit.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from enum import StrEnum

from ..stages.execute import Outcome
from ..stages.unit import EncodingUnit, Unit
from ..words import first_line

NO_REASON = "no reason was given"


class Loss(StrEnum):
    """Why an attempt gave no outcome."""

    WORKER = "worker"  # its process died: a crash in native code, or somebody killed it
    NODE = "node"  # the machine went away
    NODE_MEMORY = "node memory"  # killed because its node ran out of memory
    UNIT_MEMORY = "unit memory"  # grew beyond the memory that a unit may take
    UNIT_TIME = "unit time"  # ran longer than a unit may
    UNSTARTED = "unstarted"  # what should have run it was gone before it began
    ERROR = "error"  # it could not be handed over or back


# Retries after each kind of loss. Machines go away more often than code crashes, and a process that crashes at once
# may die before it can report that the unit started.
RETRIES = {
    Loss.WORKER: 3,
    Loss.NODE: 10,
    Loss.NODE_MEMORY: 5,
    Loss.UNIT_MEMORY: 0,
    Loss.UNIT_TIME: 0,
    Loss.UNSTARTED: 10,
    Loss.ERROR: 0,
}
# An encoder's memory follows its batch, which is halved each time.
ENCODING_MEMORY_RETRIES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Back-stops of one unit: seconds of wall time, bytes of a worker's own memory; None for none."""

    seconds: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A unit about to run, and what happened to it before in this run.

    ticket names the attempt in what its process leaves behind.
    """

    unit: Unit
    losses: tuple[Loss, ...] = ()
    ticket: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def number(self) -> int:
        """1 for the first time that the unit really ran."""
        return 1 + sum(loss is not Loss.UNSTARTED for loss in self.losses)

    @property
    def halvings(self) -> int:
        """How often memory ran out: each time halves the batch and doubles the memory request."""
        return sum(loss in (Loss.NODE_MEMORY, Loss.UNIT_MEMORY) for loss in self.losses)

    def after(self, loss: Loss) -> Attempt | None:
        """The next attempt; None when there is to be none."""
        bound = RETRIES[loss]
        if isinstance(self.unit, EncodingUnit) and loss in (Loss.NODE_MEMORY, Loss.UNIT_MEMORY):
            bound = ENCODING_MEMORY_RETRIES
        if self.losses.count(loss) >= bound:
            return None
        return Attempt(unit=self.unit, losses=(*self.losses, loss))


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """A unit began, in which process of which machine."""

    key: str
    node: str
    pid: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """A worker's message between units: how the last one ended, which one begins."""

    outcome: Outcome | None = None
    started: Started | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """A worker was lost; reason is Ray's own text."""

    loss: Loss
    reason: str


# Names of Ray's errors, so that these rules need no Ray.
_LOSSES = {
    "OutOfMemoryError": Loss.NODE_MEMORY,
    "NodeDiedError": Loss.NODE,
    "ActorUnavailableError": Loss.NODE,
    "RpcError": Loss.NODE,
    "ObjectLostError": Loss.NODE,
    "OwnerDiedError": Loss.NODE,
    "WorkerCrashedError": Loss.WORKER,
    "ActorDiedError": Loss.WORKER,
    "RayActorError": Loss.WORKER,
    "TaskCancelledError": Loss.WORKER,
}
# Causes of an actor's death that Ray gives only in the text of the error.
_WORDS = {"running low on memory": Loss.NODE_MEMORY, "its node has died": Loss.NODE}


def lost(error: Exception) -> Lost:
    """The loss that an error of Ray's means."""
    name, text = type(error).__name__, str(error)
    by_words = [loss for words, loss in _WORDS.items() if words in text]
    loss = by_words[0] if by_words else _LOSSES.get(name, Loss.ERROR)
    return Lost(loss=loss, reason=f"{name}: {text}")


def explanation(attempt: Attempt, loss: Loss, limits: Limits, reason: str) -> str:
    """One sentence on why a unit is not tried again."""
    times = attempt.losses.count(loss) + 1
    tries = f"{times} time{'s' * (times > 1)}"
    match loss:
        case Loss.UNIT_TIME:
            return f"stopped after {limits.seconds:g} s: runtime.unit_seconds is the longest that a unit may take"
        case Loss.UNIT_MEMORY:
            size = f"{(limits.memory_bytes or 0) / 1e6:,.0f} MB"
            return f"stopped above {size} of memory, {tries}: runtime.unit_megabytes is the most that a unit may take"
        case Loss.NODE_MEMORY:
            return f"killed {tries} because its machine ran out of memory, at last with little or nothing beside it"
        case Loss.WORKER:
            return f"its process died {tries}: a crash in native code, or something kills it (see the worker's log)"
        case Loss.NODE:
            return f"its machine went away {tries}"
        case Loss.UNSTARTED:
            return f"could not be started, {tries}: {first_line(reason) or NO_REASON}"
    return first_line(reason) or NO_REASON
