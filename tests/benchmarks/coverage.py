"""How often intervals and bounds hold, on generated populations whose truth is known.

    python -m tests.benchmarks.coverage [populations]

For each population: shares Q over G cells, a reference sample of m rows, a pool of n items, and
selections of k: *biased* (the pool tilted), *random* (drawn from the pool), *matched* (the sample's
shares met as closely as k items allow, as an optimiser would), *fair* (Q's shares met likewise, MPR
near zero), and *all* of them at once (MPR +- t claims to cover every selection together, so its
coverage there should be nominal). In the weighted setting the sample is drawn from other shares and carries the weights
that make up for it. The truth is the class's MPR against Q itself, with the class (masses N, scale
D) as the sample fixes it.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from mprlib import Problem
from mprlib.cells import cells_of, selection_weights
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.registry import function_class
from mprlib.statistics import cells_bound, finite_bound, sampling_margin, share_interval, vc_bound
from mprlib.statistics.resampling import resampled

CONFIDENCE = 0.95
DELTA = 1.0 - CONFIDENCE
CLASSES = ("linear", "saturated", "groups")
SELECTIONS = ("biased", "random", "matched", "fair")


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """Sizes of one experiment: levels of its attributes, rows, items, items returned."""

    levels: tuple[int, ...]
    m: int
    n: int
    k: int
    is_weighted: bool = False

    @property
    def cells(self) -> int:
        return int(np.prod(self.levels))


SETTINGS = (
    Setting(levels=(2, 2, 7), m=10_000, n=10_000, k=50),
    Setting(levels=(2, 2, 7), m=10_000, n=10_000, k=1_000),
    Setting(levels=(2, 7, 9), m=10_000, n=10_000, k=1_000),
    Setting(levels=(2, 2, 7), m=1_000, n=2_000, k=200),
    Setting(levels=(2, 7, 9), m=1_000, n=1_000, k=100),
    Setting(levels=(2, 2, 7), m=1_000, n=2_000, k=200, is_weighted=True),
)


def coverage(setting: Setting, populations: int, resamples: int = 400, seed: int = 0) -> dict[tuple[str, ...], list]:
    """Records by key.

    ("margin" or "percentile", class, selection) -> (is_covered, truth, half-width)
    ("bound", name) -> is_held
    """
    records: dict[tuple[str, ...], list] = defaultdict(list)
    for population in range(populations):
        random = np.random.default_rng([seed, population])
        one_hot = _one_hot(setting.levels)
        shares = random.dirichlet(np.full(setting.cells, 2.0))
        sampled = random.dirichlet(np.full(setting.cells, 5.0)) if setting.is_weighted else shares
        reference = random.choice(setting.cells, setting.m, p=sampled)
        weights = (shares / sampled)[reference]
        pool = random.choice(setting.cells, setting.n, p=random.dirichlet(20 * setting.cells * shares + 0.5))
        problem = Problem(
            scores=np.zeros(setting.n),
            labels=one_hot[pool],
            reference=one_hot[reference],
            reference_weights=weights if setting.is_weighted else None,
            k=setting.k,
        )
        cells = cells_of(problem)
        # Cells that neither side drew have a share of Q; no function of C' sees them.
        population_shares = shares[_position(cells.labels, one_hot)]
        drawn = np.bincount(reference, weights, setting.cells) / weights.sum()
        selections = {kind: _selection(kind, setting, pool, drawn, shares, random) for kind in SELECTIONS}
        for name in CLASSES:
            oracle = function_class(name).bind(problem)
            margin = sampling_margin(problem, name, confidence=CONFIDENCE, resamples=resamples, seed=population)
            distance = closed_form_gaps(oracle, (cells.reference_shares - population_shares)[None, :])[0]
            records["margin", name, "all"].append((distance <= margin, np.nan, margin))
            starred = np.zeros((resamples, cells.size))
            starred[:, cells.reference_cell] = resampled(problem.population, resamples, [seed, population, 1])
            for kind, items in selections.items():
                selected = cells.shares(selection_weights(problem, items))
                measured, truth = (
                    closed_form_gaps(oracle, (selected - against)[None, :])[0]
                    for against in (cells.reference_shares, population_shares)
                )
                low, high = np.quantile(closed_form_gaps(oracle, selected - starred), [DELTA / 2, 1 - DELTA / 2])
                records["margin", name, kind].append((abs(measured - truth) <= margin, truth, margin))
                records["percentile", name, kind].append((low <= truth <= high, truth, (high - low) / 2))
        if setting.is_weighted:
            continue
        for key, is_held in _bounds_held(setting, drawn, shares).items():
            records["bound", key].append(is_held)
    return records


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


def _selection(kind, setting, pool, drawn, shares, random) -> np.ndarray:
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
    populations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{populations} populations a setting, nominal {CONFIDENCE:.0%}; covered % (half-width)\n")
    sizes = f"{'cells':>5} {'m':>6} {'n':>6} {'k':>5}"
    print(f"{sizes}  {'class':9} {'selection':9} {'MPR':>7}  {'MPR +- t':>16}  {'percentile':>16}")
    for setting in SETTINGS:
        records = coverage(setting, populations)
        for name in CLASSES:
            for kind in (*SELECTIONS, "all"):
                columns = []
                for method in ("percentile", "margin"):
                    if (method, name, kind) not in records:
                        columns.append("-")
                        continue
                    covered, truth, width = (np.mean(column) for column in zip(*records[method, name, kind]))
                    columns.append(f"{covered:6.1%} ({width:.4f})")
                sizes = f"{setting.cells:>5} {setting.m:>5}{'w' * setting.is_weighted:1} {setting.n:>6} {setting.k:>5}"
                value = "" if np.isnan(truth) else f"{truth:.4f}"
                print(f"{sizes}  {name:9} {kind:9} {value:>7}  {columns[1]:>16}  {columns[0]:>16}")
        held = [f"{key[1]} {np.mean(values):.1%}" for key, values in records.items() if key[0] == "bound"]
        print(f"      bounds hold: {', '.join(held) or 'not for weighted samples'}\n")


if __name__ == "__main__":
    main()
