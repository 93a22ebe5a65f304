"""Confusions that say too little to be corrected by.

An error of the predicted shares, and one of the confusion itself, is stretched by up to 1 / sigma, with sigma the
smallest singular value of T: for two levels 1 less both error rates. Labels that are drawn by lot have sigma = 0. An
estimated confusion whose sigma is within twice its own sampling error cannot be told from such a one.

Worked example: 45 of 100 women and 50 of 100 men are predicted to be men; that may be no difference at all.

>>> from mprlib import Confusion
>>> weak_confusion("gender", Confusion.of([[55, 45], [50, 50]])).partition(",")[0]
"the confusion of 'gender' cannot be told from labels drawn by lot"
>>> weak_confusion("gender", Confusion.of([[90, 10], [10, 90]]))
''
"""

from __future__ import annotations

import math

import numpy as np

from mprlib.confusion import Confusion
from mprlib.label_errors.confusions import DRAWS, drawn_shares
from mprlib.label_errors.true_cells import error_of
from mprlib.problem import Problem

# Sampling errors that sigma must exceed.
ERRORS = 2.0
# Below this a share of the labels moves by less than a twentieth of what the true one does.
SMALLEST_SIGMA = 0.05
ONE_ITEM = "1 item of a true level to tell it by is"


def too_weak(problem: Problem) -> str:
    """One sentence on the first confusion of a problem that says too little; empty where all say enough."""

    def build() -> str:
        error = error_of(problem)
        # Both sides often have the same one.
        known = {(name, id(one)): one for name, one in (*error.items.items(), *error.reference.items())}
        return next((said for (name, _), one in known.items() if (said := weak_confusion(name, one))), "")

    return problem.cached("too weak", build)


def weak_confusion(name: str, confusion: Confusion) -> str:
    """What is said of a confusion that says too little; empty of others."""
    sigma = 1.0 / confusion.condition
    start = f"the confusion of {name!r} cannot be told from labels drawn by lot, so that no true share is known: "
    if sigma < SMALLEST_SIGMA and not np.isfinite(confusion.sizes).any():
        return f"{start}no number of hand labels of this predictor would do, label the shown items themselves"
    if not np.isfinite(confusion.sizes).any():
        return ""
    drawn = drawn_shares(confusion, DRAWS, np.random.default_rng(len(confusion.shares)))
    spread = drawn - confusion.shares
    # Squares of the largest singular values.
    noise = float(np.sqrt(np.mean(np.linalg.eigvalsh(np.swapaxes(spread, 1, 2) @ spread)[:, -1])))
    if sigma >= max(ERRORS * noise, SMALLEST_SIGMA):
        return ""
    smallest = float(confusion.sizes[np.isfinite(confusion.sizes)].min())
    # Errors fall as the root of the number of labels.
    stretched = math.ceil(smallest * (ERRORS * noise / max(sigma, SMALLEST_SIGMA)) ** 2)
    needed = max(stretched, 2 * int(smallest))
    items = f"{smallest:,.0f} items of a true level to tell it by are" if round(smallest) != 1 else ONE_ITEM
    return (
        f"{start}{items} too few, some {needed:,} of each would be needed, or hand labels of the shown items themselves"
    )
