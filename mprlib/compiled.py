"""Functions of plain loops over arrays, compiled to machine code at their first call and cached on disk.

Modules of such functions are imported where they are called, not at the top of a module: loading the compiler
takes longer than importing the library. Sums are in the order that is written, by one thread: results do not
depend on the number of cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function in machine code. It takes arrays, numbers and named tuples of them."""
    # Python's check of every division for a zero divisor would cost a branch in the innermost loops.
    return cast(Function, njit(function, cache=True, error_model="numpy"))
