"""The forest oracle of the paper's authors: bagged trees of depth 2.

A forest's bootstrap draws rows, not cells. A tree, however, sees its draw only through each
cell's number of rows drawn and their mean target. So rows are drawn as scikit-learn's
RandomForestRegressor draws them, counted by cell, and each tree is grown on G rows: the same
forest at a fraction of the time. The draws do not depend on the selection and are made once.
Of a reference that is given in cells as many rows are drawn from each cell as chance gives it
(multinomial counts): another forest, with the same distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray, IntArray, distinct_rows
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.base import DEPTH, FunctionClass, Oracle, WorstCase
from mprlib.function_classes.forest_growth import LARGEST_LEVEL, grown_together, two_valued_sides
from mprlib.function_classes.regression import attained, fit_tree, target_scale, tree_labels
from mprlib.function_classes.tree_greedy import PAPER_SEED
from mprlib.problem import Problem
from mprlib.reference import Reference
from mprlib.scikit_learn import scikit_learn_for
from mprlib.settings import SEED, Whole

# Each tree keeps its draw of the pool's rows: 200 MB for 10,000 trees and items.
MOST_TREES = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Forest(FunctionClass):
    """The paper's oracle for forests: means of regression trees, each on a bootstrap sample.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.measure(problem, [0, 1], "forest", trees=10).value <= mprlib.measure(problem, [0, 1], "saturated").value
    True
    """

    name: ClassVar[str] = "forest"
    is_exact: ClassVar[bool] = False
    draws_rows: ClassVar[bool] = True

    depth: Annotated[int, DEPTH, "levels of splits of a tree, at most"] = 2
    trees: Annotated[int, Whole(least=1, most=MOST_TREES), "number of trees"] = 100
    seed: Annotated[int, SEED, "seed of the bootstrap samples; default: the paper's"] = PAPER_SEED

    def bind(self, problem: Problem) -> ForestOracle:
        """The oracle, which fits one forest per call.

        Source:  the authors' code (RandomForestRegressor, max_depth 2, random_state 1017).
        """
        return problem.cached(("forest", self), lambda: self._build(problem))

    def _build(self, problem: Problem) -> ForestOracle:
        cells = cells_of(problem)
        row_cell, row_weight = _rows(problem, cells)
        forest_random = np.random.RandomState(self.seed)
        tree_seeds = [int(forest_random.randint(np.iinfo(np.int32).max)) for _ in range(self.trees)]
        pool_draws = np.empty((self.trees, problem.n), dtype=np.int32)
        pool_counts = np.empty((self.trees, cells.size))
        reference_counts = np.empty((self.trees, cells.size))
        for tree, tree_seed in enumerate(tree_seeds):
            drawn = _bootstrap(row_weight, tree_seed)
            pool_draws[tree] = drawn[: problem.n]
            pool_counts[tree] = np.bincount(cells.pool_cell, drawn[: problem.n], cells.size)
            reference_counts[tree] = np.bincount(row_cell[problem.n :], drawn[problem.n :], cells.size)
        is_small = self.trees * 2**self.depth * cells.size <= LARGEST_LEVEL
        return ForestOracle(
            problem=problem,
            cells=cells,
            depth=self.depth,
            tree_seeds=tuple(tree_seeds),
            pool_draws=pool_draws,
            pool_counts=pool_counts,
            reference_counts=reference_counts,
            sides=two_valued_sides(cells.labels) if is_small else None,
        )


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ForestOracle(Oracle):
    """Attained values of a fitted forest; a lower bound of the class.

    Shapes:  pool_draws (trees, n), how often each tree drew each item.
             pool_counts and reference_counts (trees, G), the draws in each cell.
             sides (S, G), where columns have two values and all trees can be grown together.
    """

    problem: Problem
    cells: Cells
    depth: int
    tree_seeds: tuple[int, ...]
    pool_draws: IntArray
    pool_counts: FloatArray
    reference_counts: FloatArray
    sides: FloatArray | None

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The fitted forest's gap under C'.

        Items of one cell have unequal targets, so a cell's mean target varies with the draw.
        """
        draws, targets = self._draws_and_targets(weights)
        if self.sides is None:
            total = self._grown_one_by_one(draws, targets, np.arange(len(draws)))
        else:
            predictions, is_tied = grown_together(self.sides, draws, targets, self.depth)
            total = predictions[~is_tied].sum(axis=0)
            total += self._grown_one_by_one(draws, targets, np.flatnonzero(is_tied))
        return attained(self.problem, self.cells, weights, total)

    def _draws_and_targets(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows drawn and their scaled mean targets, (trees, G) both."""
        cells = self.cells
        chosen = np.flatnonzero(weights)
        draws = self.pool_counts + self.reference_counts
        shown = np.zeros(draws.shape)
        np.add.at(shown.T, cells.pool_cell[chosen], (self.pool_draws[:, chosen] * weights[chosen]).T)
        sums = shown - self.reference_counts / self.problem.m
        targets = np.divide(sums, draws, out=np.zeros_like(draws), where=draws > 0)
        return draws, targets * target_scale(cells, cells.differences(weights))

    def _grown_one_by_one(self, draws: FloatArray, targets: FloatArray, trees: IntArray) -> FloatArray:
        """Sum of these trees' predictions (G,), by scikit-learn."""
        with scikit_learn_for("function class forest"):
            from sklearn.tree import DecisionTreeRegressor

        labels = tree_labels(self.cells.labels)
        total = np.zeros(self.cells.size)
        for tree in trees:
            model = DecisionTreeRegressor(max_depth=self.depth, random_state=self.tree_seeds[tree])
            total += fit_tree(model, labels, draws[tree], targets[tree])
        return total


def _rows(problem: Problem, cells: Cells) -> tuple[IntArray, FloatArray]:
    """The cell and the weight of each row that a bootstrap draws: the pool's items, then the reference's rows.

    A reference in cells has lost the order of its rows, and each of its cells is drawn as many rows at once.
    """
    row_cell: IntArray
    if isinstance(problem.reference, Reference):
        row_cell, weights = np.arange(cells.size), cells.masses - cells.pool_counts
    else:
        row_cell, weights = _cells_of_rows(problem.reference, cells), problem.m * problem.reference_weights
    in_reference = (row_cell >= 0) & (weights > 0)
    return (
        np.concatenate([cells.pool_cell, row_cell[in_reference]]),
        np.concatenate([np.ones(problem.n), weights[in_reference]]),
    )


def _cells_of_rows(rows: FloatArray, cells: Cells) -> IntArray:
    """The cell (m,) of each row; -1 where it has none."""
    distinct, place = distinct_rows(np.concatenate([cells.labels, rows]))
    cell_of = np.full(len(distinct), -1, dtype=np.intp)
    cell_of[place[: cells.size]] = np.arange(cells.size)
    return cell_of[place[cells.size :]]


def _bootstrap(row_weight: FloatArray, seed: int) -> IntArray:
    """How often each row is drawn with replacement, of as many draws as there are rows, in proportion to its weight.

    RandomState, because scikit-learn's draws for this seed are to be met exactly.
    """
    random = np.random.RandomState(seed)
    rows = row_weight.size
    if np.allclose(row_weight, 1.0):
        return np.bincount(random.randint(0, rows, rows), minlength=rows)
    # Counts at once: a stated size may be far above the number of rows.
    return random.multinomial(round(row_weight.sum()), row_weight / row_weight.sum())
