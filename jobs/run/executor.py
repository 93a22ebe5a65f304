"""The interface of executors, which run a plan's units, and the choice of one by the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol

from ..config.runtime import Runtime
from ..stages.unit import Unit
from ..store import Store
from .dispatch import Events, never
from .meters import Meters


class Executor(Protocol):
    """Executes units while it is entered, and frees on leaving what it took on entering.

    Whatever it runs on, it keeps these promises:
    - Every unit that is tried ends in one `UnitEnded`, after a `UnitStarted` if it began. By then its receipt or its
      failure is in the store. An exception in a unit is that unit's failure and ends neither the pass nor the run.
    - A bounded number of units is in flight, and only paths travel to them: a unit reads and writes the store itself.
    - It enforces `unit_seconds` and `unit_megabytes`; the configuration refuses limits that an executor cannot enforce.
    - Once `is_enough()` holds, or the iterator is closed, no unit writes any more; what had finished counts as done.
    - It calls `interruption.check` at least between units, so that a signal ends a pass with KeyboardInterrupt.
    - The same units give the same tables, bit for bit, on every executor.
    """

    @property
    def starting(self) -> str:
        """What to say before entering, which may take seconds; empty if it takes none."""

    def __enter__(self) -> Executor: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @property
    def cpus(self) -> int:
        """CPUs on which units run now, at least 1."""

    def meters(self, audit: str) -> Meters | None:
        """Metrics of an audit; None where nobody could read them."""

    def encoder_note(self, encoder: Mapping[str, Any] | None) -> str:
        """Why an encoder with these settings runs on CPUs though it belongs on a GPU; empty if there is nothing to say.

        encoder: as `run_on_encoders` gets it.
        """

    def run_tasks(self, units: Sequence[Unit], store: Store, is_enough: Callable[[], bool] = never) -> Events:
        """Run units that need no encoder and nothing of each other; events as they happen."""

    def run_on_encoders(
        self,
        units: Sequence[Unit],
        store: Store,
        encoder: Mapping[str, Any] | None,
        is_enough: Callable[[], bool] = never,
    ) -> Events:
        """The same for units that need an encoder, whose weights are loaded once per place where units run.

        encoder: settings that `jobs.encoders.load` takes; None for units that find their vectors given.
        Raises:  UsageError when the encoder cannot be loaded because of its settings.
        """


# Each executor is imported only when it is chosen: Ray takes seconds to load, and `local` must work without it.
def executor_of(settings: Runtime) -> Executor:
    """The executor that the settings name, not yet entered."""
    if settings.executor == "local":
        from .local import InProcess

        return InProcess(settings)
    from .ray import Cluster

    return Cluster(settings)


class Lazily:
    """An executor that is entered when it is first asked for, and left at the end."""

    def __init__(self, settings: Runtime) -> None:
        self._executor = executor_of(settings)
        self.is_entered = False

    def __enter__(self) -> Lazily:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_entered:
            self._executor.__exit__(kind, error, trace)

    @property
    def starting(self) -> str:
        """What to say before it is asked for; empty where that takes no time."""
        return "" if self.is_entered else self._executor.starting

    def entered(self) -> Executor:
        """The executor."""
        if not self.is_entered:
            self._executor.__enter__()
            self.is_entered = True
        return self._executor


def expect_available(settings: Runtime) -> None:
    """Find out whether units could run, before the run's folder is touched.

    Raises:  UsageError where they could not.
    """
    if settings.executor == "ray":
        from .ray import expect_reachable

        expect_reachable(settings)
