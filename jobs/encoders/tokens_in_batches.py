"""Tokens of texts in batches whose shapes depend on no other text.

Kernels, and so the last bits of a vector, follow from a batch's shape. A text of n tokens is padded to the next
multiple of `STEP`, among texts of the same padded length, and every batch is filled up to the same number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

# Tokens. Kernels work on numbers in groups of up to sixteen: at such widths no vector ends in a group that is not full.
STEP = 16


def filled_batches(tokens: Mapping[str, Any], rows: int) -> Iterator[tuple[np.ndarray, dict[str, Any]]]:
    """Places of some texts (n,), n at most `rows`, and their tokens (rows, width), the first text's in rows that are
    left over.

    tokens: what a tokeniser says of all texts, one a row, padded at the end: `attention_mask` and others like it;
    what is no tensor is of all texts.
    """
    lengths = tokens["attention_mask"].sum(dim=1).numpy()
    widths = -(-lengths // STEP) * STEP
    for width in np.unique(widths):
        places = np.flatnonzero(widths == width)
        for start in range(0, places.size, rows):
            own = places[start : start + rows]
            filled = np.concatenate([own, np.repeat(own[:1], rows - own.size)])
            yield (
                own,
                {
                    name: _padded(column, filled, int(width)) if isinstance(column, torch.Tensor) else column
                    for name, column in tokens.items()
                },
            )


def _padded(column: torch.Tensor, places: np.ndarray, width: int) -> torch.Tensor:
    """Rows of a column, cut or filled with zeros to a width: the model does not look behind a text's end."""
    batch = torch.zeros((places.size, width), dtype=column.dtype)
    known = min(width, column.shape[1])
    batch[:, :known] = column[torch.from_numpy(places), :known]
    return batch
