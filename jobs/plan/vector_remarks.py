"""A remark on given vectors that are no unit vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..datasets.catalogue import Catalogue

# Unit vectors that were stored as float16 are this far from length 1.
UNIT_LENGTH_TOLERANCE = 2e-3


def length_notes(catalogues: Iterable[Catalogue]) -> Iterator[str]:
    """Vectors are used as given; where they are no unit vectors, scores are no cosines."""
    for catalogue in catalogues:
        lengths = [length for summary in catalogue.summaries for length in summary.lengths or ()]
        if lengths and max(1 - min(lengths), max(lengths) - 1) > UNIT_LENGTH_TOLERANCE:
            yield (
                f"dataset {catalogue.name}: vectors have lengths from {min(lengths):.3g} to {max(lengths):.3g} "
                "and are used as given: scores are inner products, not cosines"
            )
