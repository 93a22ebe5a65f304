"""Generated populations whose shares are known, samples and pools of them, and selections of the pools."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib import Problem
from mprlib.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """Sizes of one experiment: levels of its attributes, rows, items, items returned.

    concentrations: how alike the population's shares are, of Dirichlet's distribution: of all cells, or of each
    attribute's levels, which are then independent of each other.
    """

    levels: tuple[int, ...]
    m: int
    n: int
    k: int
    is_weighted: bool = False
    is_overlapping: bool = False
    concentrations: tuple[float, ...] = (2.0,)

    @property
    def cells(self) -> int:
        return int(np.prod(self.levels))

    def shares(self, random: np.random.Generator) -> FloatArray:
        """Shares (G,) of a population."""
        if len(self.concentrations) == 1:
            return random.dirichlet(np.full(self.cells, *self.concentrations))
        shares = np.ones(1)
        for count, alike in zip(self.levels, self.concentrations, strict=True):
            shares = np.outer(shares, random.dirichlet(np.full(count, alike))).ravel()
        return shares


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Drawn:
    """A population, a sample of it, and a pool: shares (G,) of both, and the cells (n,) of the pool."""

    problem: Problem
    one_hot: np.ndarray
    shares: FloatArray
    sample_shares: FloatArray
    pool: np.ndarray

    @classmethod
    def of(cls, setting: Setting, random: np.random.Generator) -> Drawn:
        cells, one_hot = setting.cells, one_hot_of(setting.levels)
        shares = setting.shares(random)
        sampled = random.dirichlet(np.full(cells, 5.0)) if setting.is_weighted else shares
        reference = random.choice(cells, setting.m, p=sampled)
        weights = (shares / sampled)[reference]
        pool = random.choice(cells, setting.n, p=random.dirichlet(20 * cells * shares + 0.5))
        if setting.is_overlapping:
            pool = reference[: setting.n]
        lean = one_hot[pool] @ random.standard_normal(one_hot.shape[1])
        starts = np.cumsum([0, *setting.levels])
        problem = Problem(
            scores=0.5 * lean + random.standard_normal(setting.n),
            labels=one_hot[pool],
            reference=one_hot[reference],
            reference_weights=weights if setting.is_weighted else None,
            k=setting.k,
            attributes={
                f"a{place}": list(range(starts[place], starts[place + 1])) for place in range(len(setting.levels))
            },
        )
        return cls(
            problem=problem,
            one_hot=one_hot,
            shares=shares,
            sample_shares=np.bincount(reference, weights, cells) / weights.sum(),
            pool=pool,
        )


def selection(kind, setting, problem, pool, drawn, shares, random) -> np.ndarray:
    if kind == "top":
        return problem.best_first[: setting.k]
    if kind == "random":
        return random.choice(setting.n, setting.k, replace=False)
    if kind == "biased":
        tilt = np.exp(0.7 * random.standard_normal(setting.cells))[pool]
        return random.choice(setting.n, setting.k, replace=False, p=tilt / tilt.sum())
    return _meeting(drawn if kind == "matched" else shares, setting, pool)


def _meeting(target: np.ndarray, setting: Setting, pool: np.ndarray) -> np.ndarray:
    """Largest remainders of k times the target shares, as far as the pool has such items."""
    wanted = setting.k * target
    counts = np.minimum(np.floor(wanted), np.bincount(pool, minlength=setting.cells)).astype(int)
    chosen = [np.flatnonzero(pool == cell)[:count] for cell, count in enumerate(counts)]
    rest = np.setdiff1d(np.arange(setting.n), np.concatenate(chosen))
    remainders = (wanted - counts)[pool[rest]]
    first_of_cell = np.unique(pool[rest], return_index=True)[1]
    ordered = first_of_cell[np.argsort(-remainders[first_of_cell], kind="stable")]
    others = np.setdiff1d(np.arange(rest.size), ordered)
    missing = setting.k - int(counts.sum())
    return np.concatenate([*chosen, rest[np.concatenate([ordered, others])[:missing]]])


def one_hot_of(levels: tuple[int, ...]) -> np.ndarray:
    grids = np.meshgrid(*(np.arange(count) for count in levels), indexing="ij")
    return np.concatenate([np.eye(count)[grid.ravel()] for count, grid in zip(levels, grids)], axis=1)


def position(labels: np.ndarray, one_hot: np.ndarray) -> np.ndarray:
    return np.argmax(labels @ one_hot.T, axis=1)
