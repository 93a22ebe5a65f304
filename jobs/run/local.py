"""Units one after the other in the run's own process: for debuggers, notebooks, tests and small audits.

A breakpoint in a stage stops there, and no second copy of the data or of Python is needed. The price is that nothing
outlives a unit that takes the process down: a crash in native code ends the run, and the next run continues it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from types import TracebackType
from typing import Any

import psutil
from threadpoolctl import threadpool_limits

from .. import encoders
from ..config.runtime import Runtime
from ..encoders.presence import torch_devices
from ..encoders.threads import torch_on_one_thread
from ..errors import UsageError
from ..stages.unit import Unit
from ..store import Store
from .attempts import Attempt, Limits, Lost, Report
from .dispatch import Dispatch, Events, never
from .encoder_actors import EncoderActors, encoder_actors
from .worker import may_do_without_encoder, work

# A process cannot stop itself at a limit and go on with the next unit: the configuration refuses limits.
NO_LIMITS = Limits()
Reports = Generator[Report, None, None]


class InProcess:
    """The executor `local`: one unit at a time, on one thread, in the process that enters it."""

    starting = ""
    cpus = 1

    def __init__(self, settings: Runtime) -> None:
        self._settings = settings
        self._threads: str | None = None
        self._stores: dict[str, Store] = {}

    def __enter__(self) -> InProcess:
        # Numeric libraries that a unit is the first to load read their number of threads here.
        self._threads = os.environ.get("OMP_NUM_THREADS")
        os.environ["OMP_NUM_THREADS"] = "1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._threads is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = self._threads
        for store in self._stores.values():
            store.remove_node_copies()

    def meters(self, audit: str) -> None:
        """None: metrics are read from a node of Ray."""

    def encoder_note(self, encoder: Mapping[str, Any] | None) -> str:
        """Why a model that belongs on a GPU runs on CPUs; empty if there is nothing to say."""
        return self._place_of(encoder).note

    def run_tasks(self, units: Sequence[Unit], store: Store, is_enough: Callable[[], bool] = never) -> Events:
        """Run units that need no encoder; events as they happen, until it is enough."""
        self._stores[store.root] = store
        return Dispatch(_Calls(store, lambda: None), store, NO_LIMITS).run(units, is_enough)

    def run_on_encoders(
        self,
        units: Sequence[Unit],
        store: Store,
        encoder: Mapping[str, Any] | None,
        is_enough: Callable[[], bool] = never,
    ) -> Events:
        """The same for units that need an encoder, which is loaded once.

        Raises:  UsageError when the encoder cannot be loaded because of its settings.
        """
        if not units or is_enough():
            return
        self._stores[store.root] = store
        with closing(_Held(None if encoder is None else self._place_of(encoder).loading(encoder))) as held:
            if not may_do_without_encoder(units):
                held.expect_usable()
            yield from Dispatch(_Calls(store, held.loaded), store, NO_LIMITS).run(units, is_enough)

    def _place_of(self, encoder: Mapping[str, Any] | None) -> EncoderActors:
        kind = None if encoder is None else encoder["kind"]
        gpus = _gpus() if encoders.wants_gpu(kind) else 0
        return encoder_actors(self._settings, kind, [(psutil.cpu_count() or 1, gpus)])


class _Calls:
    """Takes a few units at a time; a handle is the iterator of their reports, which runs them as it is read."""

    window = 1

    def __init__(self, store: Store, encoder: Callable[[], encoders.Encoder | None]) -> None:
        self._store, self._encoder = store, encoder

    def submit(self, attempts: Sequence[Attempt]) -> Reports:
        return _on_one_thread(work(self._store, attempts, NO_LIMITS, self._encoder))

    def wait(self, handles: Sequence[Reports], timeout: float) -> list[Reports]:
        return list(handles)

    def read(self, handle: Reports) -> Report | Lost | None:
        return next(handle, None)

    def stop(self, handle: Reports) -> None:
        """What the handle has not begun is never run."""
        handle.close()

    def release(self, handle: Reports) -> None:
        """The iterator holds nothing."""


class _Held:
    """An encoder that is loaded when it is first needed."""

    def __init__(self, settings: dict[str, Any] | None) -> None:
        self._settings = settings
        self._encoder: encoders.Encoder | None = None

    def expect_usable(self) -> None:
        """Load the encoder. Errors other than of its settings are left to the units, which fail with them."""
        try:
            self.loaded()
        except UsageError:
            raise
        except Exception:  # noqa: BLE001 - whatever it is, the first unit raises it again and keeps its traceback
            return

    def loaded(self) -> encoders.Encoder | None:
        if self._encoder is None and self._settings is not None:
            self._encoder = encoders.load(self._settings)
        return self._encoder

    def close(self) -> None:
        if self._encoder is not None:
            self._encoder.close()


def _gpus() -> int:
    try:
        return len(torch_devices()["gpus"])
    except ImportError:
        # Loading the encoder names the package that is missing.
        return 0


def _on_one_thread(reports: Iterable[Report]) -> Reports:
    """The reports, computed with one thread per numeric library, as in a worker with one CPU.

    Sums of floating-point numbers depend on how many threads share them.
    """
    with torch_on_one_thread(), threadpool_limits(limits=1):
        yield from reports
