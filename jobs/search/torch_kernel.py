"""Rows of a shard by one matrix product per block and a filter against the running cut, on CPU or GPU."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from .survivors import Survivors, require_finite

if TYPE_CHECKING:
    import torch

# Bytes of one block of scores: on a CPU they should stay in cache until they are filtered, on a GPU a block
# should be long enough to fill it.
CPU_SCORE_BYTES = 16 * 2**20
GPU_SCORE_BYTES = 256 * 2**20
# Shorter blocks spend their time on being started.
LEAST_ROWS = 4096


def search(arrays: Iterable[np.ndarray], queries: np.ndarray, survivors: Survivors) -> None:
    """Hand every row that reaches its query's limit to the collector.

    Shapes:  arrays (n, d) each, float32 or float16, not copied on a CPU but for a block of float16; queries (q, d)
             float32. Products are float32.
    Raises:  NotFiniteError for a row that is not finite.
    """
    try:
        import torch
    except ImportError as error:
        raise ImportError("prefilter backend torch needs torch: pip install 'mprlib[cpu]'") from error
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    most = max(LEAST_ROWS, (CPU_SCORE_BYTES if device.type == "cpu" else GPU_SCORE_BYTES) // (4 * max(1, len(queries))))
    filtered = _filter_here if device.type == "cpu" else _filter_there
    with torch.inference_mode():
        asked = torch.from_numpy(np.array(queries, dtype=np.float32)).to(device)
        numbers, scores = _Room(device), _Room(device)
        for vectors in arrays:
            start = 0
            while start < len(vectors):
                # Blocks double with what was seen: the first rows set a limit before many are compared with it.
                stop = start + min(most, max(LEAST_ROWS, survivors.seen + start))
                block = _in_float32(_tensor(vectors[start:stop]), numbers)
                products = torch.matmul(asked, block.T, out=scores.shaped(len(asked), len(block)))
                filtered(products, start, survivors)
                start = stop
            survivors.advance(len(vectors))


class _Room:
    """Memory of one block after the other: what is asked for and given back for each leaves holes between the few
    scores that survive, which grow with the rows."""

    def __init__(self, device: torch.device) -> None:
        import torch

        self._numbers = torch.empty(0, device=device)

    def shaped(self, rows: int, columns: int) -> torch.Tensor:
        """Room for so many numbers; what it held before is lost."""
        if self._numbers.numel() < rows * columns:
            self._numbers = self._numbers.new_empty(rows * columns)
        return self._numbers[: rows * columns].view(rows, columns)

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self._numbers.device


def _in_float32(rows: torch.Tensor, room: _Room) -> torch.Tensor:
    """The rows where they are looked at: as they are where they are there in float32 already."""
    import torch

    if rows.dtype == torch.float32 and rows.device == room.device:
        return rows
    return room.shaped(*rows.shape).copy_(rows)


def _tensor(rows: np.ndarray) -> torch.Tensor:
    """The rows without a copy; mapped ones are read-only, which torch remarks though nothing writes here."""
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(rows)


def _filter_here(products: torch.Tensor, start: int, survivors: Survivors) -> None:
    """On a CPU numpy finds the few rows above a limit several times faster than torch."""
    scores = products.numpy()
    require_finite(scores[0], survivors.seen + start)
    for query, row in enumerate(scores):
        positions = np.flatnonzero(row >= survivors.limits[query])
        if positions.size:
            survivors.add(query, positions + start, row[positions])


def _filter_there(products: torch.Tensor, start: int, survivors: Survivors) -> None:
    """On a GPU the block is filtered in its memory, and only survivors are copied."""
    import torch

    require_finite(products[0].cpu().numpy(), survivors.seen + start)
    is_kept = products >= torch.from_numpy(survivors.limits).to(products.device)[:, None]
    kept = is_kept.nonzero(as_tuple=True)
    scores = products[kept].cpu().numpy()
    query, positions = (one.cpu().numpy() for one in kept)
    edges = np.searchsorted(query, np.arange(len(products) + 1))
    for number, (low, high) in enumerate(itertools.pairwise(edges)):
        if high > low:
            survivors.add(number, positions[low:high] + start, scores[low:high])
