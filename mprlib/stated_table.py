"""A table of cells of stated shares: of levels, of combinations of levels, or of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cell_table import CellTable
from mprlib.encoding import Encoding
from mprlib.errors import InputError
from mprlib.frames.levels import level_of
from mprlib.proportional_fitting import fit_shares
from mprlib.shares import Statement, possible_combinations, statement


def stated_table(encoding: Encoding, shares: Mapping[Any, Mapping[Any, float]]) -> CellTable:
    """The combinations that have a share, as `target_shares` completes what is stated.

    Raises:  InputError as it does.
    """
    if not isinstance(shares, Mapping) or not shares:
        raise InputError("shares is empty: the shares of at least one attribute are expected")
    statements = [statement(encoding.levels, attributes, stated) for attributes, stated in shares.items()]
    rows = possible_combinations(encoding.levels, statements)
    joint = fit_shares(len(rows), [_target(encoding, rows, stated) for stated in statements])
    return CellTable.of_groups(encoding.one_hot(list(rows.T)), np.arange(len(rows)), joint)


def named_levels(shares: Any) -> dict[str, tuple[str, ...]]:
    """The levels that shares name, by attribute; a tuple names several."""
    levels: dict[str, dict[str, None]] = {}
    for attributes, stated in shares.items() if isinstance(shares, Mapping) else ():
        names = attributes if isinstance(attributes, tuple) else (attributes,)
        for key in stated if isinstance(stated, Mapping) else ():
            group = key if isinstance(attributes, tuple) and isinstance(key, tuple) else (key,)
            for name, level in zip(names, group):
                levels.setdefault(str(name), {})[level_of(level)] = None
    if not levels:
        raise InputError("shares is empty: the shares of at least one attribute are expected")
    return {name: tuple(own) for name, own in levels.items()}


def _target(encoding: Encoding, rows: IntArray, stated: Statement) -> tuple[str, IntArray, FloatArray]:
    """A statement as fit_shares takes it: its name, each combination's group, the groups' shares."""
    known = list(encoding.levels)
    places = [known.index(name) for name in stated.names]
    groups = {group: code for code, group in enumerate(stated.groups)}
    levels = [encoding.levels[name] for name in stated.names]
    code = [groups[tuple(own[at] for own, at in zip(levels, row))] for row in rows[:, places].tolist()]
    return " & ".join(stated.names), np.array(code, dtype=np.intp), stated.shares
