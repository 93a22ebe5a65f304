"""Exact search of shards: kernels by name, what survives a block, canonical scores and order."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np

from jobs.search import faiss_kernel, torch_kernel
from jobs.search.survivors import Survivors

# A kernel scores one array of rows for all queries and hands those that may survive to the collector.
Kernel = Callable[[np.ndarray, np.ndarray, Survivors], None]

KERNELS: dict[str, Kernel] = {"faiss": faiss_kernel.search, "torch": torch_kernel.search}
# From this depth on torch is the faster one on a CPU: FAISS keeps a heap a query, whose cost grows with the depth
# (`python -m tests.benchmarks.prefilter` times both).
TORCH_DEPTH = 100


def kernel(backend: str, depth: int) -> Kernel:
    """The kernel of a backend; auto chooses by what is installed, the device and the depth.

    On a GPU auto takes torch at any depth: FAISS refuses more than 2,048 there, and here it runs on CPUs only.
    """
    if backend != "auto":
        return KERNELS[backend]
    installed = [name for name in KERNELS if importlib.util.find_spec(name)]
    if "torch" in installed and (depth >= TORCH_DEPTH or "faiss" not in installed or torch_kernel.has_gpu()):
        return KERNELS["torch"]
    return KERNELS["faiss"]
