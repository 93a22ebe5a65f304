"""DetRelaxed: place by place, as DetCons, but groups that are due by the same whole place count alike.

Worked example: with shares 0.5, 0.3 and 0.2 the groups must have their first item by 2, 3.3 and 5, rounded up 2, 4
and 5; with shares 0.36, 0.34 and 0.3 by 2.8, 2.9 and 3.3, rounded up 3, 3 and 4, so that similarity decides between
the first two.

>>> import mprlib
>>> levels = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
>>> problem = mprlib.Problem(scores=[0.9, 0.8, 0.7], labels=levels, reference=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], k=1,
...                          reference_weights=[0.36, 0.34, 0.3], reference_size=100, attributes={"age": [0, 1, 2]})
>>> mprlib.select(problem, "det_relaxed").items.tolist(), mprlib.select(problem, "det_cons").items.tolist()
([1], [2])

Source: Geyik et al. 2019, section 4 (see `mprlib.baselines.place_by_place`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.baselines.group_queues import ROUNDING
from mprlib.baselines.place_by_place import PlaceByPlace


@dataclass(frozen=True, kw_only=True, slots=True)
class DetRelaxed(PlaceByPlace):
    """LinkedIn's relaxed re-ranking: as the conservative one, but by similarity among equally urgent groups."""

    name: ClassVar[str] = "det_relaxed"

    @staticmethod
    def urgency(most: FloatArray, shares: FloatArray) -> FloatArray:
        """The whole place by which the next item is due."""
        due: FloatArray = np.ceil(most / shares - ROUNDING)
        return due
