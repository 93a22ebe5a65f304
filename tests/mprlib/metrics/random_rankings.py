"""Random rankings at the edges where programs differ: one group, groups that are empty or unwanted, k = 1, ties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mprlib import metrics

CASES = 500


@dataclass(frozen=True)
class Case:
    """A ranking as plain lists, and as the library has it."""

    levels: list[int]
    target: dict[int, float]
    candidates: dict[int, int]
    gains: list[float]
    candidate_gains: list[float]

    @property
    def ranking(self) -> metrics.Ranking:
        return metrics.ranking(self.levels, self.target, self.candidates)


def cases(seed: int = 0) -> Iterator[Case]:
    generator = np.random.default_rng(seed)
    for number in range(CASES):
        count = 1 if number % 10 == 0 else int(generator.integers(2, 9))
        k = 1 if number % 7 == 0 else int(generator.integers(2, 61))
        shown = generator.dirichlet(np.full(count, 0.5))
        target = generator.dirichlet(np.full(count, 0.5))
        if number % 3 == 0:
            # Some groups have no share of the target, some are shown to nobody.
            target, shown = (_some_emptied(shares, generator) for shares in (target, shown))
        levels = generator.choice(count, size=k, p=shown).tolist()
        others = generator.integers(0, 20, size=count)
        # Whole gains of few values have many ties; some rankings have no gain at all.
        every = generator.integers(0, int(generator.integers(1, 4)), size=k + int(generator.integers(0, 30)))
        yield Case(
            levels=levels,
            target=dict(enumerate(target.tolist())),
            candidates={level: levels.count(level) + int(others[level]) for level in range(count)},
            gains=every[:k].tolist(),
            candidate_gains=generator.permutation(every).tolist(),
        )


def _some_emptied(shares, generator):
    kept = np.where(generator.random(shares.size) < 0.3, 0.0, shares)
    return kept / kept.sum() if kept.sum() > 0 else shares
