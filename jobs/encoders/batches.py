"""Rows through a tower in batches of one shape, and its raw vectors to unit ones.

Kernels, and so the last bits of a vector, follow from a batch's shape: with every batch filled up to the
same number of rows, a row's vector depends neither on how many there are nor on what is beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from ..images.errors import Reason
from .towers import Tower


def unit_rows(rows: Iterable[np.ndarray], batch: int, tower: Tower, width: int) -> np.ndarray:
    """Vectors (n, width) float32 of length 1.

    A row that is no direction shows it: zeros stay zeros, and what is not finite is NaN throughout.
    """
    outputs, count = [], 0
    with torch.inference_mode():
        for filled, filled_rows in _batches(rows, batch):
            # Nothing waits for a GPU here: the next batch is gathered while it works.
            outputs.append(tower(torch.from_numpy(filled)))
            count += filled_rows
        if not outputs:
            return np.empty((0, width), dtype=np.float32)
        vectors = torch.cat(outputs)[:count].float().cpu().numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths == 0, 1, lengths)
    # A length beyond float32 would leave zeros, which are something else.
    vectors[~(np.isfinite(vectors).all(axis=1) & np.isfinite(lengths[:, 0]))] = np.nan
    return vectors


def fault_of(vector: np.ndarray) -> Reason | None:
    """Why one of `unit_rows` cannot be used."""
    if not np.isfinite(vector).all():
        return Reason.NOT_FINITE
    return None if vector.any() else Reason.NO_DIRECTION


def _batches(rows: Iterable[np.ndarray], batch: int) -> Iterator[tuple[np.ndarray, int]]:
    """Batches of rows, the last one filled up with its first row, and how many rows are its own."""
    gathered: list[np.ndarray] = []
    for row in rows:
        gathered.append(row)
        if len(gathered) == batch:
            yield np.stack(gathered), batch
            gathered = []
    if gathered:
        yield np.stack(gathered + [gathered[0]] * (batch - len(gathered))), len(gathered)
