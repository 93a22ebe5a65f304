"""What hand labels are worth where they count most: python -m tests.benchmarks.hand_labels [--draws 200]

Simulated audits: items of whom some labels are wrong, selections of k = 50 by a score that leans to some groups, and
200 items labelled by hand, drawn as `mpr-audit label-sample` draws them and uniformly. Printed for each: the mean
squared error of the groups' gaps that a run with these labels reports, the ratio of the two beside the one that
`label-sample` states before anybody has labelled anything, and how often 95% intervals of groups' shares hold the truth
(bar: 93%), with their mean width in points. In the last rows labels are wrong twice as often as was assumed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from jobs.labelling.frame import Frame
from jobs.labelling.sample import contributions, drawn_rows, variance_ratio
from mprlib import Confusion, LabelError, Problem
from mprlib.hand_labels import assumed_truth, effective_counts, inclusion_probabilities
from mprlib.label_errors import corrected_groups

ITEMS, K, COUNT = 5_000, 50, 200
GENDER = {"gender": np.array([0.47, 0.53])}
RARE = {"gender": np.array([0.08, 0.92])}
BOTH = GENDER | {"race": np.array([0.19, 0.14, 0.14, 0.15, 0.13, 0.14, 0.11])}
ASSUMED = 0.1
# Queries of an audit whose intervals are looked at: all are alike.
LOOKED_AT = 4
# How far scores lean to the first level of each attribute, in their standard deviations.
LEANING = 0.7


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """Attributes by their levels' shares, queries, and the share of labels that is wrong."""

    name: str
    shares: dict[str, np.ndarray]
    queries: int
    error: float


POPULATIONS = {"gender": GENDER, "rare": RARE, "gender race": BOTH}
SETTINGS = [
    *(
        Setting(name=name, shares=shares, queries=queries, error=ASSUMED)
        for name, shares in POPULATIONS.items()
        for queries in (1, 20, 200)
    ),
    *(Setting(name="gender race", shares=BOTH, queries=queries, error=2 * ASSUMED) for queries in (1, 200)),
]
WIDTHS = (12, 7, 5, 9, 9, 6, 6, 8, 7, 6, 6, 8)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Audit:
    """True and predicted levels of items by attribute, and the selections (queries, k)."""

    true: dict[str, np.ndarray]
    predicted: dict[str, np.ndarray]
    scores: np.ndarray
    selections: np.ndarray
    levels: dict[str, tuple[str, ...]]

    @property
    def frame(self) -> Frame:
        """What a sample is drawn of."""
        times = np.bincount(self.selections.ravel(), minlength=ITEMS)
        shares = {
            name: np.array([np.bincount(codes[row], minlength=len(self.levels[name])) / K for row in self.selections])
            for name, codes in self.predicted.items()
        }
        own = times / K**2 / len(self.selections)
        return Frame(levels=self.levels, codes=self.predicted, times=times, own=own, shares=shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10, help="simulated audits of each row")
    given = parser.parse_args()
    print(f"{given.draws} audits a row; error^2, coverage and width in points: of a uniform sample, of the one drawn")
    names = ("attributes", "queries", "wrong", "error^2", "", "ratio", "stated", "covered", "", "width", "", "seconds")
    print(" ".join(f"{name:>{width}}" for name, width in zip(names, WIDTHS)))
    with threadpool_limits(1):
        for setting in SETTINGS:
            print(row_of(setting, given.draws), flush=True)


def row_of(setting: Setting, draws: int) -> str:
    started = time.process_time()
    uniform, drawn, stated = [], [], []
    for seed in range(draws):
        generator = np.random.default_rng([seed, setting.queries])
        audit = audit_of(setting, generator)
        frame, is_own = audit.frame, np.ones(setting.queries, dtype=bool)
        truths = {name: assumed_truth(frame.predicted_shares(name), ASSUMED) for name in setting.shares}
        estimation, own = contributions(frame, truths, is_own)
        probabilities = inclusion_probabilities(estimation, own, COUNT)
        stated.append(variance_ratio(estimation, own, probabilities))
        uniform += reported(audit, np.full(ITEMS, COUNT / ITEMS), generator)
        drawn += reported(audit, probabilities, generator)
    (error, covered, width), (own_error, own_covered, own_width) = (np.mean(rows, axis=0) for rows in (uniform, drawn))
    cells = (
        f"{setting.name}",
        f"{setting.queries}",
        f"{setting.error:.0%}",
        f"{error:.5f}",
        f"{own_error:.5f}",
        f"{error / own_error:.2f}",
        f"{np.mean(stated):.2f}",
        f"{covered:.1%}",
        f"{own_covered:.1%}",
        f"{100 * width:.1f}",
        f"{100 * own_width:.1f}",
        f"{time.process_time() - started:.1f}",
    )
    return " ".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS))


def audit_of(setting: Setting, generator: np.random.Generator) -> Audit:
    true = {name: generator.choice(shares.size, ITEMS, p=shares) for name, shares in setting.shares.items()}
    predicted = {name: wrong(codes, setting, name, generator) for name, codes in true.items()}
    leaning = LEANING * np.sum([codes == 0 for codes in true.values()], axis=0)
    scores = generator.standard_normal((setting.queries, ITEMS)) + leaning
    return Audit(
        true=true,
        predicted=predicted,
        scores=scores,
        selections=np.argsort(-scores, axis=1)[:, :K],
        levels={name: tuple(map(str, range(shares.size))) for name, shares in setting.shares.items()},
    )


def wrong(codes: np.ndarray, setting: Setting, name: str, generator: np.random.Generator) -> np.ndarray:
    """Labels, a share of which is another level."""
    levels = setting.shares[name].size
    others = (codes + generator.integers(1, levels, codes.size)) % levels
    return np.where(generator.uniform(size=codes.size) < setting.error, others, codes)


def reported(audit: Audit, probabilities: np.ndarray, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Of some queries: squared error of the gaps, and the coverage and mean width of intervals of shares."""
    rows = drawn_rows(audit.frame, list(audit.levels), probabilities, generator)
    error = label_error(audit, rows, probabilities)
    labels = np.concatenate([np.eye(len(own))[audit.predicted[name]] for name, own in audit.levels.items()], axis=1)
    names = [f"{name}={level}" for name, own in audit.levels.items() for level in own]
    attributes = {name: [at for at, one in enumerate(names) if one.startswith(f"{name}=")] for name in audit.levels}
    for scores, chosen in list(zip(audit.scores, audit.selections))[:LOOKED_AT]:
        problem = Problem(
            scores=scores,
            labels=labels,
            reference=labels,
            k=K,
            attributes=attributes,
            label_names=names,
            label_error=error,
        )
        found = corrected_groups(problem, chosen, 1, chosen_by="other")
        yield judged(audit, chosen, found)


def label_error(audit: Audit, rows: np.ndarray, probabilities: np.ndarray) -> LabelError:
    """What a run makes of labels of these rows."""
    confusions, known = {}, {}
    for name, levels in audit.levels.items():
        totals = np.bincount(audit.predicted[name], minlength=len(levels)).astype(float)
        counts = effective_counts(audit.true[name][rows], audit.predicted[name][rows], probabilities[rows], totals)
        sizes = counts.sum(axis=1)
        confusions[name] = Confusion(shares=counts / sizes[:, None], sizes=sizes, levels=levels)
        known[name] = np.full(ITEMS, -1)
        known[name][rows] = audit.true[name][rows]
    return LabelError(items=confusions, reference=confusions, known=known)


def judged(audit: Audit, chosen: np.ndarray, found: dict) -> np.ndarray:
    errors, covered, widths = [], [], []
    for name, levels in audit.levels.items():
        for place, level in enumerate(levels):
            one = found[f"{name}={level}"]
            shown, people = np.mean(audit.true[name][chosen] == place), np.mean(audit.true[name] == place)
            errors.append((one.share - one.share_reference - shown + people) ** 2)
            covered.append(one.low - 1e-9 <= shown <= one.high + 1e-9)
            widths.append(one.high - one.low)
    return np.array([np.sum(errors), np.mean(covered), np.mean(widths)])


if __name__ == "__main__":
    main()
