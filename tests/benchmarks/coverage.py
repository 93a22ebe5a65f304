"""How often intervals and bounds hold and how wide they are, on generated populations whose truth is known.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.coverage [populations [class ...]]

For each population: shares Q over G cells, a reference sample of m rows, a pool of n items, and
selections of k: *biased* (the pool tilted), *random* (drawn from the pool), *top* (by scores that lean to
some levels), *fair* (Q's shares met as closely as k items allow, MPR near zero), which do not read the
sample; *matched* (the sample's shares met likewise) and *mopr*, at 0.3 and 0.08 of the MPR of top, which
do; and *all* of them at once (MPR +- t claims to cover every selection together, so its coverage
there should be nominal). In the weighted setting the sample is drawn from other shares and carries the weights
that make up for it; in the overlapping one the items are the sample's own rows. The truth is the class's MPR against Q
itself, with the class (masses N, scale D) as the sample fixes it.

Bars: each row's own interval covers at least 93%, and is at most 2.5 times as wide, half of it, as the 95% quantile of
the error of MPR. Missed is what covers less by more than two deviations of a share of so many populations.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mprlib import Problem, select
from mprlib.arrays import FloatArray
from mprlib.cells import cells_of, selection_weights
from mprlib.function_classes.base import Oracle
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.registry import function_class
from mprlib.statistics import (
    Chosen,
    cells_bound,
    finite_bound,
    sampling_interval,
    sampling_margin,
    share_interval,
    vc_bound,
)
from mprlib.statistics.resampling import resampled

CONFIDENCE = 0.95
DELTA = 1.0 - CONFIDENCE
CLASSES = ("linear", "saturated", "groups", "tree", "rkhs")
# Kinds of selections, and whether they read the sample.
SELECTIONS = {"biased": False, "random": False, "top": False, "fair": False, "matched": True}
# Bounds of `mopr` as parts of the MPR of the most similar items, in every so many populations.
OPTIMISED, OPTIMISED_EVERY = (0.3, 0.08), 4
LEAST_COVERAGE, WIDEST = 0.93, 2.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """Sizes of one experiment: levels of its attributes, rows, items, items returned."""

    levels: tuple[int, ...]
    m: int
    n: int
    k: int
    is_weighted: bool = False
    is_overlapping: bool = False

    @property
    def cells(self) -> int:
        return int(np.prod(self.levels))


SETTINGS = (
    Setting(levels=(2, 2, 7), m=10_000, n=10_000, k=50),
    Setting(levels=(2, 2, 7), m=10_000, n=10_000, k=1_000),
    Setting(levels=(2, 7, 9), m=10_000, n=10_000, k=1_000),
    Setting(levels=(2, 7, 9), m=10_000, n=1_000, k=50),
    Setting(levels=(2, 7), m=200, n=1_000, k=20),
    Setting(levels=(2, 2, 7), m=1_000, n=2_000, k=200),
    Setting(levels=(2, 7, 9), m=1_000, n=1_000, k=100),
    Setting(levels=(2, 2, 7), m=1_000, n=2_000, k=200, is_weighted=True),
    Setting(levels=(2, 2, 7), m=1_000, n=1_000, k=100, is_overlapping=True),
)


def coverage(
    setting: Setting,
    populations: int,
    resamples: int = 400,
    seed: int = 0,
    classes: Sequence[str] = CLASSES,
    has_intervals: bool = True,
) -> dict[tuple[str, ...], list]:
    """Records by key.

    ("margin", "interval" or "percentile", class, selection) -> (is_covered, truth, half-width, error)
    ("bound", name) -> is_held
    """
    records: dict[tuple[str, ...], list] = defaultdict(list)
    for population in range(populations):
        random = np.random.default_rng([seed, population])
        drawn = _Drawn.of(setting, random)
        problem, pool = drawn.problem, drawn.pool
        fixed = {
            kind: _selection(kind, setting, problem, pool, drawn.sample_shares, drawn.shares, random)
            for kind in SELECTIONS
        }
        for name in classes:
            oracle = function_class(name).bind(problem)
            margin = sampling_margin(problem, name, confidence=CONFIDENCE, resamples=resamples, seed=population)
            cells = cells_of(problem)
            # Cells that neither side drew have a share of Q; no function of C' sees them.
            true_shares = drawn.shares[_position(cells.labels, drawn.one_hot)]
            distance = _value(oracle, cells.reference_shares - true_shares)
            records["margin", name, "all"].append((distance <= margin, np.nan, margin, distance))
            selections = dict(fixed)
            if has_intervals and population % OPTIMISED_EVERY == 0:
                top = oracle.worst_case(selection_weights(problem, fixed["top"])).value
                for part in OPTIMISED:
                    selections[f"mopr {part}"] = select(problem, "mopr", part * top, name).items
            starred = np.zeros((resamples, cells.size))
            starred[:, cells.reference_cell] = resampled(problem.population, resamples, [seed, population, 1])
            for kind, items in selections.items():
                selected = cells.shares(selection_weights(problem, items))
                measured, truth = (_value(oracle, selected - own) for own in (cells.reference_shares, true_shares))
                error = measured - truth
                if has_intervals:
                    chosen = Chosen(
                        items=items,
                        is_fitted=SELECTIONS.get(kind, True),
                        may_be_in_reference=setting.is_overlapping,
                    )
                    ends = sampling_interval(
                        problem, chosen, name, confidence=CONFIDENCE, resamples=resamples, seed=population
                    )
                    is_covered, half = ends.low <= truth <= ends.high, (ends.high - ends.low) / 2
                    records["interval", name, kind].append((is_covered, truth, half, error))
                records["margin", name, kind].append((abs(error) <= margin, truth, margin, error))
                values = closed_form_gaps(oracle, selected - starred)
                if values is not None:
                    low, high = np.quantile(values, [DELTA / 2, 1 - DELTA / 2])
                    records["percentile", name, kind].append((low <= truth <= high, truth, (high - low) / 2, error))
        if setting.is_weighted or setting.is_overlapping:
            continue
        for key, is_held in _bounds_held(setting, drawn.sample_shares, drawn.shares).items():
            records["bound", key].append(is_held)
    return records


def _value(oracle: Oracle, differences: FloatArray) -> float:
    """The class's largest gap of differences (G,)."""
    found = closed_form_gaps(oracle, differences[None, :])
    if found is None:
        assert isinstance(oracle, TreeOracle)
        found = oracle.gaps(differences[None, :])
    return float(found[0])


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class _Drawn:
    """A population, a sample of it, and a pool: shares (G,) of both, and the cells (n,) of the pool."""

    problem: Problem
    one_hot: np.ndarray
    shares: FloatArray
    sample_shares: FloatArray
    pool: np.ndarray

    @classmethod
    def of(cls, setting: Setting, random: np.random.Generator) -> _Drawn:
        cells, one_hot = setting.cells, _one_hot(setting.levels)
        shares = random.dirichlet(np.full(cells, 2.0))
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


def _bounds_held(setting: Setting, drawn: np.ndarray, shares: np.ndarray) -> dict[str, bool]:
    """Each bound against the supremum it speaks of: all {-1, +1} functions, or the 2 G signed indicators."""
    distance = float(np.abs(drawn - shares).sum())
    indicator = float(np.abs(drawn - shares).max())
    low, high = share_interval(float(drawn[0]), setting.m, CONFIDENCE)
    return {
        "cells": distance <= cells_bound(setting.cells, setting.m, DELTA),
        "VC (d = cells)": distance <= vc_bound(setting.cells, setting.m, DELTA),
        "finite (indicators)": indicator <= finite_bound(setting.cells, setting.m, DELTA, indicators=True),
        "share of one cell": low <= shares[0] <= high,
    }


def _selection(kind, setting, problem, pool, drawn, shares, random) -> np.ndarray:
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


def _one_hot(levels: tuple[int, ...]) -> np.ndarray:
    grids = np.meshgrid(*(np.arange(count) for count in levels), indexing="ij")
    return np.concatenate([np.eye(count)[grid.ravel()] for count, grid in zip(levels, grids)], axis=1)


def _position(labels: np.ndarray, one_hot: np.ndarray) -> np.ndarray:
    return np.argmax(labels @ one_hot.T, axis=1)


def main() -> None:
    """Print the tables; exit with 1 where a row's interval misses a bar."""
    populations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    classes = sys.argv[2:] or CLASSES
    print(f"{populations} populations a setting, nominal {CONFIDENCE:.0%}; covered % (half-width), of intervals in")
    print("brackets also how many times the 95% quantile of the error that is\n")
    sizes = f"{'cells':>5} {'m':>6} {'n':>6} {'k':>5}"
    print(f"{sizes}  {'class':9} {'selection':9} {'MPR':>7}  {'interval':>22}  {'MPR +- t':>22}  {'percentile':>16}")
    missed = []
    for setting in SETTINGS:
        records = coverage(setting, populations, classes=classes)
        mark = "w" if setting.is_weighted else "o" if setting.is_overlapping else " "
        sizes = f"{setting.cells:>5} {setting.m:>5}{mark} {setting.n:>6} {setting.k:>5}"
        for name in classes:
            for kind in (*SELECTIONS, *(f"mopr {part}" for part in OPTIMISED), "all"):
                truth = float(np.mean([one[1] for one in records["margin", name, kind]]))
                columns = [_cell(records.get((method, name, kind))) for method in ("interval", "margin", "percentile")]
                value = "" if np.isnan(truth) else f"{truth:.4f}"
                print(f"{sizes}  {name:9} {kind:9} {value:>7}  {columns[0]:>22}  {columns[1]:>22}  {columns[2]:>22}")
                own = records.get(("interval", name, kind))
                if own and _misses(own):
                    missed.append(f"{sizes.strip()} {name} {kind}: {columns[0]}")
        held = [f"{key[1]} {np.mean(values):.1%}" for key, values in records.items() if key[0] == "bound"]
        print(
            f"      bounds hold: {', '.join(held) or 'not for weighted samples, nor for rows of their own'}\n",
            flush=True,
        )
    if missed:
        sys.exit("missed: " + "; ".join(missed))


def _cell(records: list | None) -> str:
    if not records:
        return "-"
    covered, _, half, _ = (np.mean(column) for column in zip(*records))
    return f"{covered:6.1%} ({half:.4f}, {_times(records):.1f})"


def _times(records: list) -> float:
    """The mean half-width as a multiple of the error's quantile."""
    quantile = np.quantile(np.abs([one[3] for one in records]), CONFIDENCE)
    return float(np.mean([one[2] for one in records]) / quantile)


def _misses(records: list) -> bool:
    slack = 2.0 * np.sqrt(LEAST_COVERAGE * (1.0 - LEAST_COVERAGE) / len(records))
    return bool(np.mean([one[0] for one in records]) < LEAST_COVERAGE - slack or _times(records) > WIDEST)


if __name__ == "__main__":
    main()
