"""Populations over an encoding that is known already: the balanced one, one of stated shares."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from mprlib.encoding import Encoding
from mprlib.reference import STATED_SIZE, Reference


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
    return Reference.stated(encoding, shares, size)
