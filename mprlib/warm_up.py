"""Compile ahead what solving would compile at its first call.

Machine code is kept in the user's cache (`mprlib.compiled`), so that one call serves every later process of the
machine. An image or a service calls it once when it is built.

>>> import mprlib.warm_up
>>> seconds = mprlib.warm_up.warm_up(["groups"])
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mprlib.api import corrected, select
from mprlib.confusion import Confusion
from mprlib.label_error import LabelError
from mprlib.problem import Problem
from mprlib.registry import function_class, method
from mprlib.statistics import sampling_interval

# Classes whose solving is compiled, and so many values of rho that some row of each class meets every search.
CLASSES = ("linear", "saturated", "groups", "tree", "rkhs")
POINTS = 25
ITEMS, LEVELS, K = 2_000, (2, 7), (5, 12, 20)
# Settings by which items have an order of their own: each has its searches, the same for all classes.
ORDERS = ({"order": "fair"}, {"attention": "log2"})
# Hand labels of each level that are right: fitting an estimated confusion compiles what a known one takes as well.
COUNTS = 50
# Numbers of a vector, for the methods that read them, and of labels that are embeddings.
WIDTH = 8


def warm_up(classes: Sequence[str] = CLASSES) -> float:
    """Solve small problems under each class with `mopr`, with an interval, in orders of their own as well, and by `mmr`
    and `dpp`.

    Afterwards nothing is left to compile.

    Returns: the seconds that it took: about two minutes the first time, a few seconds later.

    >>> from mprlib.warm_up import warm_up
    >>> seconds = warm_up(["groups"])
    """
    started = time.perf_counter()
    for name in classes:
        for k in K:
            problem = _problem(k)
            oracle = function_class(name).bind(problem)
            mopr = method("mopr")
            values = [0.0, *mopr.grid(problem, oracle, POINTS)]
            mopr.sweep(problem, oracle, values)
        # With few nodes no proof ends, and sets far from their bounds are looked for by annealing.
        method("mopr", nodes=2).sweep(problem, oracle, values)
        sampling_interval(problem, problem.best_first[: problem.k], name)
    corrected(_with_errors(_problem(K[0])), range(K[0]), CLASSES[0])
    rows = np.random.default_rng(2).standard_normal((ITEMS, WIDTH))
    select(Problem(scores=rows[:, 0], labels=rows, reference=rows, k=K[0]), "mopr", 0.01, "linear")
    select(_problem(K[0]), "mopr", "chance", CLASSES[0])
    for settings in ORDERS:
        select(_problem(K[0]), "mopr", 0.1, CLASSES[0], **settings)
    problem = _problem(K[0])
    vectors = np.random.default_rng(1).standard_normal((problem.n, WIDTH))
    for precision in (np.float32, np.float64):
        embedded = problem.with_vectors(vectors.astype(precision))
        for name, value in (("mmr", 0.5), ("dpp", None)):
            method(name).sweep(embedded, function_class(CLASSES[0]).bind(problem), [value])
    return time.perf_counter() - started


def _with_errors(problem: Problem) -> Problem:
    """The same with labels of which few are wrong, as far as some labels by hand say."""
    known = {name: Confusion.of_counts(COUNTS * np.eye(len(own)) + 1) for name, own in problem.attributes.items()}
    return replace(problem, label_error=LabelError(items=known))


def _problem(k: int) -> Problem:
    """People of two attributes, whose scores favour some levels."""
    random = np.random.default_rng(0)
    codes = [random.integers(0, levels, ITEMS) for levels in LEVELS]
    labels = np.concatenate([np.eye(levels)[code] for levels, code in zip(LEVELS, codes)], axis=1)
    starts = np.cumsum([0, *LEVELS])
    attributes = {f"attribute {at}": list(range(starts[at], starts[at + 1])) for at in range(len(LEVELS))}
    scores = random.random(ITEMS) + 0.3 * codes[0]
    return Problem(scores=scores, labels=labels, reference=labels, k=k, attributes=attributes)
