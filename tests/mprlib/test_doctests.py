"""The examples in the optimisers' docstrings run, and every method with a rho has one."""

import doctest
import importlib
from pathlib import Path

import pytest

from mprlib import METHODS

FOLDER = Path(__file__).resolve().parents[2] / "mprlib/optimisers"
NAMES = [f"mprlib.optimisers.{path.stem}" for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.is_constrained])
def test_every_method_with_a_rho_has_an_example(name):
    module = importlib.import_module(METHODS[name].sweep.__module__)
    [tests] = [found for found in doctest.DocTestFinder(recurse=False).find(module)]
    assert f'"{name}"' in "".join(example.source for example in tests.examples)
