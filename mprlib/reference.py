"""Builders of reference populations, which a selection is compared with.

A reference is label rows with weights. Some are samples of a population (a data set, with its
sampling weights); others are statements (balanced, target shares), which have no sampling error
and need a stated size, because the normalised class C' depends on one.

Levels that only one side has are kept. Items whose level the reference gives no share stay in the
pool with a reference share of 0: showing them counts as over-representation, which is what such a
reference says; drop those items first where that is not what is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.encoding import Encoding
from mprlib.errors import InputError
from mprlib.proportional_fitting import fit_shares
from mprlib.settings import SIZE, checked, refuse_text
from mprlib.shares import Statement, possible_combinations, statement

# As large as the reference samples of the paper's experiments.
STATED_SIZE = 10_000

Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Reference:
    """Label rows that stand for a population.

    Shapes:  labels (m, l); weights (m,), or None where all rows count alike.
    size: the stated effective m; None where the rows are a sample, whose own size counts.
    is_sample: independent draws of a population; only then has it a sampling error.
    """

    labels: FloatArray
    weights: FloatArray | None = None
    size: float | None = None
    is_sample: bool = False

    def arguments(self) -> dict[str, Any]:
        """What `Problem` takes: Problem(..., **reference.arguments())."""
        return {"reference": self.labels, "reference_weights": self.weights, "reference_size": self.size}


def sampled(encoding: Encoding, rows: Levels, weights: ArrayLike | None = None) -> Reference:
    """The population as a sample shows it: the pool's own data set, or another one.

    Shapes:  rows maps each attribute to one level per row; weights (m,), sampling weights.
    Raises:  InputError for a missing attribute or an unknown level; bad weights are refused where
             the reference enters a Problem.
    """
    if weights is not None:
        refuse_text("weights", weights)
        weights = np.asarray(weights, dtype=float)
    return Reference(labels=encoding.encode(rows), weights=weights, is_sample=True)


def balanced(encoding: Encoding, size: float | None = None, *, missing: str | None = None) -> Reference:
    """Every combination of levels, all with equal shares.

    size: the stated m; by default the number of combinations, as in the paper's experiments. State
    a larger one to compare values with those against a reference of that size.
    missing: the level of items without a value, which gets no share: they are no group.

    Raises:  InputError for a size that is not positive, or more than 100,000 combinations.
    Source:  MPR paper, section 5.
    """
    known = {name: [level for level in levels if level != missing] for name, levels in encoding.levels.items()}
    equal = {name: dict.fromkeys(levels, 1 / len(levels)) for name, levels in known.items()}
    return target_shares(encoding, equal, prod(map(len, known.values())) if size is None else size)


def target_shares(
    encoding: Encoding, shares: Mapping[Any, Mapping[Any, float]], size: float = STATED_SIZE
) -> Reference:
    """A stated population: shares of levels, of combinations of levels, or of both.

    shares maps an attribute to its levels' shares ({"gender": {"female": 0.5, "male": 0.5}}), and
    attributes joined by " & " to joint shares ({"gender & age": {"female & 50+": 0.2, ...}}); names
    that hold "&" can be written in double quotes or as tuples (`mprlib.shares`). A level that is not named
    has the share 0. What is left open is completed with no more association than stated (iterative
    proportional fitting from equal shares); only combinations that have a share become rows.

    Raises:  InputError for unknown attributes or levels, shares that are no numbers, negative or do not
             sum to 1, shares that contradict each other, and more than 100,000 combinations with a share.
    """
    if not isinstance(shares, Mapping) or not shares:
        raise InputError("shares is empty: the shares of at least one attribute are expected")
    statements = [statement(encoding.levels, attributes, stated) for attributes, stated in shares.items()]
    rows = possible_combinations(encoding.levels, statements)
    joint = fit_shares(len(rows), [_target(encoding, rows, stated) for stated in statements])
    kept = joint > 0
    return Reference(
        labels=_encoded(encoding, rows[kept]), weights=joint[kept], size=float(checked(SIZE, "size", size))
    )


def _encoded(encoding: Encoding, rows: IntArray) -> FloatArray:
    """One-hot rows of positions (rows, attributes) in the levels."""
    return np.concatenate([np.eye(len(own))[codes] for own, codes in zip(encoding.levels.values(), rows.T)], axis=1)


def _target(encoding: Encoding, rows: IntArray, stated: Statement) -> tuple[str, IntArray, FloatArray]:
    """A statement as fit_shares takes it: its name, each combination's group, the groups' shares."""
    known = list(encoding.levels)
    places = [known.index(name) for name in stated.names]
    groups = {group: code for code, group in enumerate(stated.groups)}
    levels = [encoding.levels[name] for name in stated.names]
    code = [groups[tuple(own[at] for own, at in zip(levels, row))] for row in rows[:, places].tolist()]
    return " & ".join(stated.names), np.array(code, dtype=np.intp), stated.shares
