"""Simulated audits whose labels are wrong now and then, for `label_noise`.

People of a population Q are drawn as reference and, from other shares, as pool; scores lean by true level; labels of
both are wrong with a confusion per attribute that is known, or estimated from hand labels. What settings have in common
is worked out once: the same people are audited with the known confusion and with the estimated one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

import mprlib
from mprlib import Confusion, LabelError, Problem
from mprlib.arrays import FloatArray, IntArray
from mprlib.encoding import Encoding
from mprlib.function_classes.groups import Groups
from mprlib.label_errors import ChosenBy
from mprlib.registry import function_class
from mprlib.statistics import sampling_margin

LEVELS = {2: (2,), 7: (7,), 126: (2, 7, 9)}
ERRORS = (0.05, 0.1, 0.2)
# Rows of each true level behind an estimated confusion.
HAND_LABELS = (None, 60, 300)
K = 50
# A repair's rho as a part of the MPR of top-k.
REPAIRED = 0.3
LINEAR = function_class("linear")
# No proof is asked for: the sets that are found are the same.
MOPR = mprlib.Mopr(nodes=1)

# Noise of scores within a true level, of mean 0 and variance 1.
NOISES: Mapping[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda random, size: random.standard_normal(size),
    "skewed up": lambda random, size: random.exponential(size=size) - 1.0,
    "skewed down": lambda random, size: (3.0 - random.gamma(3.0, size=size)) / np.sqrt(3.0),
    "heavy tails": lambda random, size: random.standard_t(4, size) / np.sqrt(2.0),
    "bounded": lambda random, size: np.sqrt(20.0) * (random.beta(2.0, 2.0, size) - 0.5),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One row of the table. hand_labels: rows of each true level behind the confusion; None where it is known. scores:
    one of `NOISES`. concentration: how alike the population's shares are, of Dirichlet's distribution."""

    levels: tuple[int, ...]
    error: float
    is_symmetric: bool
    hand_labels: int | None = None
    scores: str = "normal"
    items: int = 3_000
    people: int = 3_000
    concentration: float = 3.0

    def __str__(self) -> str:
        known = "known" if self.hand_labels is None else f"{self.hand_labels} hand labels a level"
        kind = "symmetric" if self.is_symmetric else "asymmetric"
        return f"{int(np.prod(self.levels))} cells, {self.error:.0%} {kind}, {known}, {self.scores} scores"


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class People:
    """A problem of the labels as they are, the one that true labels make against the population itself, confusions by
    attribute, and the seed of their hand labels."""

    plain: Problem
    truth: Problem
    matrices: Mapping[str, FloatArray]
    seed: Sequence[int]

    def seen(self, hand_labels: int | None) -> Problem:
        """The problem with what is known of its labels."""
        random = np.random.default_rng([*self.seed, 1])
        known = {name: _known(matrix, hand_labels, random) for name, matrix in self.matrices.items()}
        return replace(self.plain, label_error=LabelError(items=known, reference=known))


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Chosen:
    """A selection, with MPR of the true labels and of those as they are, and the groups' true shares and those seen."""

    kind: str
    items: IntArray
    by: ChosenBy
    truth: float
    naive: float
    true_shares: Mapping[str, float]
    naive_shares: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Audit:
    """People and their selections; naive_width: of the interval that ignores label errors."""

    people: People
    chosen: tuple[Chosen, ...]
    naive_width: float


def settings(cells: Sequence[int], scores: Sequence[str] = ("normal",)) -> Iterator[list[Setting]]:
    """Rows that share their audits: 2, 7 and 126 cells; 5, 10 and 20% errors, symmetric and not; known and estimated
    confusions."""
    for size in cells:
        for error in ERRORS:
            for is_symmetric in (True, False):
                for noise in scores:
                    one = Setting(levels=LEVELS[size], error=error, is_symmetric=is_symmetric, scores=noise)
                    yield [replace(one, hand_labels=hand_labels) for hand_labels in HAND_LABELS]


def confusion(levels: int, error: float, is_symmetric: bool, random: np.random.Generator) -> FloatArray:
    """P(predicted | true) (levels, levels) with that error, of every level or on average."""
    if is_symmetric:
        return (1 - error) * np.eye(levels) + error / (levels - 1) * (1 - np.eye(levels))
    found = np.zeros((levels, levels))
    for level in range(levels):
        own = error * (0.4 + 1.2 * level / (levels - 1))
        found[level, np.arange(levels) != level] = own * random.dirichlet(np.ones(levels - 1))
        found[level, level] = 1 - own
    return found


def people(setting: Setting, seed: int) -> People:
    """The people of one audit, the same whatever is known of their labels."""
    random = np.random.default_rng([seed, *setting.levels])
    encoding = Encoding(levels={f"a{at}": tuple(map(str, range(size))) for at, size in enumerate(setting.levels)})
    cells = int(np.prod(setting.levels))
    codes = np.stack(np.unravel_index(np.arange(cells), setting.levels), axis=1)
    population = random.dirichlet(np.full(cells, setting.concentration))
    tilted = population * np.exp(0.4 * random.standard_normal(cells))
    pool = random.choice(cells, setting.items, p=tilted / tilted.sum())
    reference = random.choice(cells, setting.people, p=population)
    matrices = [confusion(size, setting.error, setting.is_symmetric, random) for size in setting.levels]
    rows = encoding.one_hot(list(codes.T))
    lean = rows @ random.standard_normal(rows.shape[1]) / np.sqrt(len(setting.levels))
    noise = NOISES[setting.scores](random, setting.items)
    scores = 0.2 + 0.02 * (0.75 * (lean - lean.mean())[pool] + noise)
    given: dict[str, Any] = {"scores": scores, "k": K, "attributes": encoding.attributes, "label_names": encoding.names}
    wrong = [encoding.one_hot(_predicted(codes[one], matrices, random)) for one in (pool, reference)]
    return People(
        plain=Problem(labels=wrong[0], reference=wrong[1], **given),
        truth=Problem(
            labels=rows[pool],
            reference=rows,
            reference_weights=population,
            reference_size=setting.people,
            **given,
        ),
        matrices=dict(zip(encoding.levels, matrices)),
        seed=(seed, *setting.levels),
    )


def audited(setting: Setting, seed: int) -> Audit:
    """The audit of a setting, worked out once for all that may be known of its labels."""
    return _audited(replace(setting, hand_labels=None), seed)


@lru_cache(maxsize=1)
def _audited(setting: Setting, seed: int) -> Audit:
    found = people(setting, seed)
    plain = found.plain
    top = plain.best_first[: plain.k]
    repaired = mprlib.select(plain, MOPR, REPAIRED * mprlib.measure(plain, top).value).items
    sets: list[tuple[str, IntArray, ChosenBy]] = [("top-k", top, "other"), ("mopr", repaired, "labels")]
    return Audit(
        people=found,
        chosen=tuple(chosen(found, *one) for one in sets),
        naive_width=2 * sampling_margin(plain, LINEAR),
    )


def chosen(found: People, kind: str, items: IntArray, by: ChosenBy) -> Chosen:
    """A selection of people, beside the truth."""
    truth, naive = (mprlib.measure(one, items).value for one in (found.truth, found.plain))
    true_shares, naive_shares = (_group_shares(one, items) for one in (found.truth, found.plain))
    return Chosen(
        kind=kind,
        items=items,
        by=by,
        truth=truth,
        naive=naive,
        true_shares=true_shares,
        naive_shares=naive_shares,
    )


def _known(matrix: FloatArray, hand_labels: int | None, random: np.random.Generator) -> Confusion:
    if hand_labels is None:
        return Confusion.of(matrix)
    return Confusion.of_counts([random.multinomial(hand_labels, row) for row in matrix])


def _predicted(true: IntArray, matrices: Sequence[FloatArray], random: np.random.Generator) -> list[IntArray]:
    return [
        (random.random(len(true))[:, None] > matrix.cumsum(axis=1)[codes][:, :-1]).sum(axis=1)
        for codes, matrix in zip(true.T, matrices)
    ]


def _group_shares(problem: Problem, items: IntArray) -> dict[str, float]:
    oracle = Groups().bind(problem)
    return dict(zip(oracle.names, oracle.shares_of(problem, items)[0].tolist()))
