"""The examples in the library's docstrings run, and every method with a rho has one."""

import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

from mprlib import METHODS

ROOT = Path(__file__).resolve().parents[2]
MODULES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted((ROOT / "mprlib").rglob("*.py"))]
NAMES = [name for name in MODULES if not name.endswith("__init__")]


def tried(module: ModuleType) -> int:
    """How many lines of examples a module has, all of which print what they say."""
    found = doctest.testmod(module)
    assert found.failed == 0
    return found.attempted


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_run(name):
    tried(importlib.import_module(name))


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.is_constrained])
def test_every_method_with_a_rho_has_an_example(name):
    module = importlib.import_module(METHODS[name].__module__)
    [tests] = list(doctest.DocTestFinder(recurse=False).find(module))
    assert f'"{name}"' in "".join(example.source for example in tests.examples)
