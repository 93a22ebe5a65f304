"""Settings of methods and function classes, declared once and checked before anything is computed.

A method or a function class is a frozen dataclass of its settings. The type of a field says what the
setting may hold and what it is; the checks, the configuration reference and the class's repr read it:

    depth: Annotated[int, Whole(least=1, most=64), "levels of splits"] = 3

A field with a description alone is an array, which is checked where it meets a problem.

Types are strict: text is no number, 1.0 is no whole number, True is no number and 1 is not True, so
that nothing is taken for what its writer did not mean. numpy's numbers count as Python's.
"""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABCMeta
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, ParamSpec, Protocol, TypeVar, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from mprlib.errors import InputError, SettingError

P = ParamSpec("P")
R = TypeVar("R")
# numpy and scikit-learn take seeds of 32 bits.
LARGEST_SEED = 2**32 - 1
# Tables and solvers count in 64 bits.
LARGEST_WHOLE = 2**63 - 1
# Characters of a wrong value that a message shows.
SHOWN = 60


class Setting(Protocol):
    """What one setting may hold."""

    @property
    def expected(self) -> str:
        """What is expected, in words: "a whole number of at least 1"."""
        ...

    def accepted(self, value: Any) -> Any:
        """The value as Python's own type.

        Raises:  ValueError or TypeError for any other.
        """
        ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Whole:
    """A whole number from `least` to `most`."""

    least: int = 1
    most: int = LARGEST_WHOLE

    @property
    def expected(self) -> str:
        limits = f"of at least {self.least}" if self.most == LARGEST_WHOLE else f"from {self.least} to {self.most}"
        return f"a whole number {limits}"

    def accepted(self, value: Any) -> int:
        if not _is_whole(value) or not self.least <= value <= self.most:
            raise ValueError
        return int(value)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A finite number; `least` and `most` are allowed, `above` and `below` are not."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    @property
    def expected(self) -> str:
        if self.least is not None and self.most is not None:
            return f"a number from {self.least:g} to {self.most:g}"
        named = {"of at least": self.least, "above": self.above, "of at most": self.most, "below": self.below}
        limits = [f"{words} {limit:g}" for words, limit in named.items() if limit is not None]
        return " ".join(["a finite number", " and ".join(limits)]).strip()

    def accepted(self, value: Any) -> float:
        if not (_is_whole(value) or isinstance(value, (float, np.floating))) or not np.isfinite(float(value)):
            raise ValueError
        number = float(value)
        is_inside = (
            (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )
        if not is_inside:
            raise ValueError
        return int(value) if _is_whole(value) else number


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """True or False."""

    @property
    def expected(self) -> str:
        return "true or false"

    def accepted(self, value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError
        return bool(value)


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """One of some names."""

    names: tuple[str, ...]

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.names)}"

    def accepted(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.names:
            raise ValueError
        return str(value)


SEED = Whole(least=0, most=LARGEST_SEED)
# A probability that settles nothing at either end.
PROBABILITY = Number(above=0, below=1)
# The effective number of a reference's rows.
SIZE = Number(above=0)


def checked(setting: Setting, name: str, value: Any, owner: str = "") -> Any:
    """The value where the setting may hold it.

    Raises:  SettingError naming the setting, what came and what is expected.
    """
    try:
        return setting.accepted(value)
    except (ValueError, TypeError, OverflowError):
        shown = repr(value)
        shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
        raise SettingError(f"{owner}{name} is {shown}: {setting.expected} is expected", setting=name) from None


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
def declarations(owner: type[Declared]) -> Mapping[str, Declaration]:
    """The settings of a method or a function class by name, in the order of its fields."""
    hints, settings = get_type_hints(owner, include_extras=True), declared(owner)
    return {
        field.name: Declaration(
            name=field.name,
            setting=settings.get(field.name),
            default=field.default,
            description=" ".join(one for one in _metadata(hints[field.name]) if isinstance(one, str)),
        )
        for field in dataclasses.fields(owner)  # type: ignore[arg-type]  # each class that derives from it is one
    }


def _metadata(hint: Any) -> tuple[Any, ...]:
    """The arguments of Annotated[type, ...] after the type."""
    return getattr(hint, "__metadata__", ())


@cache
def _defaults(function: Callable[..., Any]) -> Mapping[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def checked_keywords(function: Callable[..., Any], values: Mapping[str, Any], owner: str = "") -> dict[str, Any]:
    """Keywords for a function, those checked that it declares; None where that is the default.

    Raises:  SettingError for a value that a setting may not hold.
    """
    settings = declared(function)
    return {
        name: value
        if name not in settings or (value is None and _defaults(function)[name] is None)
        else checked(settings[name], name, value, owner)
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


def refuse_text(name: str, value: ArrayLike) -> None:
    """numpy reads text as numbers where it can; a caller who passes text has passed the wrong column.

    Raises:  InputError naming the argument.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        return  # ragged, which is said where it is read as numbers
    if array.dtype.kind in "USO" and any(isinstance(one, (str, bytes)) for one in array.ravel()):
        raise InputError(f"{name} holds text: numbers are expected")


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
