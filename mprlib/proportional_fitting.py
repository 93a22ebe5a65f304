"""Iterative proportional fitting: joint shares that meet several stated sets of shares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.errors import InputError

# Shares are typed by people, to two or three digits; a sum further from 1 is a mistake.
SUM_TOLERANCE = 1e-3
# Rounds end at this deviation of fitted from stated shares. Statements that force a combination
# towards 0 converge slowly; they pass with the second one, below one row of a million.
FIT_TOLERANCE = 1e-9
ACCEPTED_DEVIATION = 1e-6
# Compatible statements converge geometrically, within tens of rounds, or like 1 / rounds.
# Contradictory ones settle in a cycle: the deviation then stays what it was some rounds ago.
MOST_ROUNDS = 10_000
ROUNDS_BETWEEN_CHECKS = 100
STILL_FALLING = 1.0 - 1e-6


def fit_shares(combinations: int, targets: Sequence[tuple[str, IntArray, FloatArray]]) -> FloatArray:
    """Joint shares (combinations,) nearest to equal ones, in relative entropy, that meet all targets.

    Shapes:  a target is (name, code (combinations,), shares (groups,)): the combinations whose code
             is g must sum to shares[g].
    Raises:  InputError for shares that are negative, not finite, do not sum to 1, or contradict
             each other.
    Source:  Deming and Stephan 1940; Csiszar 1975 for convergence whenever the targets are
             compatible.
    """
    targets = [(name, code, as_shares(name, shares)) for name, code, shares in targets]
    # Statements that leave no combination possible contradict each other too.
    joint: FloatArray = np.full(combinations, 1.0 / max(1, combinations))
    before = np.inf
    for rounds in range(1, MOST_ROUNDS + 1):
        for _, code, shares in targets:
            sums = np.bincount(code, joint, shares.size)
            joint = joint * np.divide(shares, sums, out=np.zeros_like(shares), where=sums > 0)[code]
        deviations = [np.abs(np.bincount(code, joint, shares.size) - shares).max() for _, code, shares in targets]
        if max(deviations) <= FIT_TOLERANCE:
            return joint / float(joint.sum())
        if rounds % ROUNDS_BETWEEN_CHECKS == 0:
            if max(deviations) > STILL_FALLING * before:
                break
            before = max(deviations)
    if max(deviations) <= ACCEPTED_DEVIATION:
        return joint / float(joint.sum())
    worst = targets[int(np.argmax(deviations))][0]
    raise InputError(
        f"shares contradict each other: no population meets all of {', '.join(name for name, _, _ in targets)} "
        f"({worst} is missed by {max(deviations):.3g}); correct or leave out one of them"
    )


def as_shares(name: str, shares: FloatArray) -> FloatArray:
    """Shares (groups,) that sum to 1 to the last bit where they do to three digits.

    Raises:  InputError for shares that are negative, not finite, or sum to something else.
    """
    is_bad = ~(np.isfinite(shares) & (shares >= 0))
    if is_bad.any():
        raise InputError(f"shares of {name!r} hold {shares[is_bad][0]}: numbers from 0 to 1 are expected")
    total = shares.sum()
    if abs(total - 1.0) > SUM_TOLERANCE:
        hint = "; they look like percentages" if abs(total - 100.0) < 1 else ""
        raise InputError(f"shares of {name!r} sum to {total:g}: 1 is expected{hint}")
    normalised: FloatArray = shares / total
    return normalised
