"""DetCons: place by place, the group that must have its next item soonest.

A group with c items and the share p must have the next by place (c + 1)/p, which is ceil(i p)/p while it is below
its most.

Worked example: shares 0.6 and 0.4. Before anything is placed the first group must have an item by 1/0.6 = 1.7, the
second by 2.5; at the second place the first group needs its second by 3.3 and the second group its first by 2.5.

>>> import mprlib
>>> groups = [[0, 1], [0, 1], [1, 0], [1, 0], [1, 0]]
>>> problem = mprlib.Problem(scores=[0.9, 0.8, 0.7, 0.6, 0.5], labels=groups, reference=[[1, 0], [0, 1]], k=2,
...                          reference_weights=[0.6, 0.4], reference_size=100, attributes={"sex": [0, 1]})
>>> mprlib.select(problem, "det_cons", order="fair").items.tolist()
[2, 0]

Source: Geyik et al. 2019, section 4 (see `mprlib.baselines.place_by_place`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mprlib.arrays import FloatArray
from mprlib.baselines.place_by_place import PlaceByPlace


@dataclass(frozen=True, kw_only=True, slots=True)
class DetCons(PlaceByPlace):
    """LinkedIn's conservative re-ranking: every prefix near the reference's shares, then the most urgent group."""

    name: ClassVar[str] = "det_cons"

    @staticmethod
    def urgency(most: FloatArray, shares: FloatArray) -> FloatArray:
        """The place by which the next item is due."""
        due: FloatArray = most / shares
        return due
