"""What this machine has to compute embeddings with, for whoever asks before anything is run."""

from __future__ import annotations

import importlib
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
