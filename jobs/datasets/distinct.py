"""Ids that occur in several parts: sorted 64-bit hashes of each, looked at in ranges, so that memory is bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

# Hashes of all parts that are sorted together.
HASHES_AT_ONCE = 8_000_000


def repeated_hashes(files: Sequence[Path]) -> Iterator[np.ndarray]:
    """Hashes that occur more than once among those of all files, range after range; none where all ids differ."""
    parts = [np.load(file, mmap_mode="r") for file in files]
    ranges = max(1, sum(part.size for part in parts) // HASHES_AT_ONCE)
    edges = np.linspace(0, 2.0**64, ranges + 1)[1:-1].astype(np.uint64)
    cuts = [[0, *np.searchsorted(part, edges).tolist(), part.size] for part in parts]
    for place in range(ranges):
        together = np.sort(np.concatenate([part[cut[place] : cut[place + 1]] for part, cut in zip(parts, cuts)]))
        found = np.unique(together[1:][together[1:] == together[:-1]])
        if found.size:
            yield found


def holds_any(file: Path, hashes: np.ndarray) -> bool:
    """Whether a file of sorted hashes has any of these."""
    part = np.load(file, mmap_mode="r")
    places = np.minimum(np.searchsorted(part, hashes), part.size - 1)
    return bool(part.size and (part[places] == hashes).any())
