"""Shares of levels by a probe whose own people have others: how far they are off, and how often within their margin.

    python -m tests.benchmarks.prior_shift [--audits 30]

500 labelled people, half of them women, teach a probe; 1,500 audited people are women to one half or to four fifths.
Their vectors tell gender by so many standard deviations between the means.
"""

from __future__ import annotations

import argparse

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.prior_shift import HALF_INTERVAL, shift_of
from mprlib.probes import train_probe

LABELLED, AUDITED, WIDTH = 500, 1_500, 6
APART, WOMEN = (1.0, 1.6, 2.4), (0.5, 0.8)


def people(random: np.random.Generator, size: int, women: float, apart: float) -> tuple[FloatArray, np.ndarray]:
    """Vectors (size, WIDTH), and who is a woman."""
    is_woman = random.random(size) < women
    vectors = random.standard_normal((size, WIDTH))
    vectors[:, 0] += np.where(is_woman, apart / 2.0, -apart / 2.0)
    return vectors, is_woman


def audit(seed: int, women: float, apart: float) -> tuple[float, float, float, bool]:
    """How far the share of women is off as found and as the probe gives it, the margin, and whether it is used."""
    random = np.random.default_rng(seed)
    vectors, is_woman = people(random, LABELLED, 0.5, apart)
    probe = train_probe(vectors, np.where(is_woman, "woman", "man"), seed=seed)
    shown, truth = people(random, AUDITED, women, apart)
    given = probe.calibrated(shown)
    found, column = shift_of(given, probe.shares, probe.bias), probe.levels.index("woman")
    true = float(truth.mean())
    return (
        float(found.after[column]) - true,
        float(given[:, column].mean()) - true,
        float(HALF_INTERVAL * found.errors[column]),
        not found.why,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=30)
    asked = parser.parse_args()
    print("points by which the share of women is off (root mean square), and its margin:")
    for apart in APART:
        for women in WOMEN:
            off, given, margin, is_used = np.array([audit(seed, women, apart) for seed in range(asked.audits)]).T
            print(
                f"  {apart:.1f} deviations apart, {women:.0%} women: found {100 * np.sqrt(np.mean(off**2)):4.1f}, as "
                f"given {100 * np.sqrt(np.mean(given**2)):4.1f}; margin {100 * np.median(margin):4.1f} holds "
                f"{np.mean(np.abs(off) <= margin):4.0%}; re-weighted in {is_used.mean():4.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
