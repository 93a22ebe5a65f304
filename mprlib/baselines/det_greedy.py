"""DetGreedy: place by place, the most similar candidate of all groups that are below their most.

Worked example: half of the reference is of either group and all of the first group are more similar. The second group
is due at the second place, and so on by turns.

>>> import mprlib
>>> groups = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]]
>>> problem = mprlib.Problem(scores=[0.9, 0.8, 0.7, 0.6, 0.5], labels=groups, reference=[[1, 0], [0, 1]], k=4,
...                          reference_size=100, attributes={"sex": [0, 1]})
>>> mprlib.select(problem, "det_greedy", order="fair").items.tolist()
[0, 3, 1, 4]

Source: Geyik et al. 2019, section 4 (see `mprlib.baselines.place_by_place`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.baselines.place_by_place import PlaceByPlace


@dataclass(frozen=True, kw_only=True, slots=True)
class DetGreedy(PlaceByPlace):
    """LinkedIn's greedy re-ranking: every prefix near the reference's shares, then the most similar."""

    name: ClassVar[str] = "det_greedy"

    @staticmethod
    def urgency(most: FloatArray, shares: FloatArray) -> FloatArray:
        """The same for all."""
        return np.zeros(most.size)
