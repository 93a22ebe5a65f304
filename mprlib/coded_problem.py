"""Problems of items and people that are given by the codes of their levels.

The same problem as that of one-hot rows, to the last bit, without reading those: what belongs to the reference, its
cells and their order, is found once for all problems that have no other cells, and kept with the reference.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mprlib.arrays import FloatArray, IntArray, distinct_rows
from mprlib.cells import SMALLEST_WEIGHT, Cells
from mprlib.encoding import Encoding
from mprlib.problem import Problem
from mprlib.reference import Reference

# Combinations of levels up to which a table says which cell each is.
MOST_COMBINATIONS = 2**16


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CellTemplate:
    """Cells of pool and reference together, without the pool's counts.

    Shapes:  labels (G, l); cell (combinations,), each one's cell, -1 where it is none; shares and rows (G,), those of
             the reference; reference_cell as in `Cells`.
    names, attributes: of the encoding's columns.
    """

    labels: FloatArray
    cell: IntArray
    shares: FloatArray
    rows: FloatArray
    reference_cell: IntArray
    name: Hashable
    names: tuple[str, ...]
    attributes: Mapping[str, tuple[int, ...]]


def coded_problem(encoding: Encoding, codes: Sequence[IntArray], population: Reference, **given: Any) -> Problem:
    """The problem of items with these codes, an array (n,) for each attribute of the population's encoding.

    given: the other fields, in the form in which a problem stores them.
    """
    sizes = [len(levels) for levels in encoding.levels.values()]
    if prod(sizes) > MOST_COMBINATIONS:
        labels = encoding.one_hot(codes)
        return Problem(labels=labels, reference=population, label_names=encoding.names, **given)
    joint = _joint(codes, sizes)
    template = _template(encoding, population, ())
    pool_cell = template.cell.take(joint)
    if pool_cell.min() < 0:
        template = _template(encoding, population, tuple(np.unique(joint[pool_cell < 0]).tolist()))
        pool_cell = template.cell[joint]
    counts = np.bincount(pool_cell, minlength=template.shares.size)
    cells = Cells(
        labels=template.labels,
        pool_cell=pool_cell,
        reference_cell=template.reference_cell,
        pool_counts=counts,
        reference_shares=template.shares,
        masses=counts + template.rows,
        name=template.name,
    )
    labels = template.labels.take(pool_cell, axis=0)
    labels.flags.writeable = False
    return Problem.of_checked(
        {"cells": cells},
        labels=labels,
        reference=population,
        attributes=dict(template.attributes),
        label_names=template.names,
        reference_size=population.size,
        **given,
    )


def _template(encoding: Encoding, population: Reference, others: tuple[int, ...]) -> CellTemplate:
    """others: combinations of levels that only the pool has."""
    return population.kept.get(("cells", others), lambda: _built(encoding, population, others))


def _built(encoding: Encoding, population: Reference, others: tuple[int, ...]) -> CellTemplate:
    sizes = [len(levels) for levels in encoding.levels.values()]
    is_weighted = population.shares > SMALLEST_WEIGHT
    own = population.labels[is_weighted]
    blocks = np.split(own, np.cumsum(sizes)[:-1], axis=1)
    joint = np.concatenate([_joint([block.argmax(axis=1) for block in blocks], sizes), np.array(others, dtype=np.intp)])
    of_others = list(np.unravel_index(np.array(others, dtype=np.intp), sizes))
    labels, place = distinct_rows(np.concatenate([own, encoding.one_hot(of_others)]))
    labels.flags.writeable = False
    cell = np.full(prod(sizes), -1, dtype=np.intp)
    cell[joint] = place
    reference_cell = np.full(is_weighted.size, -1, dtype=np.intp)
    reference_cell[is_weighted] = place[: len(own)]
    shares, rows = np.zeros(len(labels)), np.zeros(len(labels))
    shares[place[: len(own)]] = population.shares[is_weighted]
    rows[place[: len(own)]] = population.effective_counts[is_weighted]
    return CellTemplate(
        labels=labels,
        cell=cell,
        shares=shares,
        rows=rows,
        reference_cell=reference_cell,
        name=("cells", others),
        names=encoding.names,
        attributes=encoding.attributes,
    )


def _joint(codes: Sequence[IntArray], sizes: Sequence[int]) -> IntArray:
    """One number (n,) for each row's levels."""
    joint = codes[0]
    for size, of_rows in zip(sizes[1:], codes[1:]):
        joint = joint * size + of_rows
    return joint
