"""Is this machine, or this cluster, fit for an audit? One finding per check, each with what to do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

from ..config.runtime import Runtime
from ..encoders.models import MODELS
from . import cache, cluster, machine, packages, settings
from .check import Check, ok, problem
from .isolated_checks import look

__all__ = ["Check", "examine", "to_json", "to_text"]


def examine(
    path: Path | None,
    *,
    overrides: tuple[str, ...] = (),
    output: str | None = None,
    address: str | None = None,
    dashboard: str | None = None,
) -> list[Check]:
    """All checks, those of a configuration where one is given.

    address: a running cluster's, as ray.init takes it (default: the configuration's); dashboard: its http
    address, for submissions.
    """
    with ThreadPoolExecutor(max_workers=2) as pool:
        # Ray takes seconds to start: meanwhile the rest is looked at, where the address is known already.
        early = address or path is None
        asked = pool.submit(look, _of_ray(Runtime(address=address), dashboard)) if early else None
        audit = settings.examine(path, overrides) if path is not None else settings.Examined(checks=[])
        config, encoder = audit.config, None
        if config is not None:
            encoder = settings.encoder_settings(config)
            output = output or config.settings.output
            address = address or config.settings.runtime.address
        if asked is None:
            runtime = config.settings.runtime if config is not None else Runtime()
            asked = pool.submit(look, _of_ray(runtime.model_copy(update={"address": address}), dashboard))
        wanted: dict[str, Any] = dict.fromkeys(("torch", "faiss", "gurobi", "machine_code"))
        needed = {kind: model.needs for kind, model in MODELS.items() if model.needs is not None}
        wanted |= {f"encoder_kind {kind}": kind for kind in needed}
        found = look(wanted | ({"encoder": encoder} if encoder else {})) | asked.result()
    root = output or str(Path.cwd())
    cost = audit.cost
    return [
        one
        for one in (
            packages.python(),
            *packages.versions(),
            packages.torch(found["torch"], is_needed=encoder is not None),
            *(
                packages.encoder_kind(kind, needs, found[f"encoder_kind {kind}"], (encoder or {}).get("kind") == kind)
                for kind, needs in needed.items()
            ),
            packages.faiss(found["faiss"], has_torch="error" not in found["torch"]),
            packages.gurobi(found["gurobi"]),
            packages.machine_code(found["machine_code"]),
            cluster.authentication(address or dashboard),
            *cluster.ray(found["ray"], address),
            cluster.dashboard(found["dashboard"], dashboard, metadata.version("ray")) if dashboard else None,
            cluster.gpus(found["ray"], found["torch"], is_local=address is None),
            machine.processors(),
            machine.memory(cost.memory_bytes if cost else None),
            machine.shared_memory(),
            machine.output(root),
            machine.disk(root, cost.disk_bytes if cost else None),
            *cache.cache(config.settings.cache if config is not None else None),
            *audit.checks,
            _encoder(found["encoder"], encoder) if encoder else None,
        )
        if one is not None
    ]


def to_text(checks: list[Check]) -> str:
    """A line a check, then what to do in all."""
    lines = [f"{one.level:<9}{one.name:<16}{one.found}" + (f"; {one.advice}" if one.advice else "") for one in checks]
    counts = {level: sum(one.level == level for one in checks) for level in ("problem", "warning")}
    return "\n".join([*lines, f"{counts['problem']} problems, {counts['warning']} warnings"])


def to_json(checks: list[Check]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "is_fit": all(one.level != "problem" for one in checks),
        "checks": [{"name": one.name, "level": one.level, "found": one.found, "advice": one.advice} for one in checks],
    }


def _of_ray(runtime: Runtime, dashboard: str | None) -> dict[str, Any]:
    return {"ray": runtime.model_dump(mode="json")} | ({"dashboard": dashboard} if dashboard else {})


def _encoder(answer: dict[str, Any], encoder: dict[str, Any]) -> Check:
    name = f"{encoder['kind']} {encoder.get('model', '')}".strip()
    if "error" in answer:
        return problem("encoder", f"{name}: {answer['error']}", "install what it needs, or name another model")
    return ok("encoder", f"{name} gives vectors of {answer['value']} numbers")
