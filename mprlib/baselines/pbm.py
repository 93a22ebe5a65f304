"""Post-hoc bias mitigation: blocks of one item of each class, neutral items in between.

Every item carries a class, 0 for neutral. Each step takes either the best item of every class that
is not exhausted (a block) or the best neutral item, whichever has the higher mean similarity; with
probability eps it takes the best single item of all. So eps = 1 is top-k and eps = 0 gives every
class equal room. A block that no longer fits gives its most similar items.

**Deviations** from the authors' code: it stops with an error when neutral items run out, and fills
the last block by an unseeded draw with replacement. Draws here come from a seed, the same ones for
every eps of a sweep, so that neighbouring eps differ by their threshold alone.

Source: Kong et al. 2024, "Mitigating Test-Time Bias for Fair Image Retrieval".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import BoolArray, IntArray, mean_of
from mprlib.baselines.baseline import Chosen, SweptBaseline
from mprlib.cells import cells_of
from mprlib.errors import InputError
from mprlib.problem import Problem
from mprlib.settings import SEED, Number

NEUTRAL = 0


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Pbm(SweptBaseline):
    """Blocks of one item of each class or a neutral item, the best single one with probability eps.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.select(problem, "pbm", 1.0).items.tolist()
    [0, 1]
    """

    name: ClassVar[str] = "pbm"
    reads_reference: ClassVar[bool] = False
    parameter: ClassVar[str] = "eps"
    value: ClassVar[Number] = Number(least=0, most=1)

    group_labels: Annotated[
        ArrayLike | None,
        "class of each item (n,), 0 for neutral, then 1, 2, ...; default: every joint cell of the labels is a class",
    ] = None
    seed: Annotated[int, SEED, "seed of the draws with probability eps"] = 0

    @classmethod
    def spaced_values(cls, problem: Problem, points: int) -> list[float]:
        """Evenly spaced eps in (0, 1), as in the paper."""
        return [float(value) for value in (np.arange(points) + 1) / (points + 1)]

    def choose(self, problem: Problem, value: float) -> Chosen:
        """The set of one eps.

        Raises:  InputError for labels of another shape or kind.
        """
        labels = cells_of(problem).pool_cell + 1
        if self.group_labels is not None:
            labels = _checked_labels(self.group_labels, problem.n)
        draws = np.random.default_rng(self.seed).random(problem.k)
        return Chosen(items=_chosen(problem, labels, draws < value))


def _chosen(problem: Problem, labels: IntArray, takes_best: BoolArray) -> IntArray:
    """k items; takes_best (k,) says at which steps the best single item is taken."""
    order = problem.best_first
    queues = {int(label): order[labels[order] == label].tolist()[::-1] for label in np.unique(labels)}
    rank = np.empty(problem.n, dtype=np.intp)
    rank[order] = np.arange(problem.n)
    chosen: list[int] = []
    step = 0
    while len(chosen) < problem.k:
        heads = {label: queue[-1] for label, queue in queues.items() if queue}
        neutral = heads.get(NEUTRAL)
        block = [item for label, item in heads.items() if label != NEUTRAL]
        if takes_best[step]:
            taken = [min(heads.values(), key=rank.__getitem__)]
        elif not block or (neutral is not None and problem.scores[neutral] > mean_of(problem.scores[block])):
            taken = [neutral]
        else:
            taken = sorted(block, key=rank.__getitem__)[: problem.k - len(chosen)]
        for item in taken:
            queues[int(labels[item])].pop()
        chosen += taken
        step += 1
    return np.array(chosen)


def _checked_labels(group_labels: ArrayLike, n: int) -> IntArray:
    labels = np.asarray(group_labels)
    if labels.shape != (n,):
        raise InputError(f"group_labels has shape {labels.shape}, ({n},) expected: one class per item")
    if labels.dtype.kind not in "iub" or (labels.size and labels.min() < 0):
        raise InputError("group_labels holds other things than whole numbers from 0: 0 is neutral, classes start at 1")
    return labels.astype(np.intp)
