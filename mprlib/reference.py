"""Whom a selection is compared with: builders of reference populations.

A reference is label rows with weights. Some are samples of a population (a data set, with its
sampling weights); others are statements (balanced, target shares), which have no sampling error
and need a stated size, because the normalised class C' depends on one.

Levels that only one side has are kept. Items whose level the reference gives no share stay in the
pool with a reference share of 0: showing them counts as over-representation, which is what such a
reference says. `one_sided_levels` puts them into words; drop those items first where that is not
what is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.encoding import Encoding
from mprlib.errors import InputError
from mprlib.naming import level_name
from mprlib.proportional_fitting import fit_shares
from mprlib.settings import SIZE, Whole, checked, refuse_text
from mprlib.shares import Statement, possible_combinations, statement

# As large as the reference samples of the paper's experiments.
STATED_SIZE = 10_000

Levels = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Reference:
    """Label rows that stand for a population.

    Shapes:  labels (m, l); weights (m,), or None where all rows count alike.
    size: the stated effective m; None where the rows are a sample and speak for themselves.
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

    Shapes:  rows maps each attribute to one level a row; weights (m,), sampling weights.
    Raises:  InputError for a missing attribute or an unknown level; bad weights are refused where
             the reference enters a Problem.
    """
    if weights is not None:
        refuse_text("weights", weights)
        weights = np.asarray(weights, dtype=float)
    return Reference(labels=encoding.encode(rows), weights=weights, is_sample=True)


def most_similar(reference: Reference, scores: ArrayLike, top: int) -> Reference:
    """The query-conditioned reference: its rows most similar to the query; ties by position.

    Shapes:  scores (m,), similarity of each reference row to the query.
    Returns: at most `top` rows with their weights; chosen by score, so no sample any more.
    Raises:  InputError for scores of another length, or top < 1.
    Source:  MPR paper, section 5 (top 10,000 of FairFace for the same query).
    """
    refuse_text("scores", scores)
    scores = np.asarray(scores, dtype=float)
    rows = reference.labels.shape[0]
    if scores.shape != (rows,):
        raise InputError(f"scores has shape {scores.shape}, ({rows},) expected: one a reference row")
    if not np.isfinite(scores).all():
        raise InputError("scores holds a value that is not finite")
    kept = np.argsort(-scores, kind="stable")[: checked(Whole(least=1), "top", top)]
    weights = None if reference.weights is None else reference.weights[kept]
    return Reference(labels=reference.labels[kept], weights=weights)


def balanced(encoding: Encoding, size: float | None = None) -> Reference:
    """One row for each combination of levels, all with equal shares.

    size: the stated m; by default the number of combinations, as in the paper's experiments. State
    a larger one to compare values with those against a reference of that size.

    Raises:  InputError for a size that is not positive, or more than 100,000 combinations.
    Source:  MPR paper, section 5.
    """
    labels = _encoded(encoding, possible_combinations(encoding.levels))
    return Reference(labels=labels, size=float(len(labels)) if size is None else float(checked(SIZE, "size", size)))


def target_shares(
    encoding: Encoding, shares: Mapping[Any, Mapping[Any, float]], size: float = STATED_SIZE
) -> Reference:
    """A stated population: shares of levels, of combinations of levels, or of both.

    shares maps an attribute to its levels' shares ({"gender": {"female": 0.5, "male": 0.5}}), and
    attributes joined by " & " to joint shares ({"gender & age": {"female & 50+": 0.2, ...}}); names
    that hold "&" can stand in double quotes or in tuples (`mprlib.shares`). A level that is not named
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


def one_sided_levels(encoding: Encoding, pool: Levels, reference: Reference) -> list[str]:
    """One sentence for each level that only the pool or only the reference has.

    Shapes:  pool maps each attribute to one level an item.
    """
    weights = np.ones(reference.labels.shape[0]) if reference.weights is None else reference.weights
    pool_has = encoding.encode(pool).any(axis=0)
    reference_has = (reference.labels[weights > 0] > 0).any(axis=0)
    names = [(attribute, level) for attribute, levels in encoding.levels.items() for level in levels]
    messages = []
    for (attribute, level), in_pool, in_reference in zip(names, pool_has, reference_has):
        if in_pool and not in_reference:
            messages.append(
                f"{level_name(attribute, level)} is in the pool but not in the reference: "
                "every such item retrieved counts as over-represented; map the level or drop the items if it should not"
            )
        if in_reference and not in_pool:
            messages.append(
                f"{level_name(attribute, level)} is in the reference but not in the pool: "
                "no selection can represent it; map the level if the pool has it under another name"
            )
    return messages


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
