"""Top rows of a shard by one matrix product and a partial sort in torch."""

from __future__ import annotations

import numpy as np


def top(vectors: np.ndarray, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (q, depth) and float32 scores (q, depth), best first.

    Shapes:  vectors (n, d) and queries (q, d), float32; depth at most n.
    """
    try:
        import torch
    except ImportError as error:
        raise ImportError("prefilter backend torch needs torch: pip install 'mprlib[cpu]'") from error
    with torch.inference_mode():
        products = torch.from_numpy(np.array(queries)) @ torch.from_numpy(np.array(vectors)).T
        scores, positions = torch.topk(products, depth, dim=1, sorted=True)
    return positions.numpy(), scores.numpy()
