"""Settings as methods, function classes and functions declare them: read, checked and shown.

A method or a function class is a frozen dataclass of its settings. The type of a field says what the
setting may hold and what it is; the checks, the configuration reference and the class's repr read it:

    depth: Annotated[int, Whole(least=1, most=64), "levels of splits"] = 3

A field with a description alone is an array, which is checked where it meets a problem.
"""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABCMeta
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar, get_type_hints

from mprlib.settings import Setting, checked

P = ParamSpec("P")
R = TypeVar("R")


@cache
def declared(owner: Callable[..., Any]) -> Mapping[str, Setting]:
    """Settings of a class by its fields, or of a function by its keywords, as their types declare them."""
    hints = get_type_hints(owner, include_extras=True)
    found = {name: [one for one in _metadata(hint) if hasattr(one, "accepted")] for name, hint in hints.items()}
    return {name: settings[0] for name, settings in found.items() if settings}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """One setting of a method or a function class; `setting` is None for an array."""

    name: str
    setting: Setting | None
    default: Any
    description: str

    @property
    def expected(self) -> str:
        """What is expected, in words."""
        return "an array" if self.setting is None else self.setting.expected


@cache
def declarations(owner: type) -> Mapping[str, Declaration]:
    """The settings of a method or a function class by name, in the order of its fields; none of any other class."""
    if not (issubclass(owner, Declared) and dataclasses.is_dataclass(owner)):
        return {}
    hints, settings = get_type_hints(owner, include_extras=True), declared(owner)
    return {
        field.name: Declaration(
            name=field.name,
            setting=settings.get(field.name),
            default=field.default,
            description=" ".join(one for one in _metadata(hints[field.name]) if isinstance(one, str)),
        )
        for field in dataclasses.fields(owner)
    }


def _metadata(hint: Any) -> tuple[Any, ...]:
    """The arguments of Annotated[type, ...] after the type."""
    return getattr(hint, "__metadata__", ())


@cache
def _defaults(function: Callable[..., Any]) -> Mapping[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def checked_keywords(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords for a function, those checked that it declares; None where that is the default.

    Raises:  SettingError for a value that a setting may not hold.
    """
    settings = declared(function)
    return {
        name: value
        if name not in settings or (value is None and _defaults(function)[name] is None)
        else checked(settings[name], name, value)
        for name, value in values.items()
    }


def strict(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with what its arguments declare checked at each call."""
    signature = inspect.signature(function)

    @wraps(function)
    def checking(*arguments: P.args, **keywords: P.kwargs) -> R:
        given = signature.bind(*arguments, **keywords)
        given.arguments.update(checked_keywords(function, given.arguments))
        return function(*given.args, **given.kwargs)

    return checking


class DeclaredType(ABCMeta):
    """The type of a class of settings, which shows them: the repr of `METHODS["mmr"]` says what it takes."""

    @property
    def summary(cls) -> str:
        """The first sentence of the class's docstring."""
        return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())

    def __repr__(cls) -> str:
        return _described(cls) if dataclasses.is_dataclass(cls) else super().__repr__()


class Declared(metaclass=DeclaredType):
    """Base of a dataclass of settings: what its fields declare is checked whenever one is made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name, one in declarations(type(self)).items():
            value = getattr(self, name)
            if one.setting is not None and not (value is None and one.default is None):
                object.__setattr__(self, name, checked(one.setting, name, value, self._owner()))

    @classmethod
    def _owner(cls) -> str:
        """What a message puts before a setting's name."""
        return ""

    @classmethod
    def _notes(cls) -> list[str]:
        """What the repr says beside summary and settings."""
        return []


def _described(kind: Any) -> str:
    """Arguments and defaults of a class of settings, its summary, and a line for each setting."""
    rows = declarations(kind).values()
    settings = [f"    {row.name}: {row.expected}; {row.description}" for row in rows]
    arguments = ", ".join(
        row.name if row.default is dataclasses.MISSING else f"{row.name}={row.default!r}" for row in rows
    )
    notes = [f"    {note}" for note in kind._notes()]
    return "\n".join([f"{kind.__name__}({arguments})", f"    {kind.summary}", *notes, *settings])
