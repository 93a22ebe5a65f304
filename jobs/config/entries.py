"""Function classes and methods as a configuration names them, checked against the registry."""

from __future__ import annotations

from typing import Any, Literal

import mprlib
from jobs.config.block import Block
from jobs.config.method_settings import check, known_settings
from mprlib import registry
from mprlib.method import Method

Over = Literal["labels", "embedding"] | tuple[str, ...]


class ClassEntry(Block):
    """A function class under which every selection is measured."""

    name: str
    settings: dict[str, Any] = {}
    over: Over = "labels"

    @property
    def display(self) -> str:
        """The name of result rows: settings in brackets where they differ from the default."""
        plain = registry.display_name(registry.function_class(self.name, **self.settings))
        if self.over == "labels":
            return plain
        over = f"over={self.over if isinstance(self.over, str) else '+'.join(self.over)}"
        return f"{plain[:-1]}, {over})" if plain.endswith(")") else f"{plain}({over})"


class MethodEntry(Block):
    """A method and the values of its parameter."""

    name: str
    points: int | None = None
    values: tuple[float, ...] | None = None
    targets: tuple[str, ...] | None = None
    extras: dict[str, Any] = {}


# Without points or values, enough of both for a curve.
DEFAULT_POINTS = 20


def _named(entry: Any, kind: str) -> tuple[str, dict[str, Any]]:
    """`name` or `{name: {settings}}` as a pair."""
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, dict) and len(entry) == 1:
        name, settings = next(iter(entry.items()))
        if settings is None or isinstance(settings, dict):
            return str(name), dict(settings or {})
    raise ValueError(f"{kind} entry {entry!r}: a name, or one name with a block of settings, is expected")


def class_entry(entry: Any) -> Any:
    if isinstance(entry, ClassEntry):
        return entry
    name, settings = _named(entry, "function class")
    over = settings.pop("over", "labels")
    is_list = isinstance(over, list) and over and len(set(map(str, over))) == len(over)
    if not (over in ("labels", "embedding") if isinstance(over, str) else is_list):
        raise ValueError(
            f"function class {name} has over {over!r}: labels, embedding or a list of attributes is expected"
        )
    try:
        registry.function_class(name, **settings)
    except mprlib.InputError as error:
        raise ValueError(str(error)) from None
    return {"name": name, "settings": settings, "over": over}


def _check_values(method: Method, values: Any) -> None:
    """Values of a parameter: distinct numbers inside the parameter's range."""
    low, high = method.limits
    if not (isinstance(values, list) and values and all(type(value) in (int, float) for value in values)):
        raise ValueError(f"method {method.name} has values {values!r}: a list of numbers is expected")
    for value in values:
        if not low <= value <= high or value == float("inf"):
            expected = f"of at least {low:g}" if high == float("inf") else f"from {low:g} to {high:g}"
            raise ValueError(
                f"method {method.name} has the {method.parameter} {value}: a number {expected} is expected"
            )
    if len(set(values)) != len(values):
        raise ValueError(f"method {method.name} has a value twice in {values}")


def method_entry(entry: Any) -> Any:
    if isinstance(entry, MethodEntry):
        return entry
    name, settings = _named(entry, "method")
    try:
        method = registry.method(name)
    except mprlib.InputError as error:
        raise ValueError(str(error)) from None
    points, values, targets = (settings.pop(key, None) for key in ("points", "values", "targets"))
    if method.parameter is None and (points is not None or values is not None):
        raise ValueError(f"method {name} has no parameter: points and values do not apply")
    if points is not None and values is not None:
        raise ValueError(f"method {name} has both points and values: one of them is expected")
    if points is not None and (isinstance(points, bool) or not isinstance(points, int) or points < 1):
        raise ValueError(f"method {name} has points {points!r}: a whole number of at least 1 is expected")
    if values is not None:
        _check_values(method, values)
    if targets is not None and not targets:
        raise ValueError(f"method {name} has no targets: leave the setting out for all function classes")
    if targets is not None and not method.is_constrained:
        raise ValueError(f"method {name} constrains no function class: targets does not apply")
    unknown = sorted(set(settings) - set(known_settings(name)))
    if unknown:
        known = ["points", "values", "targets", *known_settings(name)]
        raise ValueError(f"method {name} has no setting {unknown[0]!r}: known are {', '.join(known)}")
    check(name, settings)
    if method.parameter is not None and points is None and values is None:
        points = DEFAULT_POINTS
    return {
        "name": name,
        "points": points,
        "values": values,
        "targets": [targets] if isinstance(targets, str) else targets,
        "extras": settings,
    }
