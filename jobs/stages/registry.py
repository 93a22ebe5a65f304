"""Every stage by name: the classes that the modules of this folder define."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from .. import stages
from .unit import EncodingUnit, Unit


def _defined() -> Iterator[type[Unit]]:
    for found in iter_modules(stages.__path__, f"{stages.__name__}."):
        if found.name != __name__:
            for one in vars(import_module(found.name)).values():
                is_stage = isinstance(one, type) and issubclass(one, Unit) and one not in (Unit, EncodingUnit)
                if is_stage and one.__module__ == found.name:
                    yield one


STAGES: dict[str, type[Unit]] = {kind.stage: kind for kind in _defined()}


def needs_encoder(stage: str) -> bool:
    """Whether units of the stage of that name need an encoder."""
    return issubclass(STAGES[stage], EncodingUnit)
