"""What the library offers its callers: every name of `mprlib`, by kind, with the examples that are shown of it."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import mprlib
import mprlib.probes
import mprlib.statistics
import mprlib.warm_up
from mprlib.function_classes.base import FunctionClass
from mprlib.method import Method

# Modules of their own that callers import, beside what `mprlib` exports.
MODULES: tuple[ModuleType, ...] = (mprlib.metrics, mprlib.statistics, mprlib.probes, mprlib.warm_up)


@dataclass(frozen=True, kw_only=True, slots=True)
class Public:
    """A class or function that callers may use, by the name that they use."""

    name: str
    value: Any

    @property
    def is_class(self) -> bool:
        """Whether it is a class, which may have methods of its own."""
        return inspect.isclass(self.value)

    @property
    def module(self) -> ModuleType:
        """Where it is written."""
        module = inspect.getmodule(self.value)
        assert module is not None
        return module

    def members(self) -> Iterator[Public]:
        """Public methods and properties that a class itself defines, in the order of the source."""
        for name, value in vars(self.value).items() if self.is_class else ():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if not name.startswith("_") and inspect.isfunction(function):
                yield Public(name=f"{self.name}.{name}", value=value if isinstance(value, property) else function)


def exported(module: ModuleType = mprlib) -> list[Public]:
    """Classes and functions of a module's `__all__`, or what it defines where it has none."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
    ]
    found = [Public(name=f"{module.__name__}.{name}", value=getattr(module, name)) for name in names if name[0] != "_"]
    return [one for one in found if one.is_class or inspect.isfunction(one.value)]


def every_name() -> list[Public]:
    """All of them."""
    return [*exported(), *(one for module in MODULES for one in exported(module))]


def kind_of(one: Public) -> str:
    """The chapter of the reference that a name of `mprlib` is in."""
    if not one.is_class:
        return "functions"
    if issubclass(one.value, (Exception, Warning)):
        return "errors"
    if issubclass(one.value, Method):
        return "methods"
    return "function classes" if issubclass(one.value, FunctionClass) else "objects"


def stands_for_its_module(one: Public) -> bool:
    """Whether the first lines of the module are about this name: a method or a class has a file of its own."""
    return kind_of(one) in ("methods", "function classes")


def examples(one: Public) -> list[doctest.Example]:
    """The lines of its docstring that run; for a method or a function class those of its module as well."""
    texts = [inspect.getdoc(one.value) or ""]
    if stands_for_its_module(one):
        texts.append(inspect.getdoc(one.module) or "")
    return [example for text in texts for example in doctest.DocTestParser().get_examples(text)]
