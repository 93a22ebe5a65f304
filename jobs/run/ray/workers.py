"""Units as Ray tasks and on Ray actors.

Paths to shared storage travel, not data: a task gets units and the store, writes its own files and
reports each unit's end as it happens. Ray detects losses; whether a unit is tried again is decided in one place,
`attempts`, so Ray's own retries are off.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ... import encoders, interruption
from ...errors import UsageError
from ...stages.unit import Unit
from ...store import Store
from ..attempts import Attempt, Limits, Lost, Report, lost
from ..dispatch import LONGEST_WAIT_SECONDS
from ..encoder_actors import EncoderActors
from ..nodes import Nodes, held_bytes
from ..worker import work

# Tasks in flight for each CPU: enough that none waits for the driver, few enough to plan afresh.
TASKS_PER_CPU = 3


@ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")
def _execute(store: Store, attempts: Sequence[Attempt], limits: Limits) -> Iterator[Report]:
    yield from work(store, attempts, limits)
    _keep_loaded(attempts[0].unit.stage)


@cache
def _keep_loaded(stage: str) -> None:
    """What a worker has loaded for a stage stays: collections of garbage pass it over from here on, half of the time
    that they take beside short units."""
    gc.collect()
    gc.freeze()


@ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)
class _EncoderActor:
    """Holds an encoder's weights; the driver replaces an actor that was lost."""

    def __init__(self, settings: dict[str, Any] | None) -> None:
        self._settings = settings
        self._encoder: encoders.Encoder | None = None

    def execute(self, store: Store, attempts: Sequence[Attempt], limits: Limits) -> Iterator[Report]:
        yield from work(store, attempts, limits, self._loaded)

    def load(self) -> None:
        """Load the weights; raises what is wrong with them."""
        self._loaded()

    def _loaded(self) -> encoders.Encoder | None:
        if self._encoder is None and self._settings is not None:
            self._encoder = encoders.load(self._settings)
        return self._encoder


@ray.remote(num_cpus=0, max_retries=0)
def _remove_copies(store: Store) -> None:
    store.remove_node_copies()


def remove_copies(store: Store) -> None:
    """Remove the copies of a store's files on every node, once none of its units runs."""
    strategies = (
        NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        for node in ray.nodes()  # type: ignore[no-untyped-call]  # Ray leaves it untyped
        if node["Alive"]
    )
    removed = [_remove_copies.options(scheduling_strategy=strategy).remote(store) for strategy in strategies]
    ray.wait(removed, num_returns=len(removed))


class _Streams:
    """Reading the reports of tasks and actors, which come as a stream; an error of Ray's is a loss."""

    def wait(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        if not ray.wait(list(handles), num_returns=1, timeout=timeout)[0]:
            return []
        return ray.wait(list(handles), num_returns=len(handles), timeout=0)[0]

    def read(self, handle: Any) -> Report | Lost | None:
        try:
            report: Report = ray.get(next(handle))
            return report
        except StopIteration:
            return None
        except ray.exceptions.RayError as error:
            return lost(error)


class Tasks(_Streams):
    """Units as tasks."""

    def __init__(self, store: Store, limits: Limits, nodes: Nodes) -> None:
        self._store, self._limits, self._nodes = store, limits, nodes

    @property
    def window(self) -> int:
        return TASKS_PER_CPU * self._nodes.cpus

    def submit(self, attempts: Sequence[Attempt]) -> Any:
        halvings = max(attempt.halvings for attempt in attempts)
        held = held_bytes(attempt.unit for attempt in attempts)
        memory_bytes = self._nodes.request_bytes(self._limits, halvings, held)
        return _execute.options(memory=memory_bytes).remote(self._store, attempts, self._limits)

    def stop(self, handle: Any) -> None:
        ray.cancel(handle, force=True)

    def release(self, handle: Any) -> None:
        """A task's worker is Ray's to keep."""


class Actors(_Streams):
    """Units on actors that hold an encoder; a lost actor makes room for a new one.

    An actor whose unit ran out of memory is followed by one with half the batch.
    """

    def __init__(
        self, store: Store, limits: Limits, nodes: Nodes, shape: EncoderActors, settings: Mapping[str, Any] | None
    ) -> None:
        self._store, self._limits, self._nodes, self._shape = store, limits, nodes, shape
        self._settings = None if settings is None else shape.loading(settings)
        self._held_bytes = 0.0
        self._free: list[tuple[Any, int]] = []
        self._busy: dict[Any, tuple[Any, int]] = {}

    @property
    def window(self) -> int:
        return self._shape.count

    def prepare(self, units: Sequence[Unit]) -> None:
        """Load the weights in all actors that the units need, and wait for the first one.

        Raises:  UsageError for weights that cannot be used: that is the configuration's fault, not a unit's.
        """
        self._held_bytes = held_bytes(units)
        self._free = [(self._start(0), 0) for _ in range(min(self.window, len(units)))]
        first, _ = self._free[0]
        try:
            self._await(first.load.remote())
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, UsageError):
                raise UsageError(str(cause)) from None
            # What else went wrong is found, and counted, by the units that need the actor.
            ray.kill(self._free.pop(0)[0])

    def _await(self, loaded: Any) -> None:
        """Wait for the end of loading, at most as long as a unit may take."""
        until = None if self._limits.seconds is None else time.monotonic() + self._limits.seconds
        while until is None or time.monotonic() < until:
            interruption.check()
            if ray.wait([loaded], timeout=LONGEST_WAIT_SECONDS)[0]:
                ray.get(loaded)
                return
        raise ray.exceptions.GetTimeoutError

    def wait(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        # Nothing waits for these. One that is still to be placed, perhaps after its machine was lost, does.
        for actor, _ in self._free:
            ray.kill(actor)
        self._free.clear()
        return super().wait(handles, timeout)

    def submit(self, attempts: Sequence[Attempt]) -> Any:
        halvings = max(attempt.halvings for attempt in attempts)
        actor, halved = self._free.pop() if self._free else (None, 0)
        if actor is not None and halved < halvings:
            ray.kill(actor)
            actor = None
        if actor is None:
            actor, halved = self._start(halvings), halvings
        stream = actor.execute.options(num_returns="streaming").remote(self._store, attempts, self._limits)
        self._busy[stream] = actor, halved
        return stream

    def _start(self, halvings: int) -> Any:
        settings = self._settings
        if settings is not None and "batch" in settings:
            settings = settings | {"batch": max(1, settings["batch"] >> halvings)}
        memory_bytes = self._nodes.request_bytes(self._limits, halvings, self._held_bytes)
        asks = {"num_cpus": self._shape.cpus, "num_gpus": self._shape.gpus, "memory": memory_bytes}
        return _EncoderActor.options(**asks).remote(settings)  # type: ignore[attr-defined]  # Ray's decorator adds it

    def read(self, handle: Any) -> Report | Lost | None:
        said = super().read(handle)
        if isinstance(said, Lost):
            # It may live on, unreachable: whatever it still writes is whole, but it holds a place.
            ray.kill(self._busy.pop(handle)[0])
        return said

    def stop(self, handle: Any) -> None:
        ray.kill(self._busy[handle][0])

    def release(self, handle: Any) -> None:
        if handle in self._busy:
            self._free.append(self._busy.pop(handle))

    def close(self) -> None:
        for actor, _ in [*self._free, *self._busy.values()]:
            ray.kill(actor)
