"""Two systems over queries that share people: what a comparison of systems has to hold its level under."""

from __future__ import annotations

import numpy as np

# Shares of the groups of the made-up reference.
GROUPS = np.array([0.5, 0.2, 0.15, 0.1, 0.05])
PEOPLE, K = 5_000, 50


def simulated(
    random: np.random.Generator, *, queries: int = 50, family: int = 5, kept: float = 0.6, tilt: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Differences (queries,) of the largest gap, B's minus A's, and the overlap (queries, queries) of their items.

    Queries come in families whose selections share that part of their people, on both sides. tilt: what B gives up of
    its largest group's share for its others.
    """
    group = random.choice(GROUPS.size, PEOPLE, p=GROUPS)
    lean = 0.15
    sides = []
    for shift in (0.0, tilt):
        weights = np.where(group == 0, 1.0 + (lean - shift) / GROUPS[0], 1.0 - (lean - shift) / (1 - GROUPS[0]))
        chances = weights / weights.sum()
        members = np.zeros((queries, PEOPLE), dtype=np.float32)
        for start in range(0, queries, family):
            core = _drawn(random, chances, round(kept * K))
            for query in range(start, min(start + family, queries)):
                members[query, core] = 1
                rest = _drawn(random, chances, 2 * K)
                fresh = rest[members[query, rest] == 0][: K - core.size]
                members[query, fresh] = 1
        gaps = np.abs(np.array([members[:, group == one].sum(axis=1) / K for one in range(GROUPS.size)]).T - GROUPS)
        sides.append((gaps.max(axis=1), members @ members.T / K))
    # What random sets of the people share says nothing.
    luck = K / PEOPLE
    return sides[1][0] - sides[0][0], np.clip((0.5 * (sides[0][1] + sides[1][1]) - luck) / (1 - luck), 0, 1)


def _drawn(random: np.random.Generator, chances: np.ndarray, count: int) -> np.ndarray:
    """People without repetition, in random order (Gumbel's keys)."""
    keys = np.log(chances) + random.gumbel(size=chances.size)
    best = np.argpartition(-keys, 2 * K)[: 2 * K]
    return best[np.argsort(-keys[best])][:count]


def found_share(random: np.random.Generator, audits: int, is_naive: bool = False, **settings: float) -> float:
    """Share of audits whose difference has a p value of at most 0.05."""
    from mprlib.statistics import paired_difference

    found = 0
    for _ in range(audits):
        differences, overlap = simulated(random, **settings)  # type: ignore[arg-type]
        result = paired_difference(differences, None if is_naive else overlap, draws=999)
        found += result.p_value <= 0.05
    return found / audits
