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

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import cells_of
from mprlib.errors import InputError
from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch, selected
from mprlib.problem import Problem
from mprlib.selection import Selection
from mprlib.settings import SEED

NEUTRAL = 0


def grid(problem: Problem, oracle: Oracle, points: int) -> list[float]:
    """Evenly spaced eps in (0, 1), as in the paper."""
    return [float(value) for value in (np.arange(points) + 1) / (points + 1)]


def sweep(
    problem: Problem,
    oracle: Oracle,
    values: Sequence[float],
    group_labels: ArrayLike | None = None,
    seed: Annotated[int, SEED] = 0,
) -> list[Selection]:
    """One Selection an eps, in the order given.

    Shapes:  group_labels (n,), whole numbers, 0 neutral and 1, 2, ... the classes; by default every
             joint cell of the labels is a class and nothing is neutral.
    Raises:  InputError for labels of another shape or kind.
    """
    labels = cells_of(problem).pool_cell + 1 if group_labels is None else _checked_labels(group_labels, problem.n)
    selections = []
    for value in values:
        watch = Stopwatch()
        draws = np.random.default_rng(seed).random(problem.k)
        items = _chosen(problem, labels, draws < value)
        selections.append(selected(problem, oracle, items, method="pbm", value=value, solve_seconds=watch.seconds()))
    return selections


def _chosen(problem: Problem, labels: IntArray, takes_best: FloatArray) -> IntArray:
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
        elif not block or neutral is not None and problem.scores[neutral] > np.mean(problem.scores[block]):
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
        raise InputError(f"group_labels has shape {labels.shape}, ({n},) expected: one class an item")
    if labels.dtype.kind not in "iub" or (labels.size and labels.min() < 0):
        raise InputError("group_labels holds other things than whole numbers from 0: 0 is neutral, classes start at 1")
    return labels.astype(np.intp)
