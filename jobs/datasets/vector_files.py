"""Vectors in .npy files that are mapped, never loaded whole: numbered parts, one row per item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageError
from ..words import shortened

# Float64: wider floats are a machine's own.
LARGEST_NUMBER_BYTES = 8
_NUMBER = re.compile(r"(\d+)\.\w+$")


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorFiles:
    """Parts in the order of their numbers; row r of the whole is row r - starts[i] of the part i that holds it."""

    paths: tuple[str, ...]
    starts: tuple[int, ...]
    rows: int
    width: int

    def holding(self, rows: np.ndarray) -> VectorFiles:
        """Only the parts that hold some of these rows; numbers of rows stay as they are."""
        parts = np.unique(self._parts_of(rows)).tolist()
        return replace(
            self,
            paths=tuple(self.paths[part] for part in parts),
            starts=tuple(self.starts[part] for part in parts),
        )

    def to_json(self) -> dict[str, Any]:
        """The fields, for a unit's spec."""
        return asdict(self)

    def _parts_of(self, rows: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.starts, rows, side="right") - 1

    def take(self, rows: np.ndarray) -> np.ndarray:
        """The vectors (n, d) of these rows; only pages that hold them are read.

        In the widest of the parts' numbers, which holds each value as it is: a row never depends on its neighbours.
        """
        part_of = self._parts_of(rows)
        parts = {part: _mapped(self.paths[part]) for part in np.unique(part_of).tolist()}
        numbers = np.result_type(*(vectors.dtype for vectors in parts.values())) if parts else np.dtype(np.float32)
        gathered = np.empty((rows.size, self.width), dtype=numbers)
        for part, vectors in parts.items():
            inside = part_of == part
            gathered[inside] = vectors[rows[inside] - self.starts[part]]
        return gathered


def _mapped(path: str | Path) -> np.memmap:
    """The array of a file, whose pages are read when they are looked at; never a pickle, never an archive of arrays."""
    return np.lib.format.open_memmap(path, mode="r")


def numbered(folder: Path, suffix: str) -> dict[int, Path]:
    """Files of a folder by the number that ends their name: 2 comes before 10.

    Raises:  UsageError when two have the same number.
    """
    found: dict[int, Path] = {}
    for path in sorted(folder.glob(f"*{suffix}")):
        number = _NUMBER.search(path.name)
        if number is None:
            continue
        if int(number[1]) in found:
            raise UsageError(f"{folder} holds two parts of number {int(number[1])}: {path.name} and another")
        found[int(number[1])] = path
    return dict(sorted(found.items()))


def open_files(paths: Sequence[Path]) -> tuple[VectorFiles, list[int]]:
    """The vectors of some parts, and how many rows each has; only headers are read.

    Raises:  UsageError naming the file that is no matrix of numbers, or is not as wide as the first.
    """
    sizes: list[int] = []
    width = None
    for path in paths:
        try:
            vectors = _mapped(path)
        except Exception as error:  # noqa: BLE001 - a damaged header raises whatever Python's own parser does
            raise UsageError(f"{path} cannot be read: {shortened(error, 200)}") from None
        if vectors.ndim != 2 or vectors.dtype.kind != "f" or vectors.dtype.itemsize > LARGEST_NUMBER_BYTES:
            raise UsageError(f"{path} holds {vectors.dtype} of shape {vectors.shape}: rows of floats are expected")
        size_bytes = path.stat().st_size - vectors.offset
        if size_bytes != vectors.nbytes:
            raise UsageError(f"{path} holds {size_bytes:,} bytes of numbers, and its header says {vectors.nbytes:,}")
        if vectors.shape[1] == 0:
            raise UsageError(f"{path} holds vectors of no numbers")
        if width is not None and vectors.shape[1] != width:
            raise UsageError(f"{path} holds vectors of {vectors.shape[1]} numbers, {paths[0]} of {width}")
        width = vectors.shape[1]
        sizes.append(vectors.shape[0])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
    files = VectorFiles(
        paths=tuple(str(path) for path in paths), starts=tuple(starts[:-1]), rows=starts[-1], width=width or 0
    )
    return files, sizes
