"""A unit of work: the smallest thing that is computed, committed and never computed again.

Each stage is a class in a file of its own, and a unit is an instance of it: what it works on in typed fields,
`run`, and beside them the stage's name, version, cost and storage. A unit's key is the hash of its stage, of the
stage's version and of its fields, so that equal keys mean equal tables. Two kinds of fields are marked:

- `reads()` holds keys of other units, which must be done before;
- `outside_key()` holds what does not decide the content: where something is kept, or what it costs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from typing import Any, ClassVar, Self

import pyarrow as pa
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from ..cache.place import CachePlace
from ..encoders import Encoder
from ..store import Store, unit_file
from ..store.keys import digest

# Bytes of memory of a process that runs units, before it holds anything of theirs.
WORKER_BYTES = 170e6
IN_KEY, READS = "is in the key", "names units"

Tables = Mapping[str, pa.Table]


def reads(*, in_key: bool = True, default: Any = MISSING, default_factory: Any = MISSING) -> Any:
    """A field that holds keys of units that this one reads: a key, a tuple of keys, or such tuples by name."""
    return field(default=default, default_factory=default_factory, metadata={READS: True, IN_KEY: in_key})


def outside_key(default: Any = MISSING) -> Any:
    """A field that does not decide what the unit writes."""
    return field(default=default, metadata={IN_KEY: False})


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a unit takes beside its stage's `seconds`: seconds of one core, bytes of memory beside a worker's own,
    bytes on disk, and for the search alone its seconds and the bytes of vectors that it reads."""

    seconds: float = 0.0
    memory_bytes: float = 0.0
    disk_bytes: float = 0.0
    search_seconds: float = 0.0
    read_bytes: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """Work of one stage. title is for people.

    stage: the stage's name. version is raised by hand when the code changes what is written; every unit of the
    stage is then computed anew. A test knows the code of each version, which is the stage's own module and
    numeric_code, names of modules and packages: `python -m tests.jobs.stage_sources` records a new one.
    form names the columns that are written, where they are declared in one place: it is in the key beside the version.
    seconds: what a unit takes of one core, its `cost` aside. rows_per_group: rows of a Parquet row group, where a
    reader takes less than the file. encodings: Parquet's encodings of columns of numbers that hardly repeat.
    is_shared: units are small beside what they take, and are kept in the cache for runs into other folders.
    is_intermediate: tables are of use to the units that read them and to nobody else: they are removed once these are
    done, and the receipt stays.
    """

    stage: ClassVar[str]
    version: ClassVar[int]
    seconds: ClassVar[float]
    numeric_code: ClassVar[tuple[str, ...]] = ()
    form: ClassVar[str] = ""
    rows_per_group: ClassVar[int | None] = None
    encodings: ClassVar[Mapping[str, str]] = {}
    is_shared: ClassVar[bool] = False
    is_intermediate: ClassVar[bool] = False

    title: str = outside_key()
    key: str = field(init=False, metadata={IN_KEY: False})

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", digest(self.content()))

    def content(self, without: Collection[str] = ()) -> list[Any]:
        """What decides the unit's tables, but for some fields."""
        fields = {name: value for name, value in _key_content(self) if name not in without}
        return [self.stage, self.version, self.form, fields]

    @property
    def needs(self) -> tuple[str, ...]:
        """Keys of the units that this one reads, each once."""
        return tuple(dict.fromkeys(read_keys(self)))

    @property
    def spec(self) -> dict[str, Any]:
        """All fields but title and key, as JSON values."""
        return {one.name: _json_value(getattr(self, one.name)) for one in _own_fields(self)}

    @classmethod
    def undecided_fields(cls) -> set[str]:
        """Names of the fields that decide nothing of what is written and name no unit: places, costs."""
        return {
            one.name
            for one in dataclasses.fields(cls)
            if not one.metadata.get(IN_KEY, True) and not one.metadata.get(READS)
        }

    @classmethod
    def from_spec(cls, title: str, spec: Mapping[str, Any]) -> Self:
        """The unit with these fields.

        Raises:  pydantic.ValidationError for fields of another version of the stage.
        """
        return TypeAdapter(cls).validate_python({"title": title, **spec})

    @classmethod
    def file(cls, key: str, table: str) -> str:
        """Where a unit's table is kept, below the root of the store."""
        return unit_file(cls.stage, key, table)

    @property
    def shared_reading(self) -> str | None:
        """The same for units that read and prepare the same, which a worker keeps from one to the next; None where
        there is nothing to keep."""
        return None

    def run(self, store: Store) -> Tables:
        """The unit's tables by name; a name that ends in .arrow is mapped by its readers, not decoded."""
        raise NotImplementedError(f"units of {self.stage} are made where the inputs are read")

    def cost(self) -> Cost:
        """What the unit takes beside its stage's seconds."""
        return Cost()


@dataclass(frozen=True, kw_only=True, slots=True)
class EncodingUnit(Unit):
    """Work of a stage that needs an encoder. embeds_items: the items' encoder, else the one of texts.

    cache: where vectors that were made before are looked for, by what they are of.
    """

    embeds_items: ClassVar[bool] = False

    cache: CachePlace | None = field(default=None, metadata={IN_KEY: False})

    def encode(self, store: Store, encoder: Encoder | None) -> Tables:
        """The unit's tables by name, made with the encoder; None where items have their vectors."""
        raise NotImplementedError


def _key_content(owner: Any) -> Iterator[tuple[str, Any]]:
    """What decides a unit's tables. A field at its default is left out: keys stay when a stage gets a new field."""
    for one in dataclasses.fields(owner):
        if not one.metadata.get(IN_KEY, True):
            continue
        value = getattr(owner, one.name)
        default = one.default if one.default_factory is MISSING else one.default_factory()
        if value != default:
            yield one.name, dict(_key_content(value)) if dataclasses.is_dataclass(value) else _json_value(value)


def read_keys(owner: Any) -> Iterator[str]:
    """Keys of units that a dataclass names in its `reads()` fields, and in those of its parts."""
    for one in dataclasses.fields(owner):
        if one.metadata.get(READS):
            yield from _texts_in(getattr(owner, one.name))
        elif dataclasses.is_dataclass(value := getattr(owner, one.name)):
            yield from read_keys(value)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif value is not None:
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(one)


def _own_fields(unit: Unit) -> Iterator[dataclasses.Field[Any]]:
    return (one for one in dataclasses.fields(unit) if one.name not in ("title", "key"))


def _json_value(value: Any) -> Any:
    """JSON values of anything that a field holds."""
    return to_jsonable_python(value)
