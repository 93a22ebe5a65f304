"""How many threads torch may use, where a process that is not the encoder's own holds it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def torch_on_one_thread() -> Iterator[None]:
    """Let torch use one thread, if it is loaded; one that is loaded within takes OMP_NUM_THREADS.

    torch has a setting of its own: the linear algebra library inside it keeps a count of its own, and vectors of a
    process with two different counts differ in their last bits from those of either.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
