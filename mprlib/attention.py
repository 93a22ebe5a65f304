"""Attention: how much each place of a selection counts, where not all of its items are seen alike.

With weights w_i of the places i = 1, ..., k that sum to 1, a class sees the difference of a weighted mean over the
items in their order from the reference's mean. What is k where all places count alike is then 1 / sum w_i^2, the
effective number of items: it enters D, and with it C', chi, intervals and chance levels. Equal weights give the
values of sets, to the last bit.

    uniform         1/k                         a set: the order does not matter
    log2            1/log2(i + 1)               DCG, exposure: 1, 0.63, 0.5, 0.43, ... before they are divided
    geometric(p)    p^(i-1)                     rank-biased precision: who looks at an item looks at the next with p
    numbers         as given, one for each item

Worked example: one person of each of two alike groups. As a set they show no gap; who looks at the first place more
sees one: of the weights 1 and 1/log2(3), together 1.631, the first person has 61%.

>>> import mprlib
>>> problem = mprlib.Problem(scores=[0.9, 0.8], labels=[[1, 0], [0, 1]], reference=[[1, 0], [0, 1]], k=2)
>>> mprlib.measure(problem, [0, 1], "groups").value
0.0
>>> round(mprlib.measure(problem, [0, 1], "groups", attention="log2").value, 3)
0.113
>>> round(mprlib.measure(problem, [0, 1], "groups", attention=[3, 1]).value, 3)
0.25

Source: Jarvelin and Kekalainen 2002 for log2 in the form that most programs compute, Moffat and Zobel 2008 for the
geometric one, Sapiezynski et al. 2019 for weighing groups by attention. MPR of weighted places is this project's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, finite, summable
from mprlib.cells import cells_of
from mprlib.errors import InputError, shown
from mprlib.problem import KIND, Problem
from mprlib.settings import PROBABILITY, checked

# Places from which on readers are taken to see a group of items, and not single ones.
FIRST = 5
NAMES = "uniform, log2 or geometric(p) with p between 0 and 1"
GEOMETRIC = re.compile(r"geometric\((.*)\)")


@dataclass(frozen=True, slots=True)
class Attention:
    """The weights of places, whatever their number.

    name: as results state it. p: of geometric weights. given: one weight for each place, where the caller has them.
    """

    name: str
    p: float | None = None
    given: tuple[float, ...] | None = None

    def weights(self, k: int) -> FloatArray:
        """Weights (k,) of the places, which sum to 1.

        Raises:  InputError where weights are given for another number of places.
        """
        weights = self._curve(k)
        divided: FloatArray = weights / weights.sum()
        divided.flags.writeable = False
        return divided

    def _curve(self, k: int) -> FloatArray:
        if self.given is not None:
            if len(self.given) != k:
                raise InputError(f"attention has {len(self.given)} weights, {k} expected: one for each item")
            return np.array(self.given)
        if self.p is not None:
            return np.float64(self.p) ** np.arange(k)
        return np.ones(k) if self.name == UNIFORM.name else log2_discount(k)


UNIFORM = Attention("uniform")
LOG2 = Attention("log2")
NAMED = {one.name: one for one in (UNIFORM, LOG2)}
# What a caller may pass: a name, one weight for each place, or an instance.
AnyAttention = str | ArrayLike | Attention


@dataclass(frozen=True, slots=True)
class AttentionName:
    """What a setting may hold that is the name of an attention (`mprlib.settings.Setting`)."""

    @property
    def expected(self) -> str:
        return NAMES

    def accepted(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError
        return attention_of(value).name


def log2_discount(k: int) -> FloatArray:
    """1/log2(i + 1) of the places i = 1, ..., k."""
    discount: FloatArray = 1.0 / np.log2(np.arange(2, k + 2))
    return discount


def attention_of(given: AnyAttention) -> Attention:
    """The attention of that name, or of these weights.

    Raises:  InputError for an unknown name, and for weights that are not finite, negative, or all zero.
    """
    if isinstance(given, Attention):
        return given
    if isinstance(given, str):
        return _named(given)
    if not isinstance(given, Iterable):
        raise InputError(f"attention is {shown(given)}: {NAMES}, or one weight for each item, is expected")
    weights = finite("attention", given, ndim=1)
    if weights.size == 0 or (weights < 0).any() or not weights.any():
        raise InputError("attention holds weights that are negative, or none above 0: one for each item is expected")
    return Attention("given", given=tuple(summable(weights).tolist()))


def attended(problem: Problem, attention: AnyAttention = UNIFORM, size: int | None = None) -> Problem:
    """The problem for selections of that size, by default k, whose places have these weights.

    C' is normalised by the selection's own effective size. What depends on neither is shared with the problem.
    """
    size, chosen = problem.k if size is None else size, attention_of(attention)
    if chosen == UNIFORM and size == problem.k and problem.place_weights is None:
        return problem
    weights = chosen.weights(size)
    is_uniform = bool((weights == weights[0]).all())
    known = problem.place_weights
    if size == problem.k and (is_uniform if known is None else np.array_equal(known, weights)):
        return problem

    def build() -> Problem:
        changed = replace(problem, k=size)
        if not is_uniform:
            object.__setattr__(changed, "place_weights", weights)
        changed.cached("population", lambda: problem.population)
        changed.cached("cells", lambda: cells_of(problem))
        changed.cached("best_first", lambda: problem.best_first)
        changed.cached(KIND, lambda: problem.cached(KIND, lambda: None))
        return changed

    return problem.cached(("attended", UNIFORM if is_uniform else chosen, size), build)


def _named(name: str) -> Attention:
    if name in NAMED:
        return NAMED[name]
    geometric = GEOMETRIC.fullmatch(name.replace(" ", ""))
    if geometric is None:
        raise InputError(f"attention is {name!r:.60}: {NAMES} is expected")
    p = float(checked(PROBABILITY, "geometric attention's p", _number(geometric[1])))
    # Every digit: a setting holds the name and is read again, and a set that meets rho must do so for the p asked for.
    return Attention(f"geometric({p!r})", p=p)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
