"""What is computed of one reference for one problem after the other, within a limit of memory.

Safe for threads. A value is what its key says, whoever made it and when: a thread may make one that another has just
made, or that was dropped, and nothing but time depends on it.

>>> kept = Kept()
>>> [kept.get("a", lambda: 1), kept.get("a", lambda: 2)]
[1, 1]
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

# Lotteries of 9,999 draws over a few hundred cells, a few times.
MOST_BYTES = 100_000_000
# What is no array: names and codes of groups, cells.
NOMINAL_BYTES = 50_000


class Kept:
    """The values that were asked for last, by key."""

    __slots__ = ("_bytes", "_lock", "_most", "_values")

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._bytes, self._most = 0, most_bytes

    def get(self, key: Hashable, build: Callable[[], T]) -> T:
        """What `build` returns, made at the first call or again where it was dropped."""
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
                value: T = found[0]
                return value
        # Outside the lock: other threads need not wait for what they do not ask for.
        value = build()
        self._keep(key, value)
        return value

    @property
    def nbytes(self) -> int:
        """Memory of what is kept, about."""
        return self._bytes

    def _keep(self, key: Hashable, value: Any) -> None:
        size = int(getattr(value, "nbytes", NOMINAL_BYTES))
        with self._lock:
            if key in self._values or size > self._most:
                return
            self._values[key] = (value, size)
            self._bytes += size
            while self._bytes > self._most:
                _, (_, dropped) = self._values.popitem(last=False)
                self._bytes -= dropped
