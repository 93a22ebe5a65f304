"""The best of all trees, by dynamic programming over the sets that their splits make.

A split never lowers a tree's worth (both gains are convex and homogeneous), so only full trees need be
looked at. Once split, the two sides are independent problems: worth(A, d) is the maximum over
splits of worth(A and left, d - 1) + worth(A and right, d - 1). The intersections of up to
depth - 1 sides of splits are listed once for a problem; for each of them the masses on both sides
of every last split are then one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells
from mprlib.function_classes.base import CellOracle, WorstCase, normalised
from mprlib.function_classes.tree_sets import LARGEST_TABLE, distinct_parts
from mprlib.problem import Problem

# Functions this close, relative to their values, are of trees that part the cells alike.
SAME_FUNCTION = 1e-9
# A distance between shares below this is the rounding of their sums.
FLOOR_ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class MovedLeaves:
    """What resamples move in every set that a leaf may hold.

    Shapes:  moved (U, B); masses (U, B) or (U, 1). reach, lightest, heaviest (U,): the largest size of what is moved,
             the smallest mass above zero, and the largest mass, infinite where some mass is zero.
    """

    moved: FloatArray
    masses: FloatArray
    reach: FloatArray
    lightest: FloatArray
    heaviest: FloatArray

    @classmethod
    def of(cls, moved: FloatArray, masses: FloatArray) -> MovedLeaves:
        """With its bounds."""
        positive = np.where(masses > 0, masses, np.inf)
        return cls(
            moved=moved,
            masses=masses,
            reach=np.abs(moved).max(axis=1, initial=0.0),
            lightest=positive.min(axis=1),
            heaviest=positive.max(axis=1),
        )

    def bounds(self, kept: FloatArray, is_signed: bool) -> tuple[FloatArray, FloatArray]:
        """The least and the most (U + 1,) that each leaf is worth in any resample, 0 for the empty one."""
        least, most = np.maximum(np.abs(kept) - self.reach, 0.0), np.abs(kept) + self.reach
        if not is_signed:
            least, most = least**2 / self.heaviest, most**2 / self.lightest
        return np.append(least, 0.0), np.append(most, 0.0)


class TreeOracle(CellOracle):
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
        "_leaves",
        "_problem",
        "_sides",
        "cells",
        "is_signed",
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
        self.is_signed = is_signed
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

    def gaps(self, differences: FloatArray, masses: FloatArray | None = None) -> FloatArray:
        """The best tree's gap (B,) for each row of differences (B, G), without the trees themselves; at masses (B, G)
        of the cells that are not the problem's, where they are given."""
        weighed = self.cells.masses[None, :] if masses is None else masses
        block = max(1, LARGEST_TABLE // (4 * self._inverse_masses.size))
        found = []
        for start in range(0, len(differences), block):
            own = slice(start, start + block)
            leaf_masses = self.leaf_sums(weighed if len(weighed) == 1 else weighed[own])
            found.append(self.gaps_of_leaves(self.leaf_sums(differences[own]), leaf_masses))
        return np.concatenate(found)

    def leaf_sums(self, cell_values: FloatArray) -> FloatArray:
        """Sums (U, B) over every set that a leaf may hold, of values (B, G) of the cells."""
        sets, _ = self._distinct_leaves()
        sums: FloatArray = (sets @ cell_values[0])[:, None] if len(cell_values) == 1 else sets @ cell_values.T
        return sums

    def gaps_of_leaves(self, leaf: FloatArray, masses: FloatArray) -> FloatArray:
        """The best tree's gap (B,) from the differences (U, B) and the masses (U, B) or (U, 1) of all leaves."""
        unlimited, one = np.full(len(leaf), np.inf), np.ones(len(leaf))
        leaves = MovedLeaves(moved=leaf, masses=masses, reach=unlimited, lightest=one, heaviest=one)
        return self.gaps_near(np.zeros(len(leaf)), leaves)

    def gaps_near(self, kept: FloatArray, leaves: MovedLeaves) -> FloatArray:
        """The same (B,) where the differences are kept (U,) less what each resample moves; splits that are best in no
        resample are left out."""
        from mprlib.function_classes import tree_kernel as kernel

        levels = self.ways_to_split[::-1]
        least, most = leaves.bounds(kept, self.is_signed)
        near, needed = [], [np.ones(1, dtype=bool)]
        for parts in levels:
            below, least, most = (least, most), np.empty(len(parts) + 1), np.empty(len(parts) + 1)
            near.append(kernel.near_splits(parts, *below, least, most))
        for parts, own, count in zip(levels[::-1], near[::-1], [*(len(parts) for parts in levels[-2::-1]), len(kept)]):
            needed.append(kernel.needed_parts(parts, own, needed[-1], count + 1))
        worth = np.empty((len(kept) + 1, leaves.moved.shape[1]))
        kernel.leaf_gains(kept, leaves.moved, leaves.masses, self.is_signed, needed[-1], worth)
        for parts, own, asked in zip(levels, near, needed[-2::-1]):
            parted, worth = worth, np.empty((len(parts) + 1, leaves.moved.shape[1]))
            kernel.best_of(parted, parts, own, asked, worth)
        best: FloatArray = worth[0]
        return best if self.is_signed else np.sqrt(self._problem.scale * best)

    @property
    def scale(self) -> float:
        """D."""
        return self._problem.scale

    @property
    def leaf_sets(self) -> FloatArray:
        """The distinct sets (U, G) of cells that a leaf may hold, as 0 and 1."""
        return self._distinct_leaves()[0]

    @property
    def ways_to_split(self) -> tuple[IntArray, ...]:
        """What each split leaves of each set, level by level, as `ListedTrees` has it."""
        return (*self._children, self._distinct_leaves()[1].reshape(len(self._intersections), -1, 2))

    def listed_trees(self) -> TreeOracle:
        """Its own."""
        return self

    def best_partitions(self, worths: FloatArray, most: int, least: float = -np.inf) -> list[tuple[float, IntArray]]:
        """The best trees of different first splits where each set of `leaf_sets` is worth that much (U,), 0 or more:
        the sum over a tree's leaves, where it is above `least`, and each cell's (G,) among the sets."""
        from mprlib.function_classes import tree_kernel as kernel

        table = self._distinct_leaves()[1].reshape(len(self._intersections), -1)
        if self._children:
            worth = np.empty(len(table))
            below, roots = self._splits_before(kernel.best_last_places(table, worths, worth), worth)
        else:
            below, roots = self._best_splits(np.append(worths, 0.0)[table], is_summed=True)
        found: list[tuple[float, IntArray]] = []
        for root in np.argsort(-roots, kind="stable")[:most]:
            if roots[root] <= least:
                break
            splits = [np.array([root]), *below]
            place = np.zeros(self.cells.size, np.int64)
            kernel.write_places(self._intersections, self._sides, table, self._last_sets(splits), splits[-1], place)
            found.append((float(roots[root]), place))
        return found

    def worths_of_others(self, worths: FloatArray) -> FloatArray:
        """The most that the other leaves of a tree with one of `leaf_sets` (U,) are worth, where each set is worth that
        much (U,), 0 or more."""
        levels = self.ways_to_split
        # From the leaves to the first set: what each set's best tree is worth, 0 in the last place for the empty one.
        within = [np.append(worths, 0.0)]
        for parts in levels[::-1]:
            within.append(np.append(within[-1][parts].sum(axis=2).max(axis=1), 0.0))
        outside = np.zeros(1)
        for parts, own in zip(levels, within[-2::-1]):
            below = np.zeros(own.size)
            for side in range(2):
                np.maximum.at(below, parts[:, :, side], outside[:, None] + own[parts[:, :, 1 - side]])
            outside = below[:-1]
        return outside

    def _distinct_leaves(self) -> tuple[FloatArray, IntArray]:
        """The sets that leaves may hold (U, G), and which of them each intersection leaves on each side (I * 2S,)."""
        if self._leaves is None:
            sets, position = distinct_parts(self._intersections > 0, self._sides > 0)
            self._leaves = sets.astype(float), position
        return self._leaves

    def worst_in(self, differences: FloatArray) -> WorstCase:
        """The best tree's gap, by dynamic programming from the last split to the first."""
        return self._best_trees(differences, 1)[0]

    def worst_cases(self, weights: FloatArray, most: int) -> list[WorstCase]:
        """The best tree, then the best ones of other first splits, as far as they part the cells otherwise."""
        return self._best_trees(self.cells.differences(weights), most)

    def _best_trees(self, differences: FloatArray, most: int) -> list[WorstCase]:
        from mprlib.function_classes import tree_kernel as kernel

        leaf = self._intersections @ (self._sides * differences).T
        below, roots = self._best_splits(leaf, is_summed=self.is_signed)
        leaves = kernel.Leaves(self._intersections, self._sides, self._inverse_masses, self.is_signed)
        found: list[WorstCase] = []
        # The first of equal ones, as argmax takes it.
        for root in np.argsort(-roots, kind="stable")[:most] if most > 1 else [np.argmax(roots)]:
            function: FloatArray = np.zeros(self.cells.size)
            splits = [np.array([root]), *below]
            kernel.write_leaves(leaves, leaf, self._last_sets(splits), splits[-1], function)
            value = float(differences @ function)
            if not self.is_signed:
                value, function = normalised(self._problem, self.cells, differences, function)
            if not any(kernel.is_like(function, other.function, SAME_FUNCTION) for other in found):
                found.append(WorstCase(value=value, upper_bound=value, is_exact=True, function=function))
        return found

    @property
    def entry_count(self) -> int:
        """Products in one evaluation: intersections, sides and cells."""
        return int(self._intersections.size * self._sides.shape[0])

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
        worths = self._worths(distance, is_summed=self.is_signed)
        for children in reversed(self._children):
            worths = np.append(np.max(worths, axis=1), 0.0)[children].sum(axis=2)
        worth = float(worths.max())
        return worth if self.is_signed else float(np.sqrt(self._problem.scale * worth))

    def _worths(self, leaf: FloatArray, *, is_summed: bool) -> FloatArray:
        """The worth (I, S) of every last split, from the gaps (I, 2S) of its leaves."""
        gains = np.abs(leaf) if is_summed else leaf**2 * self._inverse_masses
        worths: FloatArray = gains[:, 0::2] + gains[:, 1::2]
        return worths

    def _best_splits(self, leaf: FloatArray, *, is_summed: bool) -> tuple[list[IntArray], FloatArray]:
        """The best split of every set below the first one, level by level, from the gaps (I, 2S) of the leaves; and
        what each first split is worth. is_summed: a leaf is worth its gap's size, not its square over its mass."""
        from mprlib.function_classes import tree_kernel as kernel

        if not self._children:
            return [], self._worths(leaf, is_summed=is_summed)[0]
        worth = np.empty(len(leaf))
        return self._splits_before(kernel.best_last_splits(leaf, self._inverse_masses, is_summed, worth), worth)

    def _splits_before(self, last: IntArray, worth: FloatArray) -> tuple[list[IntArray], FloatArray]:
        """The same from the best last split of every intersection, which is worth that much (I,)."""
        from mprlib.function_classes import tree_kernel as kernel

        found = [last]
        for children in reversed(self._children[1:]):
            after, worth = worth, np.empty(len(children))
            found.append(kernel.best_splits(children, after, worth))
        roots: FloatArray = np.append(worth, 0.0)[self._children[0][0]].sum(axis=1)
        return found[::-1], roots

    def _last_sets(self, best_split: list[IntArray]) -> IntArray:
        """The sets that a tree splits last, from the best split of every set, level by level."""
        from mprlib.function_classes import tree_kernel as kernel

        places: IntArray = np.zeros(1, np.int64)
        for children, splits, below in zip(self._children, best_split, best_split[1:]):
            places = kernel.parts(children, places, splits, len(below))
        return places
