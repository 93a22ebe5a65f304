"""Function classes and methods as a configuration names them, checked by the library's own rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

import mprlib
from mprlib import registry
from mprlib.declarations import declarations
from mprlib.errors import SettingError
from mprlib.function_classes.base import FunctionClass
from mprlib.method import DEFAULT_POINTS, Method
from mprlib.optimisers.constrained import CHANCE
from mprlib.settings import Whole, checked

from ..errors import BadSetting
from ..methods import checked_settings, known_settings
from ..methods.named_arrays import texts_of
from ..settings.block import Block, Many, UnknownKey, as_written
from ..words import closest

Over = Literal["labels", "embedding"] | Many[str]
# The paper's curves have 50; each point costs a selection, its measurements and result rows for every query.
POINTS = Whole(least=1, most=10_000)
# Methods whose selection is what everything else is compared with: a run has one of each.
ALONE = ("top_k", "as_shown")
# Settings of an entry of `methods` that are not the method's own.
OF_AN_ENTRY = ("name", "points", "values", "targets")
# How alike a setting's name and the parameter's are where the parameter is meant (1: equal).
LIKE_THE_PARAMETER = 0.75
# An entry's own name is part of result rows, legends, file names and tags of TREC runs.
LABEL = re.compile(r"[^\s()]{1,30}")


class ClassEntry(Block):
    """A function class under which every selection is measured."""

    name: str
    settings: dict[str, Any] = {}
    over: Over = "labels"

    @cached_property
    def display(self) -> str:
        """The name in result rows: settings in brackets where they differ from the default."""
        plain = registry.display_name(registry.function_class(self.name, **self.settings))
        if self.over == "labels":
            return plain
        over = f"over={self.over if isinstance(self.over, str) else '+'.join(self.over)}"
        return f"{plain[:-1]}, {over})" if plain.endswith(")") else f"{plain}({over})"


class MethodEntry(Block):
    """A method and the values of its parameter. label: the configuration's own name of the entry."""

    name: str
    label: str | None = None
    points: int | None = None
    values: Many[int | float | Literal["chance"]] | None = None
    targets: Many[str] | None = None
    extras: dict[str, Any] = {}

    @property
    def display(self) -> str:
        """The name in result rows: the entry's own in brackets where it has one."""
        return self.name if self.label is None else f"{self.name}({self.label})"

    @property
    def count(self) -> int:
        """Values of the parameter."""
        return (self.points or 0) + len(self.values or ()) or 1


def class_entry(entry: Any) -> Any:
    """An entry of `function_classes` as the fields of ClassEntry.

    Raises:  BadSetting with the library's message.
    """
    if isinstance(entry, ClassEntry):
        return entry
    name, settings = _name_and_settings(entry, "function class")
    over = settings.pop("over", "labels")
    if not (over in ("labels", "embedding") if isinstance(over, str) else _is_list_of_names(over)):
        raise BadSetting(f"over is {over!r:.80}: labels, embedding or a list of attributes is expected", name, "over")
    try:
        _expect_known(name, settings, settings_of_class(registry.function_class_type(name).name))
        instance = registry.function_class(name, **settings)
        if over == "embedding":
            _bind_to_vectors(instance)
    except mprlib.InputError as error:
        raise _as_bad_setting(name, error) from None
    checked_values = {setting: getattr(instance, setting) for setting in settings}
    over = over if isinstance(over, str) else [as_written(attribute) for attribute in over]
    return {"name": name, "settings": checked_values, "over": over}


def method_entry(entry: Any) -> Any:
    """An entry of `methods` as the fields of MethodEntry.

    Raises:  BadSetting, with the library's message where the library has the rule.
    """
    if isinstance(entry, MethodEntry):
        return entry
    name, settings = _name_and_settings(entry, "method")
    try:
        method = registry.method_type(name)
        label, points, values, targets = (settings.pop(key, None) for key in OF_AN_ENTRY)
        label = None if label is None else _checked_label(method, label)
        points, values = _points_and_values(method, points, values)
        targets = None if targets is None else _checked_targets(method, targets)
        _expect_known(name, settings, settings_of(name), method.parameter)
        extras = checked_settings(method, settings)
    except mprlib.InputError as error:
        raise _as_bad_setting(name, error) from None
    return {"name": name, "label": label, "points": points, "values": values, "targets": targets, "extras": extras}


def _name_and_settings(entry: Any, kind: str) -> tuple[str, dict[str, Any]]:
    """`name` or `{name: {settings}}` as a pair."""
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, Mapping) and len(entry) == 1:
        name, settings = next(iter(entry.items()))
        if settings is None or isinstance(settings, Mapping):
            return str(name), dict(settings or {})
    raise BadSetting(f"{kind} entry {entry!r:.80}: a name, or one name with a block of settings, is expected")


def settings_of(method: str) -> list[str]:
    """The keys that an entry of the method may have."""
    kind = registry.METHODS[method]
    own = {"values": kind.parameter is not None, "points": kind.parameter is not None, "targets": kind.is_constrained}
    return [*(key for key in OF_AN_ENTRY if own.get(key, method not in ALONE)), *known_settings(method)]


def settings_of_class(function_class: str) -> list[str]:
    """The keys that an entry of the function class may have."""
    return ["over", *declarations(registry.FUNCTION_CLASSES[function_class])]


def _expect_known(name: str, settings: Mapping[str, Any], known: Sequence[str], parameter: str | None = None) -> None:
    """Refuse a setting that the method or class of this name lacks."""
    for setting in map(str, settings):
        if setting in known:
            continue
        if parameter is not None and closest(setting, [parameter], LIKE_THE_PARAMETER):
            raise UnknownKey(
                f"unknown key; {parameter} is {name}'s parameter: `values` or `points` give it", name, setting
            )
        raise UnknownKey.among(setting, known, name)


def _as_bad_setting(name: str, error: mprlib.InputError) -> BadSetting:
    """The library's error as one of the setting that it names."""
    return BadSetting(f"{error}", *([name, error.setting] if isinstance(error, SettingError) and error.setting else []))


def _is_list_of_names(value: Any) -> bool:
    if not isinstance(value, (list, tuple)) or not all(isinstance(as_written(one), str) for one in value):
        return False
    return len(value) > 0 and len(set(map(as_written, value))) == len(value)


def _bind_to_vectors(instance: FunctionClass) -> None:
    """Try a class on vectors, which are fractions in several columns: some classes accept labels only."""
    vectors = np.linspace(-0.6, 0.8, 6).reshape(3, 2)
    instance.bind(mprlib.Problem(scores=np.array([0.3, 0.2, 0.1]), labels=vectors, reference=vectors, k=1))


def _points_and_values(method: type[Method], points: Any, values: Any) -> tuple[int | None, list[Any] | None]:
    """Points or values, or points and the chance level beside them; values are distinct and valid for the parameter."""
    if method.parameter is None:
        for key, given in (("points", points), ("values", values)):
            if given is not None:
                raise SettingError(f"{method.name} has no parameter: points and values do not apply", setting=key)
        return None, None
    if points is not None and values is not None and not (method.is_constrained and values == [CHANCE]):
        beside = f", or values [{CHANCE}] beside points" if method.is_constrained else ""
        raise SettingError(f"both points and values are given: one of them is expected{beside}", setting="values")
    if values is None:
        return DEFAULT_POINTS if points is None else checked(POINTS, "points", points), None
    if not isinstance(values, (list, tuple)) or not values:
        raise SettingError(f"values is {values!r:.80}: a list of numbers is expected", setting="values")
    try:
        found = method.checked_values(values)
    except SettingError as error:
        raise SettingError(str(error), setting="values") from None
    if len(set(found)) != len(found):
        raise SettingError(f"a value occurs twice in {found!r:.80}", setting="values")
    if not isinstance(method.value, Whole):
        found = [value if value == CHANCE else float(value) for value in found]
    return None if points is None else checked(POINTS, "points", points), found


def _checked_label(method: type[Method], label: Any) -> str:
    if method.name in ALONE:
        raise SettingError(f"{method.name} is what is audited, and has no other name: leave it out", setting="name")
    if isinstance(label, (bool, int, float)):
        written = str(label).lower() if isinstance(label, bool) else as_written(label)
        raise SettingError(f'a text is expected, got {written}: write "{written}", in quotes', setting="name")
    if not isinstance(label, str) or not LABEL.fullmatch(label) or not label.isprintable():
        expected = "up to 30 characters without spaces and brackets are expected"
        raise SettingError(f"name is {label!r:.80}: {expected}", setting="name")
    return label


def _checked_targets(method: type[Method], targets: Any) -> list[str]:
    if not method.is_constrained:
        raise SettingError(f"{method.name} constrains no function class: targets does not apply", setting="targets")
    if isinstance(targets, (list, tuple)) and not targets:
        raise SettingError("no targets: leave the setting out for all function classes", setting="targets")
    return texts_of("targets", [targets] if isinstance(targets, str) else targets, "names of function classes")
