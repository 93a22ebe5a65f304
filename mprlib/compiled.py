"""Functions of plain loops over arrays, compiled to machine code at their first call and cached on disk.

Modules of such functions are imported where they are called, not at the top of a module: loading the compiler
takes longer than importing the library. Sums are in the order that is written, by one thread: results do not
depend on the number of cores.

Compiling takes seconds once, and is kept in the user's cache (`~/.cache/mprlib`, or NUMBA_CACHE_DIR) under a hash of
the code of the functions' module and of those that it names. So a copy of the library elsewhere, as every job of a
cluster gets one, finds what another has compiled, code that one of them calls in another file never stays behind, and a
version in which few modules changed compiles these alone.

A function that another one calls is compiled as a part of it. Numba by itself would also make machine code of it alone,
and of a way to call it from Python, which nobody uses. Where Python has called it before, what that compiled is used.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import types
from numba._dynfunc import make_function
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering

Function = TypeVar("Function", bound=Callable[..., Any])

# Every module of compiled functions is called so, by a name of its own: their contents name the cache.
KERNELS = "*_kernel.py"
NAMED = re.compile(r"\b\w+_kernel\b")


# Every function of this process that is, or may become, machine code.
_FUNCTIONS: list[Any] = []


@dataclass(frozen=True, kw_only=True, slots=True)
class Compilation:
    """What this process has compiled: functions, each for the types that it was called with, that no earlier one had
    left; is_kept: whether later processes find them."""

    functions: int
    is_kept: bool


def compilation() -> Compilation:
    """What this process has compiled until now."""
    found = [function.stats for function in _FUNCTIONS]
    misses = [(sum(one.cache_misses.values()), one.cache_path is not None) for one in found]
    return Compilation(
        functions=sum(count for count, _ in misses), is_kept=all(is_kept for count, is_kept in misses if count)
    )


class _Locator(UserWideCacheLocator):
    """Files of a function in the user's cache, wherever its module is."""

    def __init__(self, function: Function, module: str) -> None:
        super().__init__(function, module)  # type: ignore[no-untyped-call]  # numba has no types
        self._cache_path = str(_folder(Path(module).stem))


class _Files(CompileResultCacheImpl):
    _locator_classes = [UserProvidedCacheLocator, _Locator, InTreeCacheLocator]


class _Cache(FunctionCache):
    _impl_class = _Files


class _PartCode(JITCodeLibrary):
    """A function's optimised code, and that of those which it calls, to be part of the caller's.

    Unoptimised it would be too long to be inlined: searches that call small functions took three times as long.
    """

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]  # numba has no types
class _PartLowering(NativeLowering):
    """Code of a function that only compiled ones call, without machine code of its own."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        codegen, name = state.targetctx.codegen(), state.func_id.func_name
        state.library = _PartCode(codegen, state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        state.flags.no_compile = True
        super().run_pass(state)  # type: ignore[no-untyped-call]
        found = state.cr.fndesc
        # Numba knows a function by an object that Python could call; nobody calls this one, which is of no address.
        handle = make_function(found.lookup_module(), name, "", 0, state.cr.env, (state.library,))
        state.targetctx.insert_user_function(handle, found, [state.library])
        state.cr = state.cr._replace(cfunc=handle)
        return True


class _PartCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        passes.passes = [(_PartLowering if one is NativeLowering else one, said) for one, said in passes.passes]
        passes.finalize()
        return [passes]


class _Part(CPUDispatcher):
    """A function as other compiled functions call it."""

    entry: Any

    def compile(self, sig: Any) -> Any:
        """Numba's own, but for what Python has called before."""
        arguments, _ = normalize_signature(sig)  # type: ignore[no-untyped-call]  # numba has no types
        if arguments not in self.overloads and arguments in self.entry.overloads:
            self.add_overload(self.entry.overloads[arguments])
        return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        # Else a call with a constant would compile the function anew for that constant.
        plain: Callable[[Any], Any] = types.unliteral
        return super().get_call_template([plain(one) for one in args], {name: plain(one) for name, one in kws.items()})


class _Entry(CPUDispatcher):
    """A function as Python calls it; other compiled functions that name it call its part."""

    _cache: FunctionCache

    def __init__(self, py_func: Function, targetoptions: dict[str, Any]) -> None:
        super().__init__(py_func, targetoptions=targetoptions)
        self._part = _Part(
            py_func, targetoptions={**targetoptions, "no_cpython_wrapper": True}, pipeline_class=_PartCompiler
        )
        self._part.entry = self

    def compile(self, sig: Any) -> Any:
        """Numba's own, without looking for garbage meanwhile."""
        with _without_collection():
            return super().compile(sig)

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self._part)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Compiling makes millions of objects that are all in use: to look for cycles among them takes a tenth of its
    time."""
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()


def compiled(function: Function) -> Function:
    """The function in machine code. It takes arrays, numbers and named tuples of them."""
    return _in_machine_code(function)


def uncounted(function: Function) -> Function:
    """The same of a function that makes no arrays and returns none: it takes those of its caller without counting them.

    To count references is an atomic operation for every array at every call and slice, and takes longer than what a
    small function does.
    """
    return _in_machine_code(function, _nrt=False)


def _in_machine_code(function: Function, **options: bool) -> Function:
    # Python's check of every division for a zero divisor would cost a branch in the innermost loops. Arrays are the
    # caller's own, so that other threads may run meanwhile. No function is given to another one as an argument.
    fixed = {"nopython": True, "error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
    found = _Entry(function, {**fixed, **options})
    # Where nothing can be written, each process compiles for itself.
    with suppress(RuntimeError, OSError):
        found._cache = _Cache(function)  # type: ignore[no-untyped-call]  # numba has no types
    _FUNCTIONS.append(found)
    return cast(Function, found)


@cache
def _folder(module: str) -> Path:
    """The folder of what is compiled of a module."""
    digest, sources = hashlib.sha256(), _sources()
    digest.update(Path(__file__).read_bytes())
    for name in sorted(_reached(module, sources)):
        digest.update(sources[name].encode())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "mprlib" / digest.hexdigest()[:16]


@cache
def _sources() -> dict[str, str]:
    """The code of every module of compiled functions, by its name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob(KERNELS)}


def _reached(module: str, sources: dict[str, str]) -> set[str]:
    """A module and those that it names, and those that they name."""
    found, open_ = set[str](), {module}
    while open_:
        name = open_.pop()
        found.add(name)
        open_ |= (set(NAMED.findall(sources[name])) & set(sources)) - found
    return found
