"""What this machine has to compute embeddings with, as known before anything is run."""

from __future__ import annotations

from typing import Any


def torch_devices() -> dict[str, Any]:
    """torch's version, the CUDA version that it was built for (None: CPU only), names of the GPUs that it sees.

    Raises:  ImportError where torch is not installed.
    """
    import torch

    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return {"version": torch.__version__, "cuda": torch.version.cuda, "gpus": gpus}
