"""What an encoder of pictures gives back: vectors of those it could read, and why there are no others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..images.errors import ImageError


@dataclass(frozen=True, kw_only=True, slots=True)
class EncodedImages:
    """Vectors of the pictures that have one.

    Shapes:  vectors (n, d) float32, of length 1; positions (n,) ascending, among the pictures asked for.
    faults has the others, by position.
    """

    vectors: np.ndarray
    positions: np.ndarray
    faults: dict[int, ImageError]
