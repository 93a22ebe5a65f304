"""Exact search of a shard: kernels by name, canonical scores, canonical merge."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np

from jobs.search import faiss_kernel, torch_kernel

# A kernel gives, for each query, the positions (depth,) of its best rows and their scores.
Kernel = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]

KERNELS: dict[str, Kernel] = {"faiss": faiss_kernel.top, "torch": torch_kernel.top}


def kernel(backend: str) -> Kernel:
    """The kernel of a backend; auto takes faiss where it is installed."""
    if backend == "auto":
        backend = "faiss" if importlib.util.find_spec("faiss") else "torch"
    return KERNELS[backend]
