"""What an engine showed: its first k items, in its own order, which similarity need not follow.

Engines mix business rules, freshness and chance into what they show, so that a score that they export beside it may
rank the items in another way. `top_k` goes by the scores; this method goes by the engine's places, returns the items
in that order, and is what an audit of a result list is about. Without places the engine's order is that of the scores.

Worked example: the engine showed the second item first.

>>> import mprlib
>>> problem = mprlib.Problem(scores=[0.9, 0.8], labels=[[1], [0]], reference=[[1], [0]], k=1)
>>> mprlib.select(problem, "as_shown", places=[2, 1]).items.tolist()
[1]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, expect_length, finite
from mprlib.baselines.baseline import Chosen, FixedBaseline
from mprlib.problem import Problem


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class AsShown(FixedBaseline):
    """The first k items in the order of the engine that is audited."""

    name: ClassVar[str] = "as_shown"
    reads_reference: ClassVar[bool] = False
    reads_labels: ClassVar[bool] = False

    places: Annotated[
        ArrayLike | None,
        "the place (n,) at which the engine showed each item of the pool, the smallest first; items of one place in "
        "the pool's order; default: by similarity",
    ] = None

    def choose(self, problem: Problem) -> Chosen:
        """The first k.

        Raises:  InputError for places that are not one finite number an item.
        """
        message = "the list holds just these items: nothing else could be chosen" if problem.n == problem.k else ""
        if self.places is None:
            return Chosen(items=problem.best_first[: problem.k], message=message)
        places: FloatArray = finite("places", self.places, ndim=1)
        expect_length("places", places, problem.n, "the pool has that many items")
        in_order = problem.best_first
        shown = in_order[np.argsort(places[in_order], kind="stable")][: problem.k]
        return Chosen(items=shown, is_ordered=True, message=message)
