"""Labels that are wrong now and then: how often intervals hold, and what a repair may claim.

    python -m tests.benchmarks.label_noise [--audits 20] [--repairs 10] [--cells 2 7 126]

Simulated audits: people of a population Q are drawn as reference and, from other shares, as pool; scores lean by true
level; labels of both are wrong with a confusion per attribute that is known, or estimated from hand labels. For top-k
(corrected by the inverse) and for sets of `mopr` on the labels as they are (corrected by label and score), the first
table has how often 95% intervals hold the truth: the true shares of single groups, and MPR of the true labels under the
linear class. Widths stand beside those of the intervals that ignore label errors. 20 audits take about five minutes
of one core, 1,000 some four hours; `--cells 2` does a third of the rows.

Repairs: FairFace's people with one in ten genders wrong, and scores that lean to men. `mopr` with a confusion claims a
true MPR of at most rho with a probability of 90%; the second table has how often that is so, the similarity that it
costs beside the repair that ignores errors and the one that sees true labels, and the true share of women.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import mprlib
from mprlib import Confusion, LabelError, Problem
from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import selection_weights
from mprlib.encoding import Encoding
from mprlib.function_classes.groups import Groups
from mprlib.label_errors import ChosenBy, corrected, corrected_groups
from mprlib.registry import function_class
from mprlib.statistics import sampling_margin
from tests.real_labels import FAIRFACE, HAS_LABELS

LEVELS = {2: (2,), 7: (7,), 126: (2, 7, 9)}
K = 50
# A repair's rho as a part of the MPR of top-k.
REPAIRED = 0.3
LINEAR = function_class("linear")


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One row of the table. hand_labels: rows of each true level behind the confusion; None where it is known."""

    levels: tuple[int, ...]
    error: float
    is_symmetric: bool
    hand_labels: int | None = None
    items: int = 3_000
    people: int = 3_000


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Audit:
    """A problem as its labels show it, the one that true labels make against the population itself, and the levels of
    the population's groups.

    Shapes:  true (n,), the cells of the items' true labels.
    """

    seen: Problem
    truth: Problem
    true: IntArray


def settings(cells: Sequence[int]) -> Iterator[Setting]:
    """2, 7 and 126 cells; 5, 10 and 20% errors, symmetric and not; known and estimated confusions."""
    for size in cells:
        for error in (0.05, 0.1, 0.2):
            for is_symmetric in (True, False):
                for hand_labels in (None, 300):
                    yield Setting(levels=LEVELS[size], error=error, is_symmetric=is_symmetric, hand_labels=hand_labels)


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


def simulated(setting: Setting, seed: int) -> Audit:
    """One audit of a setting."""
    random = np.random.default_rng([seed, *setting.levels])
    encoding = Encoding(levels={f"a{at}": tuple(map(str, range(size))) for at, size in enumerate(setting.levels)})
    cells = int(np.prod(setting.levels))
    codes = np.stack(np.unravel_index(np.arange(cells), setting.levels), axis=1)
    population = random.dirichlet(np.full(cells, 3.0))
    tilted = population * np.exp(0.4 * random.standard_normal(cells))
    pool = random.choice(cells, setting.items, p=tilted / tilted.sum())
    people = random.choice(cells, setting.people, p=population)
    matrices = [confusion(size, setting.error, setting.is_symmetric, random) for size in setting.levels]
    rows = encoding.one_hot(list(codes.T))
    lean = rows @ random.standard_normal(rows.shape[1]) / np.sqrt(len(setting.levels))
    scores = 0.2 + 0.02 * (0.75 * (lean - lean.mean())[pool] + random.standard_normal(setting.items))
    known = {name: _known(matrix, setting.hand_labels, random) for name, matrix in zip(encoding.levels, matrices)}
    given: dict[str, Any] = {"scores": scores, "k": K, "attributes": encoding.attributes, "label_names": encoding.names}
    wrong = [encoding.one_hot(_predicted(codes[one], matrices, random)) for one in (pool, people)]
    return Audit(
        seen=Problem(
            labels=wrong[0], reference=wrong[1], label_error=LabelError(items=known, reference=known), **given
        ),
        truth=Problem(
            labels=rows[pool],
            reference=rows,
            reference_weights=population,
            reference_size=setting.people,
            **given,
        ),
        true=pool,
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """Whether an interval holds the truth, its width and that of the one which ignores label errors, and values."""

    is_held: float
    width: float
    naive_width: float
    truth: float
    value: float
    naive: float


def intervals(audit: Audit) -> Iterator[tuple[tuple[str, str], Held]]:
    """By kind of set and of value."""
    seen = audit.seen
    top = seen.best_first[:K]
    rho = REPAIRED * mprlib.measure(seen, top).value
    repaired = mprlib.select(replace(seen, label_error=None), "mopr", rho).items
    chosen: list[tuple[str, IntArray, ChosenBy]] = [("top-k", top, "other"), ("mopr", repaired, "labels")]
    for kind, items, by in chosen:
        truth, naive = (mprlib.measure(one, items).value for one in (audit.truth, seen))
        found = corrected(seen, items, LINEAR, chosen_by=by)
        yield (
            (kind, "linear"),
            Held(
                is_held=found.low <= truth <= found.high,
                width=found.high - found.low,
                naive_width=2 * sampling_margin(seen, LINEAR),
                truth=truth,
                value=found.value,
                naive=naive,
            ),
        )
        yield (kind, "shares"), _shares(audit, items, by)


def _shares(audit: Audit, items: IntArray, by: ChosenBy) -> Held:
    """Shares of single levels and of pairs of them, all groups of an audit together."""
    shares = corrected_groups(audit.seen, items, chosen_by=by)
    truths, naive = (_group_shares(one, items) for one in (audit.truth, audit.seen))
    known = [(shares[name], truth, naive.get(name, 0.0)) for name, truth in truths.items()]
    return Held(
        is_held=float(np.mean([one.low - 1e-9 <= truth <= one.high + 1e-9 for one, truth, _ in known])),
        width=float(np.mean([one.high - one.low for one, _, _ in known])),
        # A share of the labels as they are is taken for the truth.
        naive_width=0.0,
        truth=float(np.mean([truth for _, truth, _ in known])),
        value=float(np.mean([one.share for one, _, _ in known])),
        naive=float(np.mean([one for _, _, one in known])),
    )


def _group_shares(problem: Problem, items: IntArray) -> dict[str, float]:
    oracle = Groups().bind(problem)
    return dict(zip(oracle.names, oracle.shares(selection_weights(problem, items))[0].tolist()))


def coverage(setting: Setting, audits: int, first: int = 0) -> dict[tuple[str, str], list[Held]]:
    """Audits of a setting, by kind of set and of value."""
    records: dict[tuple[str, str], list[Held]] = defaultdict(list)
    for seed in range(first, first + audits):
        for key, held in intervals(simulated(setting, seed)):
            records[key].append(held)
    return records


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
    parser.add_argument("--audits", type=int, default=20)
    parser.add_argument("--repairs", type=int, default=10)
    parser.add_argument("--cells", type=int, nargs="*", default=[2, 7, 126], choices=[2, 7, 126])
    given = parser.parse_args()
    print(f"{given.audits} audits a row; 95% intervals: how many hold the truth, their width beside the naive one's")
    for setting in settings(given.cells) if given.audits else ():
        _print_setting(setting, coverage(setting, given.audits))
    if given.repairs and HAS_LABELS:
        _print_repairs([one for seed in range(given.repairs) for one in repairs(seed)])


def _print_setting(setting: Setting, records: dict[tuple[str, str], list[Held]]) -> None:
    known = "known" if setting.hand_labels is None else f"{setting.hand_labels} hand labels a level"
    kind = "symmetric" if setting.is_symmetric else "asymmetric"
    print(f"{int(np.prod(setting.levels))} cells, {setting.error:.0%} {kind}, {known}")
    for (chosen, value), held in records.items():
        mean = {name: np.mean([getattr(one, name) for one in held]) for name in Held.__dataclass_fields__}
        print(
            f"    {chosen:6} {value:7} held {mean['is_held']:6.1%}  width {mean['width']:.4f} beside "
            f"{mean['naive_width']:.4f}  true {mean['truth']:.4f} corrected {mean['value']:.4f} "
            f"naive {mean['naive']:.4f}",
            flush=True,
        )


def _print_repairs(rows: Sequence[Repair]) -> None:
    print("\nFairFace, one gender in ten wrong: repairs to a true MPR of at most rho, claimed with 90%")
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
