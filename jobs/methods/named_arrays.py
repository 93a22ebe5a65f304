"""A method's arrays by the names that a configuration gives: what they are made of, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from mprlib import Problem
from mprlib.errors import SettingError

from ..settings.block import as_written

# What stands for the query in a text.
QUERY = "{query}"


@dataclass(frozen=True, kw_only=True, slots=True)
class OneText:
    """A setting that is one text. is_path: of a file beside the configuration, which travels with a submitted job."""

    description: str
    is_path: bool = False
    expected: ClassVar[str] = "text"

    def checked(self, setting: str, value: Any) -> str:
        """The text.

        Raises:  SettingError for anything else.
        """
        if not (isinstance(value, str) and value):
            raise SettingError(f"{setting} is {value!r:.80}: one text is expected", setting=setting)
        return value


@dataclass(frozen=True, kw_only=True, slots=True)
class TextList:
    """A setting that lists texts: what they are, how many at least, and whether one may be there twice."""

    description: str
    names: str
    least: int = 1
    may_repeat: bool = False
    is_path: ClassVar[bool] = False

    @property
    def expected(self) -> str:
        """The setting's values in a few words."""
        return f"list of {self.names}"

    def checked(self, setting: str, value: Any) -> list[str]:
        """The texts; a number is taken as it is written.

        Raises:  SettingError for anything but a list of that many texts, none of them empty.
        """
        return texts_of(setting, value, self.names, self.least, may_repeat=self.may_repeat)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class MethodNeeds:
    """What must be there before the method can choose.

    texts: to be embedded; variants: texts with the query in the place of QUERY, to be embedded for each; columns_about:
    attributes, about which the columns of the vectors are measured, all of the data set's for an empty one, or None;
    columns_by: the probe on whose labelled data set they are measured about its own attribute, or None; tokens
    (count, width): learned tokens before which no query is embedded as it is; probes: names of those that label the
    items.
    """

    texts: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    columns_about: tuple[str, ...] | None = None
    columns_by: str | None = None
    tokens: np.ndarray | None = None
    probes: tuple[str, ...] = ()


class Given(Protocol):
    """What a solve unit has for the method: its problem, and the tables of the units that it asked for."""

    @property
    def problem(self) -> Problem:
        """The query's pool and the reference."""

    @property
    def seed(self) -> int:
        """The audit's."""

    @property
    def levels(self) -> Mapping[str, Sequence[str]]:
        """The levels of each attribute, in the order of the problem's columns."""

    @property
    def missing(self) -> str:
        """The level of an item without a value."""

    def text_vectors(self) -> np.ndarray:
        """Vectors (count, d) of the texts."""

    def variant_vectors(self) -> np.ndarray:
        """Vectors (count, d) of the variants of the query."""

    def column_order(self) -> np.ndarray:
        """All columns (d,) of the vectors, those first that tell most."""

    def debiased_query(self) -> np.ndarray:
        """The query's vector (d,) behind the tokens."""

    def probe_levels(self) -> list[list[str]]:
        """For each probe, the level of every item of the pool."""

    def places(self) -> np.ndarray:
        """The place (n,) of every item of the pool in the list that an engine showed."""


class NamedArrays:
    """The arrays of one method. This one is of a method that takes none.

    keywords: settings of the library's method that are arrays; settings: what a configuration has for them.
    needs_text_tower: the encoder must take learned tokens; needs_list: the pool must be a list that an engine showed.
    """

    keywords: ClassVar[frozenset[str]] = frozenset()
    settings: ClassVar[Mapping[str, OneText | TextList]] = {}
    needs_text_tower: ClassVar[bool] = False
    needs_list: ClassVar[bool] = False

    def checked(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Those of a configuration's settings that name arrays, as they are used.

        Raises:  SettingError, one sentence.
        """
        return {name: one.checked(name, settings[name]) for name, one in self.settings.items() if name in settings}

    def check_groups(self, settings: Mapping[str, Any], names: Sequence[str]) -> None:
        """Refuse settings that name a group which is none of the data set's and the reference's.

        Raises:  SettingError.
        """

    def needs_embeddings(self, settings: Mapping[str, Any]) -> bool:
        """Whether the arrays are made from the pool's vectors."""
        return False

    def needs(self, settings: Mapping[str, Any], folder: Path) -> MethodNeeds:
        """What the arrays are made from. folder: of the configuration, for its files.

        Raises:  UsageError for a file that is of no use.
        """
        return MethodNeeds()

    def arguments(self, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
        """The arrays, as settings of the library's method."""
        return {}

    def in_key(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings that are in a unit's key: what a file holds is in the keys of the units that read it."""
        paths = {name for name, one in self.settings.items() if one.is_path}
        return {name: value for name, value in settings.items() if name not in paths}


def required(settings: Mapping[str, Any], setting: str, method: str, what: str) -> None:
    """Raises:  SettingError for a setting that is missing."""
    if setting not in settings:
        raise SettingError(f"{method} needs {setting}: {what}", setting=setting)


def texts_of(setting: str, value: Any, names: str, least: int = 1, *, may_repeat: bool = False) -> list[str]:
    """A list of that many texts, none of them empty and none there twice; a number is taken as it is written.

    Raises:  SettingError for anything else.
    """
    texts = [as_written(one) for one in value] if isinstance(value, (list, tuple)) else []
    if len(texts) < least or not all(isinstance(text, str) and text for text in texts):
        raise SettingError(f"{setting} is {value!r:.80}: a list of {names} is expected", setting=setting)
    repeated = next((text for place, text in enumerate(texts) if text in texts[:place]), None)
    if repeated is not None and not may_repeat:
        raise SettingError(f"{repeated!r:.80} occurs twice in the list: distinct values are expected", setting=setting)
    return texts
