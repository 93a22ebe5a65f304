"""What this machine has to compute embeddings with, and the number of threads that torch may use, without a model."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def torch_devices() -> dict[str, Any]:
    """torch's version, the CUDA version that it was built for (None: CPU only), names of the GPUs that it sees.

    Raises:  ImportError where torch is not installed.
    """
    import torch

    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return {"version": torch.__version__, "cuda": torch.version.cuda, "gpus": gpus}


def open_clip_version() -> str:
    """open_clip's version; its import takes torchvision along.

    Raises:  ImportError where one of them is not installed.
    """
    from jobs.encoders.torchvision_operators import make_importable

    make_importable()
    return importlib.import_module("open_clip").__version__


@contextmanager
def torch_on_one_thread() -> Iterator[None]:
    """Let torch use one thread, if it is loaded; one that is loaded within takes OMP_NUM_THREADS.

    torch must be told itself: the linear algebra library inside it keeps a count of its own, and vectors of a
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
