"""Numbers in pickle files, without running anything that a file names.

A pickle is a programme for a small stack machine, which may call any function. Here its instructions are read one by
one, and those that build dictionaries, lists, texts, numbers and arrays of numbers are followed; whatever else a file
asks for is refused by name. No function of numpy's is called on what a file says but `frombuffer` with a checked type.

>>> import pickle
>>> read(pickle.dumps({"MPR": [0.5, np.float64(0.25)], "indices": np.array([0.0, 1.0])}))
{'MPR': [0.5, 0.25], 'indices': array([0., 1.])}
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

# Types of array elements: whole numbers, truth values and floating point, at most 8 bytes.
KINDS, SIZES = "biuf", ("1", "2", "4", "8")
# Where numpy 1 and 2 keep what an array is made by.
MODULES = ("numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric")
MOST_NUMBERS = 100_000_000
MOST_VALUES = 200_000


class NotData(Exception):
    """What a file holds beside numbers, or that it is damaged, in a few words."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A function or class that the file names: never looked up."""

    name: str


@dataclass(slots=True)
class _Type:
    """The type of an array's elements, as numpy writes it, and its order of bytes."""

    code: str
    order: str = "<"

    def dtype(self) -> np.dtype[Any]:
        if len(self.code) != 2 or self.code[0] not in KINDS or self.code[1] not in SIZES:
            raise NotData(f"an array of type {self.code!r:.40}")
        return np.dtype(f"{self.order if self.order in '<>' else '='}{self.code}")


@dataclass(slots=True)
class _Array:
    """An array whose content is still to come."""

    content: np.ndarray | None = None


@dataclass(slots=True)
class _Machine:
    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def above_mark(self) -> list[Any]:
        start = self.marks.pop()
        above = self.stack[start:]
        del self.stack[start:]
        return above

    def last(self, count: int) -> tuple[Any, ...]:
        if len(self.stack) < count:
            raise NotData("a damaged file")
        above = tuple(self.stack[len(self.stack) - count :])
        del self.stack[len(self.stack) - count :]
        return above


def read(data: bytes) -> Any:
    """What a pickle holds: dictionaries, lists, tuples, texts, numbers, arrays.

    Raises:  NotData for anything else.
    """
    machine = _Machine()
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name == "STOP":
                return _plain(machine.stack[-1], count())
            _step(machine, opcode.name, argument)
    except NotData:
        raise
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise NotData("a damaged file") from None
    raise NotData("a damaged file")


def _step(machine: _Machine, name: str, argument: Any) -> None:
    if name in CONSTANTS:
        machine.stack.append(CONSTANTS[name]())
    elif name in VALUES:
        machine.stack.append(bytes(argument) if isinstance(argument, bytearray) else argument)
    elif name in ACTIONS:
        ACTIONS[name](machine, argument)
    elif name not in ("PROTO", "FRAME"):
        raise NotData(f"the instruction {name}")


CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}
VALUES = {
    "BININT", "BININT1", "BININT2", "INT", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8",
    "SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8", "STRING", "BINSTRING", "SHORT_BINSTRING",
}  # fmt: skip


def _append(machine: _Machine, items: list[Any]) -> None:
    machine.stack[-1].extend(items)


def _put_items(machine: _Machine, items: list[Any]) -> None:
    machine.stack[-1].update(zip(items[::2], items[1::2], strict=True))


def _name(machine: _Machine, module: str, name: str) -> None:
    machine.stack.append(_Named(f"{module}.{name}"))


def _reduce(machine: _Machine, _: Any) -> None:
    called, arguments = machine.last(2)
    machine.stack.append(_made(called, arguments))


def _made(called: Any, arguments: tuple[Any, ...]) -> Any:
    """What a call would give, of the few that numbers are written with."""
    if not isinstance(called, _Named):
        raise NotData("a call of what is no name")
    module, _, function = called.name.rpartition(".")
    if called.name == "__builtin__.bytes" and not arguments:
        return b""
    if called.name == "numpy.dtype":
        return _Type(code=str(arguments[0]))
    if called.name == "_codecs.encode" and arguments[1:] in (("latin1",), ("latin-1",)):
        return arguments[0].encode("latin1")
    if module in MODULES and function == "_reconstruct" and arguments[0] == _Named("numpy.ndarray"):
        return _Array()
    if module in MODULES and function == "scalar":
        return _numbers(arguments[1], arguments[0], (1,), "C")[0].item()
    if module in MODULES and function == "_frombuffer":
        return _numbers(arguments[0], arguments[1], arguments[2], arguments[3])
    raise NotData(f"{called.name!r:.80}, which is no number and is not run")


def _build(machine: _Machine, _: Any) -> None:
    (state,) = machine.last(1)
    built = machine.stack[-1]
    if isinstance(built, _Type):
        built.order = str(state[1])
    elif isinstance(built, _Array):
        _, shape, element, is_fortran, data = state
        built.content = _numbers(data, element, shape, "F" if is_fortran else "C")
    else:
        raise NotData("an object with a state of its own")


def _numbers(data: Any, element: Any, shape: Any, order: str) -> np.ndarray:
    if not isinstance(data, bytes) or not isinstance(element, _Type):
        raise NotData("an array of objects")
    if len(data) > MOST_NUMBERS * 8:
        raise NotData("an array of more than 100 million numbers")
    found: np.ndarray = np.frombuffer(data, element.dtype()).reshape(shape, order="F" if order == "F" else "C")
    return found


def _stack_global(machine: _Machine, _: Any) -> None:
    module, name = machine.last(2)
    _name(machine, module, name)


ACTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "MARK": lambda machine, _: machine.marks.append(len(machine.stack)),
    "APPEND": lambda machine, _: _append(machine, list(machine.last(1))),
    "APPENDS": lambda machine, _: _append(machine, machine.above_mark()),
    "LIST": lambda machine, _: machine.stack.append(machine.above_mark()),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.above_mark())),
    "TUPLE1": lambda machine, _: machine.stack.append(machine.last(1)),
    "TUPLE2": lambda machine, _: machine.stack.append(machine.last(2)),
    "TUPLE3": lambda machine, _: machine.stack.append(machine.last(3)),
    "SETITEM": lambda machine, _: _put_items(machine, list(machine.last(2))),
    "SETITEMS": lambda machine, _: _put_items(machine, machine.above_mark()),
    "MEMOIZE": lambda machine, _: machine.memo.update({len(machine.memo): machine.stack[-1]}),
    "PUT": lambda machine, place: machine.memo.update({int(place): machine.stack[-1]}),
    "BINPUT": lambda machine, place: machine.memo.update({place: machine.stack[-1]}),
    "LONG_BINPUT": lambda machine, place: machine.memo.update({place: machine.stack[-1]}),
    "GET": lambda machine, place: machine.stack.append(machine.memo[int(place)]),
    "BINGET": lambda machine, place: machine.stack.append(machine.memo[place]),
    "LONG_BINGET": lambda machine, place: machine.stack.append(machine.memo[place]),
    "GLOBAL": lambda machine, both: _name(machine, *both.split(" ", 1)),
    "STACK_GLOBAL": _stack_global,
    "REDUCE": _reduce,
    "BUILD": _build,
}


def _plain(value: Any, seen: Iterator[int]) -> Any:
    """The value with its arrays in their places. seen counts: a short file may name one list many times over."""
    if next(seen) > MOST_VALUES:
        raise NotData("more than 200,000 values")
    if isinstance(value, _Array):
        if value.content is None:
            raise NotData("a damaged file")
        return value.content
    if isinstance(value, dict):
        return {key: _plain(one, seen) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(one, seen) for one in value)
    if isinstance(value, (_Named, _Type)):
        raise NotData("a name in the place of a number")
    return value
