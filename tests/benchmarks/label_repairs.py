"""Repairs of FairFace's people with wrong genders: what is claimed, how often it is kept, and what it costs.

    python -m tests.benchmarks.label_repairs [--repairs 10]

One gender in ten is wrong, and scores lean to men. `mopr` with a confusion claims a true MPR of at most rho with a
probability of 90%; the table has how often that is so, the similarity that it costs beside the repair that ignores
errors and the one that sees true labels, and the true share of women.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import mprlib
from mprlib import Confusion, LabelError, Problem
from mprlib.arrays import FloatArray
from mprlib.label_errors import corrected_groups
from tests.benchmarks.label_audits import K, confusion
from tests.real_labels import FAIRFACE, HAS_LABELS


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """One set of a repair: its status, rho, true MPR, similarity and true share of women; claimed: ends of the
    interval of that share."""

    kind: str
    rho: float
    status: str
    true_mpr: float
    similarity: float
    women: float
    claimed: tuple[float, float]


TRUE = "true labels"
RHOS = (0.01, 0.015, 0.02, 0.03)


def repairs(seed: int, items: int = 10_000, error: float = 0.1) -> Iterator[Repair]:
    """FairFace's people with wrong genders, repaired with and without what is known of errors, and by true labels."""
    table = pd.read_parquet(FAIRFACE)
    random = np.random.default_rng(seed)
    women = (table["gender"].str.lower() == "female").to_numpy()
    pool, reference = random.choice(len(table), items, replace=False), random.choice(len(table), items)
    matrix = confusion(2, error, True, random)
    wrong = [np.where(random.random(items) < error, ~women[one], women[one]) for one in (pool, reference)]
    scores = 0.22 + 0.02 * (random.standard_normal(items) - 1.2 * women[pool])
    given: dict[str, Any] = {
        "scores": scores,
        "k": K,
        "attributes": {"gender": [0, 1]},
        "label_names": ["gender=female", "gender=male"],
    }
    one = Confusion.of(matrix)
    error_of = LabelError(items={"gender": one}, reference={"gender": one})
    seen = Problem(labels=_hot(wrong[0]), reference=_hot(wrong[1]), label_error=error_of, **given)
    truth = Problem(labels=_hot(women[pool]), reference=_hot(women[reference]), **given)
    for kind, problem in (("claiming", seen), ("naive", replace(seen, label_error=None)), (TRUE, truth)):
        for row in mprlib.sweep(problem, "mopr", RHOS):
            share = corrected_groups(seen, row.items)["gender=female"]
            yield Repair(
                kind=kind,
                rho=float(row.rho or 0.0),
                status=row.status.value,
                true_mpr=mprlib.measure(truth, row.items).value,
                similarity=float(row.similarity or 0.0),
                women=float(women[pool][row.items].mean()),
                claimed=(share.low, share.high),
            )


def _hot(is_woman: np.ndarray) -> FloatArray:
    return np.stack([is_woman, ~is_woman], axis=1).astype(float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repairs", type=int, default=10)
    given = parser.parse_args()
    if HAS_LABELS:
        _print_repairs([one for seed in range(given.repairs) for one in repairs(seed)])


def _print_repairs(rows: Sequence[Repair]) -> None:
    print("FairFace, one gender in ten wrong: repairs to a true MPR of at most rho, claimed with 90%")
    for rho in RHOS:
        for kind in dict.fromkeys(row.kind for row in rows):
            own = [row for row in rows if row.kind == kind and row.rho == rho]
            stated = [row for row in own if row.status in ("feasible", "optimal")]
            held = f"{np.mean([row.true_mpr <= rho for row in stated]):.0%}" if stated else "-"
            within = np.mean([row.claimed[0] <= row.women <= row.claimed[1] for row in own])
            print(
                f"    rho {rho:.3f} {kind:11} stated {len(stated)} of {len(own)}, held {held:>4}; similarity "
                f"{np.mean([row.similarity for row in own]):.4f}; women {np.mean([row.women for row in own]):.0%}"
                # Who chooses by true labels is not among those that the interval is for.
                + ("" if kind == TRUE else f", within the 95% interval {within:.0%}"),
                flush=True,
            )


if __name__ == "__main__":
    main()
