"""The base of every block of a configuration, and the types of its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    Strict,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from mprlib.settings import LARGEST_WHOLE

from ..errors import BadSetting
from ..words import did_you_mean
from .document import WrittenDecimal, WrittenWhole

T = TypeVar("T")
# Characters of a wrong value that a message shows.
SHOWN = 80


def as_written(value: Any) -> Any:
    """A number as it was written; anything else unchanged."""
    return value.written if isinstance(value, (WrittenWhole, WrittenDecimal)) else value


def _countable(value: int) -> int:
    if abs(value) > LARGEST_WHOLE:
        raise ValueError(f"a whole number of 64 bits is expected, got one of {len(str(abs(value)))} digits")
    return value


def _distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise BadSetting(f"{value!r} occurs twice in the list: distinct values are expected", place)
    return values


# A number that is written as a whole number: not true, "50" or 50.0.
Whole = Annotated[int, Strict(), AfterValidator(_countable)]
# Text of a table, such as a level or a column's name: 2024 and 1e3 are texts as they are written.
Label = Annotated[str, BeforeValidator(as_written)]
# YAML has lists, settings do not change: a tuple of them, whose members stay strict.
Many = Annotated[tuple[T, ...], Strict(False)]
# A list in which no value occurs twice.
Distinct = Annotated[tuple[T, ...], Strict(False), AfterValidator(_distinct)]


@dataclass(frozen=True, kw_only=True, slots=True)
class FilePath:
    """Marks a setting as a path that is relative to the configuration file.

    is_for_workers: every node reads what is there, so that it must be on storage that all of them reach, and cannot
    travel with a submitted job. Such a setting may also hold a name that is no path, as models have.
    """

    is_for_workers: bool = False


# A file or folder that the driver reads: it travels with a submitted job.
DriverPath = Annotated[str, FilePath()]
# A name, or a file or folder that workers read.
WorkerPath = Annotated[str, FilePath(is_for_workers=True)]


class UnknownKey(BadSetting):
    """A key that a block does not have. It is reported before other errors of the block, which it may explain.

    known: the block's keys, where the message says no more than which these are.
    """

    known: tuple[str, ...] = ()

    @classmethod
    def among(cls, name: str, known: Iterable[str], *block: str | int) -> UnknownKey:
        """The error of a key that is none of the block's."""
        names = tuple(known)
        error = cls(f"unknown key; {did_you_mean(name, names)}", *block, name)
        error.known = names
        return error


class Block(BaseModel):
    """A part of the configuration: unknown keys are errors, types are strict, numbers finite, instances immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, raw: Any) -> Any:
        for key in raw if isinstance(raw, Mapping) else ():
            if key not in cls.model_fields:
                raise UnknownKey.among(str(key), cls.model_fields)
        return raw

    @classmethod
    def least(cls) -> list[str]:
        """The settings that a block cannot do without."""
        return [name for name, field in cls.model_fields.items() if field.is_required()]

    @classmethod
    def file_paths(cls) -> dict[str, FilePath]:
        """The settings that are paths relative to the configuration file."""
        marks = {name: _path_marks(field.annotation, field.metadata) for name, field in cls.model_fields.items()}
        return {name: found[0] for name, found in marks.items() if found}


def _path_marks(annotation: Any, metadata: Any = ()) -> list[FilePath]:
    """The marks of a path on a type, also where it may be None."""
    own = [mark for mark in (*metadata, *getattr(annotation, "__metadata__", ())) if isinstance(mark, FilePath)]
    return own + [mark for part in get_args(annotation) for mark in _path_marks(part)]


class OneOf:
    """Annotates a block that is one of several, distinguished by their `kind`.

    kinds: the blocks by kind; it is read whenever a block is, so that a registry may grow. default: the kind of a
    block that names none; without it, `kind` is required.
    """

    def __init__(self, kinds: Mapping[str, type[Block]], default: str | None = None) -> None:
        self.kinds = kinds
        self.default = default

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.block_of)

    def block_of(self, raw: Any) -> Block:
        """The block of the kind that the raw settings name.

        Raises:  BadSetting for an unknown kind, and for a setting of another kind; ValidationError.
        """
        if isinstance(raw, Block) and isinstance(raw, tuple(self.kinds.values())):
            return raw
        if not isinstance(raw, Mapping):
            raise PydanticKnownError("dict_type")
        kind = raw.get("kind", self.default)
        if kind is None or not isinstance(kind, str) or kind not in self.kinds:
            found = "missing" if "kind" not in raw else f"unknown kind {kind!r:.{SHOWN}}"
            raise BadSetting(f"{found}: known are {', '.join(self.kinds)}", "kind")
        return self.kinds[kind].model_validate(dict(self._settings_of_kind(raw, kind)))

    def _settings_of_kind(self, raw: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Any]]:
        """The settings without empty ones of other kinds.

        Raises:  BadSetting for one that is not empty.
        """
        for name, value in raw.items():
            others = [other for other, block in self.kinds.items() if name in block.model_fields]
            if name in self.kinds[kind].model_fields or not others:
                yield name, value
            elif value is not None:
                raise UnknownKey(f"{name} goes with kind {' or '.join(others)}, not with {kind}", name)


def alternatives(annotation: Any, metadata: Any = ()) -> OneOf | None:
    """The annotation of a type, or of a type within it, that lists several kinds of block."""
    for mark in (*metadata, *getattr(annotation, "__metadata__", ())):
        if isinstance(mark, OneOf):
            return mark
    return next((found for part in get_args(annotation) if (found := alternatives(part))), None)
