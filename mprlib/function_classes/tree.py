"""Decision trees of bounded depth, exactly: the best of all trees, found by enumeration.

On a tree's leaves the best function is constant, so a tree is worth the sum of its leaves' gains:

    normalised as C'    (p_L - q_L)^2 / N_L, and MPR^2 = D * sum      (an empty leaf is worth 0)
    values {-1, +1}     |p_L - q_L|,         and MPR = sum

A split never lowers the worth (both gains are convex and homogeneous), so only full trees need be
looked at. Once split, the two sides are independent problems: worth(A, d) is the maximum over
splits of worth(A and left, d - 1) + worth(A and right, d - 1). The intersections of up to
depth - 1 sides of splits are listed once for a problem; for each of them the masses on both sides
of every last split are then one matrix product.

Worked example: labels [[0], [1]], one split; p = (1, 0), q = (1/2, 1/2), N = (3, 2), D = 2/3 gives
MPR^2 = 2/3 * (1/4 / 3 + 1/4 / 2) = 5/36.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.base import DEPTH, FunctionClass, Oracle, WorstCase, normalised
from mprlib.function_classes.classifier import greedy_classes, signed_attained
from mprlib.function_classes.regression import attained, scaled_targets
from mprlib.function_classes.tree_greedy import PAPER_SEED, greedy_tree
from mprlib.problem import Problem
from mprlib.settings import Flag

# Entries of the largest table, intersections times cells: 0.2 GB. Continuous labels and great
# depths pass it, and are answered by a greedily grown tree.
LARGEST_TABLE = 25_000_000
# Functions this close, relative to their values, are of trees that part the cells alike.
SAME_FUNCTION = 1e-9
# A distance between shares below this is the rounding of their sums.
FLOOR_ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree(FunctionClass):
    """All decision trees of bounded depth.

    Exact where labels have few distinct values; else a greedily grown tree's value, and a bound.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> round(mprlib.measure(problem, [0, 1], "tree", depth=1).value, 4)
    0.4082
    """

    name: ClassVar[str] = "tree"
    is_exact: ClassVar[bool] = True

    depth: Annotated[int, DEPTH, "levels of splits, at most"] = 3
    signed: Annotated[
        bool, Flag(), "trees with values {-1, +1} instead of the normalised class; not bounded by `saturated`"
    ] = False

    @property
    def is_normalised(self) -> bool:
        """Scaled as C', unless its values are {-1, +1}."""
        return not self.signed

    def bind(self, problem: Problem) -> Oracle:
        """The exact oracle, or the greedy one when there are too many trees to list."""
        return problem.cached(("tree", self), lambda: self._build(problem))

    def _build(self, problem: Problem) -> Oracle:
        cells = cells_of(problem)
        sides = _splits(cells.labels)
        levels = None if sides is None else _intersections(sides, self.depth)
        if sides is not None and levels is not None:
            intersections, children = levels
            return TreeOracle(
                problem=problem,
                cells=cells,
                is_signed=self.signed,
                sides=sides.reshape(-1, cells.size).astype(float),
                intersections=intersections,
                children=children,
            )
        shallower = Tree(depth=self.depth - 1, signed=self.signed).bind(problem) if self.depth > 1 else None
        return GreedyTreeOracle(
            problem=problem, cells=cells, is_signed=self.signed, depth=self.depth, shallower=shallower
        )


class TreeOracle(Oracle):
    """Exact by enumeration.

    Shapes:  sides (2S, G), both sides of each of S splits, one after the other, as 0 and 1.
             intersections (I, G), the sets that a last split is applied to, as 0 and 1.
             children: for each level but the last, (sets, S, 2), the position in the next level of
             the set's part on each side of each split; its last position is that of the empty set.
    """

    __slots__ = (
        "_children",
        "_intersections",
        "_inverse_masses",
        "_is_signed",
        "_leaves",
        "_problem",
        "_sides",
        "cells",
    )

    def __init__(
        self,
        *,
        problem: Problem,
        cells: Cells,
        is_signed: bool,
        sides: FloatArray,
        intersections: FloatArray,
        children: tuple[IntArray, ...],
    ) -> None:
        self.cells = cells
        self._problem = problem
        self._is_signed = is_signed
        self._sides = sides
        self._intersections = intersections
        self._children = children
        masses = intersections @ (sides * cells.masses).T
        # Cells have positive masses, so exactly the empty leaves weigh 0.
        self._inverse_masses = np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0)
        self._leaves: tuple[FloatArray, IntArray] | None = None

    @property
    def work(self) -> int:
        """Multiplications for one row of `gaps`."""
        return self.cells.size * len(self._distinct_leaves()[0]) + 4 * int(self._inverse_masses.size)

    def gaps(self, differences: FloatArray) -> FloatArray:
        """The best tree's gap (B,) for each row of differences (B, G), without the trees themselves."""
        block = max(1, LARGEST_TABLE // (4 * self._inverse_masses.size))
        starts = range(0, len(differences), block)
        return np.concatenate([self._block_gaps(differences[start : start + block]) for start in starts])

    def _block_gaps(self, differences: FloatArray) -> FloatArray:
        sets, position = self._distinct_leaves()
        leaf = sets @ differences.T
        masses = (sets @ self.cells.masses)[:, None]
        gains = np.abs(leaf) if self._is_signed else leaf**2 / masses
        gains = np.vstack([gains, np.zeros(gains.shape[1])])
        worth = _best_of(gains, position.reshape(len(self._intersections), -1, 2))
        for children in reversed(self._children):
            worth = _best_of(np.vstack([worth, np.zeros(worth.shape[1])]), children)
        best: FloatArray = worth[0]
        return best if self._is_signed else np.sqrt(self._problem.scale * best)

    def _distinct_leaves(self) -> tuple[FloatArray, IntArray]:
        """The sets that leaves may hold (U, G), and which of them each intersection leaves on each side (I * 2S,)."""
        if self._leaves is None:
            parts = (self._intersections[:, None, :] * self._sides).reshape(-1, self.cells.size) > 0
            sets, position = _distinct_sets(parts)
            self._leaves = sets.astype(float), position
        return self._leaves

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The best tree's gap, by dynamic programming from the last split to the first."""
        return self.worst_cases(weights, 1)[0]

    def worst_cases(self, weights: FloatArray, most: int) -> list[WorstCase]:
        """The best tree, then the best ones of other first splits, as far as they part the cells otherwise."""
        differences = self.cells.differences(weights)
        leaf = self._intersections @ (self._sides * differences).T
        below, roots = self._best_splits(leaf)
        found: list[WorstCase] = []
        # The first of equal ones, as argmax takes it.
        for root in np.argsort(-roots, kind="stable")[:most] if most > 1 else [np.argmax(roots)]:
            function: FloatArray = np.zeros(self.cells.size)
            self._grow([np.array([root]), *below], leaf, function)
            value = float(differences @ function)
            if not self._is_signed:
                value, function = normalised(self._problem, self.cells, differences, function)
            if not any(np.allclose(function, other.function, rtol=SAME_FUNCTION, atol=0.0) for other in found):
                found.append(WorstCase(value=value, upper_bound=value, is_exact=True, function=function))
        return found

    @property
    def entry_count(self) -> int:
        """Products in one evaluation: intersections, sides and cells."""
        entries: int = self._intersections.size * self._sides.shape[0]
        return entries

    def whole_floor(self, k: int) -> float:
        """A lower bound on the value of every selection of k items.

        A leaf's share is a multiple of 1/k, at most its items' share: the gap of the best tree is at least its sum
        over leaves of the smallest gap that such a share leaves.
        """
        reference = self._intersections @ (self._sides * self.cells.reference_shares).T
        held = np.minimum(self._intersections @ (self._sides * self.cells.pool_counts).T, k)
        nearest = np.minimum(np.rint(k * reference), held) / k
        distance = np.abs(reference - nearest)
        # Shares are sums of many weights.
        distance[distance <= FLOOR_ROUNDING] = 0.0
        worths = self._worths(distance)
        for children in reversed(self._children):
            worths = np.append(np.max(worths, axis=1), 0.0)[children].sum(axis=2)
        worth = float(worths.max())
        return worth if self._is_signed else float(np.sqrt(self._problem.scale * worth))

    def _worths(self, leaf: FloatArray) -> FloatArray:
        """The worth (I, S) of every last split, from the gaps (I, 2S) of its leaves."""
        gains = np.abs(leaf) if self._is_signed else leaf**2 * self._inverse_masses
        worths: FloatArray = gains[:, 0::2] + gains[:, 1::2]
        return worths

    def _best_splits(self, leaf: FloatArray) -> tuple[list[IntArray], FloatArray]:
        """The best split of every set below the first one, level by level, from the gaps (I, 2S) of the leaves; and
        what each first split is worth."""
        from mprlib.function_classes import tree_kernel as kernel

        if not self._children:
            return [], self._worths(leaf)[0]
        worth = np.empty(len(leaf))
        found = [kernel.best_last_splits(leaf, self._inverse_masses, self._is_signed, worth)]
        for children in reversed(self._children[1:]):
            after, worth = worth, np.empty(len(children))
            found.append(kernel.best_splits(children, after, worth))
        roots: FloatArray = np.append(worth, 0.0)[self._children[0][0]].sum(axis=1)
        return found[::-1], roots

    def _grow(self, best_split: list[IntArray], leaf: FloatArray, function: FloatArray) -> None:
        """Write the best tree's values into function (G,), leaf by leaf; leaf (I, 2S) holds p - q of each."""
        from mprlib.function_classes import tree_kernel as kernel

        pending = [(0, 0)]
        while pending:
            level, position = pending.pop()
            split = best_split[level][position]
            if level < len(self._children):
                after = self._children[level]
                is_set = after[position, split] < len(best_split[level + 1])
                pending += [(level + 1, int(part)) for part in after[position, split][is_set]]
                continue
            for side in (2 * split, 2 * split + 1):
                value = leaf[position, side] * self._inverse_masses[position, side]
                if self._is_signed:
                    value = 1.0 if leaf[position, side] >= 0 else -1.0
                # Nothing is written for an empty leaf: no cell is on both sides.
                kernel.write_leaf(self._intersections, self._sides, position, side, float(value), function)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class GreedyTreeOracle(Oracle):
    """Where trees are too many to list: the better of a greedy tree and the next shallower oracle's."""

    problem: Problem
    cells: Cells
    is_signed: bool
    depth: int
    shallower: Oracle | None

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """An attained gap, with the bound over all functions."""
        differences = self.cells.differences(weights)
        shallow = [] if self.shallower is None else [self.shallower.worst_case(weights).function]
        if self.is_signed:
            grown = greedy_classes(self.cells, differences, depth=self.depth, seed=PAPER_SEED)
            return signed_attained(self.cells, differences, grown, *shallow)
        targets = scaled_targets(self.cells, differences)
        grown = greedy_tree(self.cells, self.cells.masses, targets, depth=self.depth, seed=PAPER_SEED)
        return attained(self.problem, self.cells, weights, grown, *shallow)


def _best_of(worths: FloatArray, parts: IntArray) -> FloatArray:
    """The best split's worth (sets, B): parts (sets, S, 2) are rows of worths (parts, B)."""
    best: FloatArray = worths[parts[:, 0, 0]] + worths[parts[:, 0, 1]]
    for split in range(1, parts.shape[1]):
        np.maximum(best, worths[parts[:, split, 0]] + worths[parts[:, split, 1]], out=best)
    return best


def _splits(labels: FloatArray) -> NDArray[np.bool_] | None:
    """Both sides (S, 2, G) of every way that a column and a threshold part the cells.

    Columns with the same split (a column and its complement, a duplicate) count once. None when
    the splits alone are too many.
    """
    thresholds = [np.unique(column)[:-1] for column in labels.T]
    if sum(values.size for values in thresholds) * labels.shape[0] > LARGEST_TABLE:
        return None
    parts = [labels[:, column] <= value for column, values in enumerate(thresholds) for value in values]
    # Constant columns split nothing; the split of nothing keeps the tables from being empty.
    left = np.array(parts) if parts else np.ones((1, labels.shape[0]), dtype=bool)
    left = np.unique(left ^ ~left[:, :1], axis=0)
    return np.stack([left, ~left], axis=1)


def _intersections(sides: NDArray[np.bool_], depth: int) -> tuple[FloatArray, tuple[IntArray, ...]] | None:
    """The sets that depth - 1 splits can leave (I, G), and the way down to them; None when too many."""
    splits, _, size = sides.shape
    level = np.ones((1, size), dtype=bool)
    ways = []
    for _ in range(depth - 1):
        if level.shape[0] * 2 * splits * size > LARGEST_TABLE:
            return None
        parts = (level[:, None, :] & sides.reshape(1, -1, size)).reshape(-1, size)
        level, position = _distinct_sets(parts)
        ways.append(position.reshape(-1, splits, 2))
    return level.astype(float), tuple(ways)


def _distinct_sets(parts: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], IntArray]:
    """Distinct non-empty sets, and each part's position among them; past the end for the empty set."""
    packed = np.packbits(parts, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, position = np.unique(keys, return_index=True, return_inverse=True)
    is_set = parts[first].any(axis=1)
    renumbered = np.where(is_set, np.cumsum(is_set) - 1, is_set.sum())
    return parts[first[is_set]], renumbered[position.reshape(-1)]
