"""The stages as Ray tasks and actors. The only module that imports ray.

Paths to shared storage travel, not data: a task gets units and the store, writes its own files and
says how each unit ended as it ends. Ray finds out what was lost; whether it is tried
again is decided in one place, `attempts`, so that Ray's own retries are off.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
# Ray prints paragraphs on standard output for each loss, between what a run prints; the run's own log has them.
LOSSES = r"A worker died or was killed|has been marked dead|killed due to memory|running low on memory"
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", LOSSES)

import ray  # noqa: E402 - its settings are read at import
from ray.util.metrics import Counter, Gauge, Histogram  # noqa: E402

from jobs import encoders  # noqa: E402
from jobs.config.audit import Runtime  # noqa: E402
from jobs.errors import UsageError  # noqa: E402
from jobs.planning.units import Unit  # noqa: E402
from jobs.running.attempts import Attempt, Limits, Lost, Report, lost  # noqa: E402
from jobs.running.dispatch import Dispatch, Event, never  # noqa: E402
from jobs.running.encoder_actors import EncoderActors, encoder_actors  # noqa: E402
from jobs.running.growth import await_gpus  # noqa: E402
from jobs.running.meters import Meters  # noqa: E402
from jobs.running.nodes import Nodes  # noqa: E402
from jobs.running.worker import work  # noqa: E402
from jobs.store import Store  # noqa: E402

# Tasks in flight for each CPU: enough that none waits for the driver, few enough to plan afresh.
TASKS_PER_CPU = 3
# How long an interrupted run waits for Ray to stop.
LONGEST_STOP_SECONDS = 5.0
# Receipts travel through the object store, data does not.
OBJECT_STORE_BYTES = 200 * 1024 * 1024


@ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")
def _execute(store: Store, attempts: Sequence[Attempt], limits: Limits) -> Iterator[Report]:
    yield from work(store, attempts, limits)


@ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)
class _EncoderActor:
    """Holds an encoder's weights; the driver replaces an actor that was lost."""

    def __init__(self, settings: dict[str, Any] | None) -> None:
        self._settings = settings
        self._encoder: encoders.Encoder | None = None

    def execute(self, store: Store, attempts: Sequence[Attempt], limits: Limits) -> Iterator[Report]:
        yield from work(store, attempts, limits, self._loaded)

    def load(self) -> None:
        """Load the weights, or say what is wrong with them."""
        self._loaded()

    def _loaded(self) -> encoders.Encoder | None:
        if self._encoder is None and self._settings is not None:
            self._encoder = encoders.load(self._settings)
        return self._encoder


class _Streams:
    """Reading what tasks and actors say: reports come as a stream, an error of Ray's says what was lost."""

    def wait(self, handles: Sequence[Any], timeout: float) -> list[Any]:
        if not ray.wait(list(handles), num_returns=1, timeout=timeout)[0]:
            return []
        return ray.wait(list(handles), num_returns=len(handles), timeout=0)[0]

    def read(self, handle: Any) -> Report | Lost | None:
        try:
            return ray.get(next(handle))
        except StopIteration:
            return None
        except ray.exceptions.RayError as error:
            return lost(error)


class _Tasks(_Streams):
    """Units as tasks."""

    def __init__(self, store: Store, limits: Limits, nodes: Nodes) -> None:
        self._store, self._limits, self._nodes = store, limits, nodes

    @property
    def window(self) -> int:
        return TASKS_PER_CPU * self._nodes.cpus

    def submit(self, attempts: Sequence[Attempt]) -> Any:
        memory_bytes = self._nodes.request_bytes(self._limits, max(attempt.halvings for attempt in attempts))
        return _execute.options(memory=memory_bytes).remote(self._store, attempts, self._limits)

    def stop(self, handle: Any) -> None:
        ray.cancel(handle, force=True)

    def release(self, handle: Any) -> None:
        """A task's worker is Ray's to keep."""


class _Actors(_Streams):
    """Units on actors that hold an encoder; a lost actor makes room for a new one.

    An actor whose unit ran out of memory is followed by one with half the batch.
    """

    def __init__(
        self, store: Store, limits: Limits, nodes: Nodes, shape: EncoderActors, settings: Mapping[str, Any] | None
    ) -> None:
        self._store, self._limits, self._nodes, self._shape = store, limits, nodes, shape
        self._settings = None if settings is None else shape.loading(settings)
        self._free: list[tuple[Any, int]] = []
        self._busy: dict[Any, tuple[Any, int]] = {}

    @property
    def window(self) -> int:
        return self._shape.count

    def prepare(self, units: int) -> None:
        """Load the weights in all actors that so many units need, and hear what the first one says of them.

        Raises:  UsageError for weights that cannot be used: that is the configuration's fault, not a unit's.
        """
        self._free = [(self._start(0), 0) for _ in range(min(self.window, units))]
        first, _ = self._free[0]
        try:
            ray.get(first.load.remote(), timeout=self._limits.seconds)
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, UsageError):
                raise UsageError(str(cause)) from None
            # What else went wrong is found, and counted, by the units that need the actor.
            ray.kill(self._free.pop(0)[0])

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
        memory_bytes = self._nodes.request_bytes(self._limits, halvings)
        asks = {"num_cpus": self._shape.cpus, "num_gpus": self._shape.gpus, "memory": memory_bytes}
        return _EncoderActor.options(**asks).remote(settings)

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


class Cluster:
    """A connection to Ray: a running cluster where one is named, else a local one of its own.

    Use as a context manager; only what it started is stopped.
    """

    def __init__(self, settings: Runtime) -> None:
        self._settings = settings
        megabytes = settings.unit_megabytes
        self._limits = Limits(
            seconds=settings.unit_seconds, memory_bytes=None if megabytes is None else int(megabytes * 1e6)
        )

    def __enter__(self) -> Cluster:
        self._owns = not ray.is_initialized()
        if self._owns:
            on_terminate = signal.getsignal(signal.SIGTERM)
            address = self._settings.address or os.environ.get("RAY_ADDRESS")
            quiet = {"logging_level": logging.CRITICAL, "log_to_driver": False}
            if address:
                ray.init(address=address, **quiet)
            else:
                ray.init(
                    address="local",
                    num_cpus=self._settings.workers,
                    object_store_memory=OBJECT_STORE_BYTES,
                    include_dashboard=False,
                    **quiet,
                )
            # Ray puts a handler of its own in place, which ends the process with a stack trace.
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, on_terminate)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self._owns:
            return
        # A signal to the whole process group has killed Ray's own processes too; waiting for them
        # would never end.
        stopping = threading.Thread(target=ray.shutdown, daemon=True)
        stopping.start()
        stopping.join(timeout=None if kind is None else LONGEST_STOP_SECONDS)

    @property
    def cpus(self) -> int:
        """CPUs that Ray may use."""
        return Nodes(ray.nodes).cpus

    def meters(self, audit: str) -> Meters:
        """Metrics of an audit, shown by the endpoint of every Ray node."""
        return Meters(audit, Counter, Gauge, Histogram)

    def encoder_actors(self, settings: Mapping[str, Any] | None) -> EncoderActors:
        """The actors that this cluster has room for, given an encoder's settings."""
        return encoder_actors(self._settings, None if settings is None else settings["kind"], Nodes(ray.nodes).offers)

    def run_tasks(
        self, units: Sequence[Unit], store: Store, is_enough: Callable[[], bool] = never
    ) -> Iterator[Event]:
        """What happens to units, as it happens, a bounded number in flight; until it is enough."""
        if units and not is_enough():
            tasks = _Tasks(store, self._limits, Nodes(ray.nodes))
            yield from Dispatch(tasks, store, self._limits).run(units, is_enough)

    def await_gpus(self, kind: str | None) -> None:
        """Have the GPUs that an encoder of a kind wants, where the settings say to wait for them."""
        from ray.autoscaler.sdk import request_resources

        nodes = Nodes(ray.nodes)
        await_gpus(self._settings, kind, lambda: nodes.offers, lambda bundles: request_resources(bundles=bundles))

    def run_on_encoders(
        self,
        units: Sequence[Unit],
        store: Store,
        settings: Mapping[str, Any] | None,
        is_enough: Callable[[], bool] = never,
    ) -> Iterator[Event]:
        """The same for units that need an encoder, weights loaded once in each actor.

        Raises:  UsageError when the encoder cannot be loaded for what its settings say.
        """
        if not units or is_enough():
            return
        self.await_gpus(None if settings is None else settings["kind"])
        actors = _Actors(store, self._limits, Nodes(ray.nodes), self.encoder_actors(settings), settings)
        try:
            if settings is not None:
                actors.prepare(len(units))
            yield from Dispatch(actors, store, self._limits).run(units, is_enough)
        finally:
            actors.close()


def look_around(settings: Runtime) -> dict[str, Any]:
    """What Ray has where an audit with these settings would run: nodes and resources; a local Ray is started for it."""
    with Cluster(settings):
        alive = [node for node in ray.nodes() if node["Alive"]]
        return {"version": ray.__version__, "nodes": len(alive), "resources": ray.cluster_resources()}


def dashboard_version(address: str) -> str:
    """Ray's version on the cluster whose dashboard has that http address; raises as `job_client` does."""
    return job_client(address)._server_ray_version


def job_client(address: str) -> Any:
    """Ray's client of the Jobs API of a cluster, by its dashboard's http address.

    Raises:  UsageError where nothing answers, or not with this token.
    """
    from ray.job_submission import JobSubmissionClient

    for chatty in ("ray.dashboard.modules.job.sdk", "ray.dashboard.modules.dashboard_sdk", "ray._private.runtime_env"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # Ray lets these win over an address that it is given.
    for variable in ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS"):
        os.environ.pop(variable, None)
    try:
        return JobSubmissionClient(address)
    except ray.exceptions.AuthenticationError:
        raise UsageError(
            f"address {address}: the cluster refuses this machine's token: put its token into a file that only you "
            "can read and set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH=FILE"
        ) from None
    except (OSError, RuntimeError) as error:  # the connection's errors are both kinds
        first_line = str(error).strip().splitlines()[0]
        raise UsageError(f"address {address}: no Ray dashboard answers, is its tunnel open? {first_line}") from None
