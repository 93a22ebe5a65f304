"""The executor `ray`: a running cluster by its address, else a local one that is started and stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ray
from ray.util.metrics import Counter, Gauge, Histogram

from ... import interruption
from ...config.runtime import Runtime
from ...stages.unit import Unit
from ...store import Store
from ..attempts import Limits
from ..dispatch import Dispatch, Events, never
from ..encoder_actors import EncoderActors, encoder_actors
from ..gpu_wait import await_gpus
from ..meters import Meters
from ..nodes import Nodes
from ..worker import may_do_without_encoder
from .connection import connect
from .workers import Actors, Tasks, remove_copies

# How long an interrupted run waits for Ray to stop: a signal to the whole process group has killed Ray's own
# processes too, and waiting for them would never end.
LONGEST_STOP_SECONDS = 5.0


class Cluster:
    """A connection to Ray: a running cluster where one is named, else a local one of its own.

    Only what it started is stopped.
    """

    starting = "starting Ray"

    def __init__(self, settings: Runtime) -> None:
        self._settings = settings
        megabytes = settings.unit_megabytes
        self._limits = Limits(
            seconds=settings.unit_seconds, memory_bytes=None if megabytes is None else int(megabytes * 1e6)
        )
        self._remote_stores: dict[str, Store] = {}

    def __enter__(self) -> Cluster:
        self._owns = not ray.is_initialized()
        if self._owns:
            # Ray puts handlers of its own in place, which end the process with a stack trace.
            with interruption.keeping_handlers(), interruption.expendable():
                connect(self._settings)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for store in self._remote_stores.values():
            interruption.bounded("removing copies", partial(remove_copies, store), LONGEST_STOP_SECONDS)
        if not self._owns:
            return
        seconds = interruption.END_SECONDS if kind is None else LONGEST_STOP_SECONDS
        interruption.bounded("stopping Ray", ray.shutdown, seconds)

    @property
    def cpus(self) -> int:
        """CPUs that Ray may use."""
        return Nodes(ray.nodes).cpus

    def meters(self, audit: str) -> Meters:
        """Metrics of an audit, shown by the endpoint of every Ray node."""
        return Meters(audit, Counter, Gauge, Histogram)

    def encoder_note(self, encoder: Mapping[str, Any] | None) -> str:
        """Why an encoder that belongs on a GPU runs on CPUs; empty if there is nothing to say."""
        return self.encoder_actors(encoder).note

    def encoder_actors(self, encoder: Mapping[str, Any] | None) -> EncoderActors:
        """The actors that this cluster has room for, given an encoder's settings."""
        return encoder_actors(self._settings, None if encoder is None else encoder["kind"], Nodes(ray.nodes).offers)

    def run_tasks(self, units: Sequence[Unit], store: Store, is_enough: Callable[[], bool] = never) -> Events:
        """Run units that need no encoder; events as they happen, until it is enough."""
        if units and not is_enough():
            self._remember_store(store)
            tasks = Tasks(store, self._limits, Nodes(ray.nodes))
            yield from Dispatch(tasks, store, self._limits).run(units, is_enough)

    def _remember_store(self, store: Store) -> None:
        """Units of this store may leave copies of its files on their nodes."""
        if not store.is_local:
            self._remote_stores[store.root] = store

    def await_gpus(self, kind: str | None) -> None:
        """Have the GPUs that an encoder of a kind wants, where the settings say to wait for them."""
        from ray.autoscaler.sdk import request_resources

        nodes = Nodes(ray.nodes)
        await_gpus(self._settings, kind, lambda: nodes.offers, lambda bundles: request_resources(bundles=bundles))

    def run_on_encoders(
        self,
        units: Sequence[Unit],
        store: Store,
        encoder: Mapping[str, Any] | None,
        is_enough: Callable[[], bool] = never,
    ) -> Events:
        """The same for units that need an encoder, whose weights are loaded once per actor.

        Raises:  UsageError when the encoder cannot be loaded because of its settings.
        """
        if not units or is_enough():
            return
        self._remember_store(store)
        self.await_gpus(None if encoder is None else encoder["kind"])
        actors = Actors(store, self._limits, Nodes(ray.nodes), self.encoder_actors(encoder), encoder)
        try:
            if encoder is not None and not may_do_without_encoder(units):
                actors.prepare(units)
            yield from Dispatch(actors, store, self._limits).run(units, is_enough)
        finally:
            actors.close()


def look_around(settings: Runtime) -> dict[str, Any]:
    """What Ray has where an audit with these settings would run: nodes and resources; a local Ray is started for it."""
    with Cluster(settings):
        nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]  # Ray leaves it untyped
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]  # the same
        return {"version": ray.__version__, "nodes": sum(node["Alive"] for node in nodes), "resources": resources}
