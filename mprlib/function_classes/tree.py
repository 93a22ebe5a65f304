"""Decision trees of bounded depth: the best of all of them where they can be listed, else one that is grown.

On a tree's leaves the best function is constant, so a tree is worth the sum of its leaves' gains:

    normalised as C'    (p_L - q_L)^2 / N_L, and MPR^2 = D * sum      (an empty leaf is worth 0)
    values {-1, +1}     |p_L - q_L|,         and MPR = sum

Worked example: labels [[0], [1]], one split; p = (1, 0), q = (1/2, 1/2), N = (3, 2), D = 2/3 gives
MPR^2 = 2/3 * (1/4 / 3 + 1/4 / 2) = 5/36.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from mprlib.arrays import FloatArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.base import DEPTH, FunctionClass, Oracle, WorstCase
from mprlib.function_classes.classifier import greedy_classes, signed_attained
from mprlib.function_classes.regression import attained, scaled_targets
from mprlib.function_classes.tree_greedy import PAPER_SEED, greedy_tree
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.function_classes.tree_sets import intersections_of, splits_of
from mprlib.problem import Problem
from mprlib.settings import Flag


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
        sides = splits_of(cells.labels)
        levels = None if sides is None else intersections_of(sides, self.depth)
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
