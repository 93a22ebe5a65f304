"""The vector of a solve unit's own prompt, as a method wants it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jobs.stages.reading.vectors import to_matrix
from jobs.store import Store, unit_file


def query_vector(stage: str, spec: Mapping[str, Any], store: Store) -> np.ndarray:
    """The prompt's vector (d,) from `queries`, or from `debiased`, behind a method's tokens."""
    table = store.read_table(unit_file(stage, spec[stage], "vectors"))
    return to_matrix(table["vector"])[table["prompt"].to_pylist().index(spec["prompt"])]
