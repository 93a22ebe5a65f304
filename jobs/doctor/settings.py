"""With a configuration: is it valid, is the data there, what will it cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import audit
from ..config.audit import Audit
from ..config.file import ConfigFile, read_config
from ..encoders import text_source
from ..errors import UsageError
from ..plan.estimate import Estimate, estimate
from ..words import numbered
from .check import Check, ok, problem


@dataclass(frozen=True, kw_only=True, slots=True)
class Examined:
    """What was found, and what of the audit could be read."""

    checks: list[Check]
    config: ConfigFile[Audit] | None = None
    cost: Estimate | None = None


def examine(path: Path, overrides: tuple[str, ...]) -> Examined:
    """Read the configuration and everything that it names, as a run would."""
    try:
        config: ConfigFile[Audit] = read_config(path, overrides)
    except UsageError as error:
        return Examined(checks=[problem("configuration", str(error), "correct it")])
    checks = [ok("configuration", f"{path} is valid")]
    try:
        inputs, plan = audit.prepare(config)
    except UsageError as error:
        checks.append(problem("data", str(error), "correct the configuration or the data"))
        return Examined(checks=checks, config=config)
    sizes = ", ".join(f"{name} {numbered(catalogue.size, 'item')}" for name, catalogue in inputs.catalogues.items())
    checks.append(ok("data", f"{sizes}, {numbered(len(inputs.queries), 'query', 'queries')}"))
    cost = estimate(config.settings, plan, {unit.key for unit in plan.units})
    return Examined(checks=checks, config=config, cost=cost)


def encoder_settings(config: ConfigFile[Audit]) -> dict[str, Any] | None:
    """The model that a run loads, None where items and queries come as vectors, or where it cannot be found."""
    if config.settings.encoder is None:
        return None
    try:
        source = text_source(config.settings.encoder, config.folder)
    except UsageError:
        # What is wrong with it is among the findings of `examine`.
        return None
    return None if source is None else dict(source.loading)
