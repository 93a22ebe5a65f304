"""Probabilities of levels that columns hold, each item's checked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ..errors import UsageError
from .block import Dataset
from .columns import numbers
from .part import PROBABILITIES
from .source import Source

# Probabilities are written with a few digits.
SUM_TOLERANCE = 1e-2


def probability_columns(block: Dataset, source: Source) -> Iterator[tuple[str, pa.Array]]:
    """A column of lists for each attribute whose levels have probabilities, in the configuration's order.

    Raises:  UsageError naming attribute, column and row of what is no probability.
    """
    for name, attribute in block.attributes.items():
        if attribute.probabilities is None:
            continue
        setting = f"attributes.{name}.probabilities"
        columns = [
            numbers(block, source, column, f"{setting}.{level}") for level, column in attribute.probabilities.items()
        ]
        values = np.stack(columns, axis=1)
        is_bad = ~((values >= 0) & (values <= 1)).all(axis=1) | ~(np.abs(values.sum(axis=1) - 1) <= SUM_TOLERANCE)
        if is_bad.any():
            row = int(is_bad.argmax())
            shown = ", ".join(f"{one:g}" for one in values[row])
            raise UsageError(
                f"{setting}: {source.place_of(row, block.path)} has {shown}: numbers from 0 to 1 that sum to 1 are "
                "expected"
            )
        yield PROBABILITIES + name, pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
