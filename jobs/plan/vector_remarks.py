"""A remark on given vectors that are no unit vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from jobs.datasets.catalogue import Catalogue
from jobs.stages.embed import VECTOR, VECTOR_ROW
from jobs.stages.vectors import to_matrix

# Unit vectors that were stored as float16 are this far from length 1.
UNIT_LENGTH_TOLERANCE = 2e-3
# Vectors in files that are looked at before a run.
SAMPLED_VECTORS = 1_000


def length_notes(catalogues: Iterable[Catalogue]) -> Iterator[str]:
    """Vectors are used as given; where they are no unit vectors, scores are no cosines."""
    for catalogue in catalogues:
        vectors = _sample(catalogue)
        if vectors is None or not len(vectors):
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
        if lengths.size and np.abs(lengths - 1).max() > UNIT_LENGTH_TOLERANCE:
            yield (
                f"dataset {catalogue.name}: vectors have lengths from {lengths.min():.3g} to {lengths.max():.3g} "
                "and are used as given: scores are inner products, not cosines"
            )


def _sample(catalogue: Catalogue) -> np.ndarray | None:
    """The vectors that items have already: all in memory, or some of those in files."""
    if catalogue.vector_files is None:
        has_vectors = VECTOR in catalogue.items.column_names
        return to_matrix(catalogue.items[VECTOR]) if has_vectors else None
    chosen = np.unique(np.linspace(0, catalogue.size - 1, min(catalogue.size, SAMPLED_VECTORS)).astype(np.intp))
    return catalogue.vector_files.take(catalogue.items[VECTOR_ROW].to_numpy()[chosen])
