"""Functions fit a screen: the lengths of their bodies and the numbers of their parameters are bounded.

A body's length is its number of lines without docstring, comments and blank lines.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_AT_MEDIAN, MOST_AT_NINETIETH_PERCENTILE = 6, 20
MOST_LINES, MOST_PARAMETERS = 60, 8
# What a user says of two data frames in one call, a keyword each; whoever adds one more should find an object for them.
PUBLIC_PARAMETERS = {"mprlib/problem.py:from_frames": 9}
EACH_PACKAGE = pytest.mark.parametrize("package", ["mprlib", "jobs"])

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def functions(package: str) -> list[tuple[str, int, int]]:
    """Name, lines of the body and number of parameters of every function, those within functions too."""
    return [(name, body_length(lines, node), parameter_count(node)) for name, lines, node in trees(package)]


def trees(package: str) -> Iterator[tuple[str, list[str], Function]]:
    """Name, lines of the file, and tree of every function."""
    for path in sorted((ROOT / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                yield f"{path.relative_to(ROOT)}:{node.name}", text.splitlines(), node


def body_length(lines: list[str], function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    written = lines[body[0].lineno - 1 : body[-1].end_lineno] if body else []
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in written)


def parameter_count(function: Function) -> int:
    """Parameters but `self` and `cls`."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


@EACH_PACKAGE
def test_most_functions_are_short(package):
    sizes = {name: length for name, length, _ in functions(package)}
    longest = sorted(sizes.items(), key=lambda item: -item[1])[: len(sizes) // 10]
    assert np.median(list(sizes.values())) <= MOST_AT_MEDIAN
    assert np.percentile(list(sizes.values()), 90) <= MOST_AT_NINETIETH_PERCENTILE, longest


@EACH_PACKAGE
def test_no_function_is_long_or_takes_many_parameters(package):
    sizes = {name: (length, parameters) for name, length, parameters in functions(package)}
    offenders = {
        name: f"{length} lines, {parameters} parameters"
        for name, (length, parameters) in sizes.items()
        if length > MOST_LINES or parameters > PUBLIC_PARAMETERS.get(name, MOST_PARAMETERS)
    }
    assert not offenders
