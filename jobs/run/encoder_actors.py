"""How many actors hold an encoder, and what each asks for: arithmetic over the nodes' CPUs and GPUs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..config.runtime import Runtime
from ..encoders import wants_gpu

# More decoding processes than this do not speed up one GPU: the actor cannot take what they make.
MOST_DECODE_WORKERS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class EncoderActors:
    """`count` actors, each with `cpus` and `gpus` of one node; note is shown to whoever runs the audit, or empty."""

    count: int
    cpus: int
    gpus: float
    decode_workers: int
    note: str

    def loading(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """An encoder's settings with what depends on where it runs."""
        if not wants_gpu(settings["kind"]):
            return dict(settings)
        device = "cuda" if self.gpus else "cpu"
        return dict(settings) | {"device": device, "decode_workers": self.decode_workers}


def encoder_actors(settings: Runtime, kind: str | None, nodes: Sequence[tuple[float, float]]) -> EncoderActors:
    """Actors for an encoder of a kind (None: vectors are given), on nodes with these (CPUs, GPUs).

    No actor asks for what no node has: it would wait for ever.
    """
    wanted = _wanted_gpus(settings, kind, nodes)
    fit = [math.floor(gpus / wanted) if wanted else 0 for _, gpus in nodes]
    if any(fit):
        # A node's CPUs are shared out among its GPUs' actors; the poorest share is what all ask for.
        cpus = max(1, math.floor(min(cpus / actors for (cpus, _), actors in zip(nodes, fit) if actors)))
        places = sum(min(actors, max(1, math.floor(node[0] / cpus))) for node, actors in zip(nodes, fit) if actors)
        decode_workers = settings.decode_workers or max(1, min(MOST_DECODE_WORKERS, cpus - 1))
        return EncoderActors(
            count=_at_most(settings, places),
            cpus=min(cpus, 1 + decode_workers),
            gpus=wanted,
            decode_workers=decode_workers,
            note="",
        )
    places = max(1, sum(math.floor(cpus) for cpus, _ in nodes))
    return EncoderActors(
        count=_at_most(settings, places),
        cpus=1,
        gpus=0,
        decode_workers=settings.decode_workers or 1,
        note=_cpu_note(settings, kind, nodes),
    )


def _wanted_gpus(settings: Runtime, kind: str | None, nodes: Sequence[tuple[float, float]]) -> float:
    if not wants_gpu(kind):
        return 0
    if settings.gpus_per_actor is None:
        return 1 if any(gpus >= 1 for _, gpus in nodes) else 0
    return settings.gpus_per_actor


def _at_most(settings: Runtime, places: int) -> int:
    return min(places, settings.encoder_actors or places)


def _cpu_note(settings: Runtime, kind: str | None, nodes: Sequence[tuple[float, float]]) -> str:
    """Why a model that belongs on a GPU runs on CPUs, where that was not asked for."""
    if not wants_gpu(kind) or settings.gpus_per_actor == 0:
        return ""
    most = max((gpus for _, gpus in nodes), default=0)
    if settings.gpus_per_actor is not None and most:
        return (
            f"no node has the {settings.gpus_per_actor:g} GPUs of runtime.gpus_per_actor (the most is {most:g}): "
            f"encoder {kind} runs on CPUs"
        )
    if settings.await_gpus_seconds:
        seconds = f"{settings.await_gpus_seconds:g} s"
        return f"no GPU in the cluster yet: one is asked for; after {seconds} without it encoder {kind} runs on CPUs"
    return f"no GPU in the cluster: encoder {kind} runs on CPUs"
