"""The stages as Ray tasks and actors. The only module that imports ray.

Paths to shared storage travel, not data: a task gets a few units and the store, writes its own
files and returns receipts. Exceptions of a unit are outcomes; Ray retries lost workers only, and a
retried task does not compute again what it has committed.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray  # noqa: E402 - its settings are read at import

from jobs import encoders  # noqa: E402
from jobs.batches import Batches  # noqa: E402
from jobs.config import Runtime  # noqa: E402
from jobs.encoder_actors import EncoderActors, encoder_actors  # noqa: E402
from jobs.errors import UsageError  # noqa: E402
from jobs.stages import Outcome, execute  # noqa: E402
from jobs.store import Store  # noqa: E402
from jobs.units import Unit  # noqa: E402

# Tasks in flight for each CPU: enough that none waits for the driver, few enough to plan afresh.
TASKS_PER_CPU = 3
# How long an interrupted run waits for Ray to stop.
LONGEST_STOP_SECONDS = 5.0
# Receipts travel through the object store, data does not.
OBJECT_STORE_BYTES = 200 * 1024 * 1024


@ray.remote(num_cpus=1, max_retries=4)
def _execute(store: Store, units: Sequence[Unit]) -> tuple[list[Outcome], float]:
    """Outcomes of the units, and seconds that all took."""
    started = time.perf_counter()
    return [execute(unit, store) for unit in units], time.perf_counter() - started


@ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)
class _EncoderActor:
    """Holds an encoder's weights; units are idempotent, so a restarted actor does them again."""

    def __init__(self, settings: dict[str, Any] | None) -> None:
        self._settings = settings
        self._encoder: encoders.Encoder | None = None

    def execute(self, store: Store, units: Sequence[Unit]) -> tuple[list[Outcome], float]:
        started = time.perf_counter()
        return [execute(unit, store, self._loaded) for unit in units], time.perf_counter() - started

    def load(self) -> None:
        """Load the weights, or say what is wrong with them."""
        self._loaded()

    def _loaded(self) -> encoders.Encoder | None:
        if self._encoder is None and self._settings is not None:
            self._encoder = encoders.load(self._settings)
        return self._encoder


class Cluster:
    """A connection to Ray: a running cluster where one is named, else a local one of its own.

    Use as a context manager; only what it started is stopped.
    """

    def __init__(self, settings: Runtime) -> None:
        self._settings = settings

    def __enter__(self) -> Cluster:
        self._owns = not ray.is_initialized()
        if self._owns:
            on_terminate = signal.getsignal(signal.SIGTERM)
            address = self._settings.address or os.environ.get("RAY_ADDRESS")
            quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
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
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def encoder_actors(self, settings: Mapping[str, Any] | None) -> EncoderActors:
        """The actors that this cluster has room for, given an encoder's settings."""
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        offers = [(node.get("CPU", 0.0), node.get("GPU", 0.0)) for node in nodes]
        return encoder_actors(self._settings, None if settings is None else settings["kind"], offers)

    def run_tasks(self, units: Sequence[Unit], store: Store) -> Iterator[tuple[Unit, Outcome]]:
        """Outcomes of units as they end, a bounded number of tasks in flight."""
        yield from self._windowed(units, lambda batch, _: _execute.remote(store, batch), TASKS_PER_CPU * self.cpus)

    def run_on_encoders(
        self, units: Sequence[Unit], store: Store, settings: dict[str, Any] | None
    ) -> Iterator[tuple[Unit, Outcome]]:
        """Outcomes of units that need an encoder, weights loaded once in each actor.

        Raises:  UsageError when the encoder cannot be loaded for what its settings say.
        """
        if not units:
            return
        shape = self.encoder_actors(settings)
        start = _EncoderActor.options(num_cpus=shape.cpus, num_gpus=shape.gpus)
        loading = None if settings is None else shape.loading(settings)
        actors = [start.remote(loading) for _ in range(min(shape.count, len(units)))]
        try:
            # Weights that cannot be used are the configuration's fault, not that of a unit.
            _raise_usage_error(actors[0].load.remote())
            yield from self._windowed(units, lambda batch, slot: actors[slot].execute.remote(store, batch), len(actors))
        finally:
            for actor in actors:
                ray.kill(actor)

    @staticmethod
    def _windowed(
        units: Sequence[Unit], submit: Callable[[list[Unit], int], ray.ObjectRef], window: int
    ) -> Iterator[tuple[Unit, Outcome]]:
        batches = Batches(units, window)
        running: dict[ray.ObjectRef, tuple[list[Unit], int]] = {}
        free = list(range(window))
        while batches or running:
            while batches and free:
                batch, slot = batches.take(), free.pop()
                running[submit(batch, slot)] = (batch, slot)
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                batch, slot = running.pop(reference)
                free.append(slot)
                yield from zip(batch, _outcomes(batches, batch, reference))


def _raise_usage_error(reference: ray.ObjectRef) -> None:
    """What loading an encoder says of its settings; anything else is left to the units that need it."""
    try:
        ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, UsageError):
            raise UsageError(str(error.cause)) from None
    except ray.exceptions.RayError:
        return


def _outcomes(batches: Batches, batch: list[Unit], reference: ray.ObjectRef) -> list[Outcome]:
    """One outcome a unit; none yet for units that go back because one of them took all down."""
    try:
        outcomes, seconds = ray.get(reference)
        batches.learn(batch[0].stage, len(batch), seconds)
        return outcomes
    except ray.exceptions.RayError as error:
        if len(batch) > 1:
            batches.split(batch)
            return []
        # Retries are spent: the worker died every time, by memory or by a crash in native code.
        first_line = str(error).strip().splitlines()[0]
        message = f"{type(error).__name__}: {first_line}"
        return [Outcome(key=batch[0].key, message=message, traceback=str(error))]


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
