"""GPUs on a cluster that grows by demand: asked for and waited for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from .. import interruption
from ..config.runtime import Runtime
from ..encoders import wants_gpu

# Seconds between looks for a machine that takes minutes to start.
LOOK_SECONDS = 2.0


def await_gpus(
    settings: Runtime,
    kind: str | None,
    offers: Callable[[], Sequence[tuple[float, float]]],
    ask: Callable[[list[dict[str, float]]], None],
    pause: Callable[[float], None] = interruption.pause,
) -> None:
    """Ask for the GPUs that an encoder of a kind wants, and wait until they are there, or for long enough.

    offers: (CPUs, GPUs) of each machine. ask: requests resources of the cluster; the request is withdrawn at the end,
    so that a driver that is lost later leaves none behind. Units cannot request GPUs themselves: on a cluster that
    does not grow they would wait for ever.
    """
    wanted = 1.0 if settings.gpus_per_actor is None else settings.gpus_per_actor
    if settings.await_gpus_seconds == 0 or not wants_gpu(kind) or wanted == 0:
        return
    actors = settings.encoder_actors or 1

    def is_enough() -> bool:
        return sum(math.floor(gpus / wanted) for _, gpus in offers()) >= actors

    if is_enough():
        return
    ask([{"CPU": 1.0, "GPU": wanted}] * actors)
    try:
        deadline = time.monotonic() + settings.await_gpus_seconds
        while not is_enough() and time.monotonic() < deadline:
            pause(LOOK_SECONDS)
    finally:
        ask([])
