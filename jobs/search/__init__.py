"""Exact search of shards: kernels by name, what survives a block, canonical scores and order."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable

import numpy as np

from . import faiss_kernel, torch_kernel
from .survivors import Survivors

# A kernel scores arrays of rows for all queries and hands those that may survive to the collector.
Kernel = Callable[[Iterable[np.ndarray], np.ndarray, Survivors], None]

KERNELS: dict[str, Kernel] = {"faiss": faiss_kernel.search, "torch": torch_kernel.search}


def kernel(backend: str) -> Kernel:
    """The kernel of a backend; auto takes torch where it is installed, else FAISS.

    No choice by depth is needed: on a CPU torch was the faster one at every depth from 1 to 10,000
    (`python -m tests.benchmarks.prefilter` times both), and on a GPU it takes any depth where FAISS refuses
    more than 2,048, so FAISS searches on CPUs only.
    """
    if backend == "auto":
        backend = "torch" if importlib.util.find_spec("torch") else "faiss"
    return KERNELS[backend]
