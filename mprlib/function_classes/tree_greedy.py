"""The paper's tree oracle: a regression tree grown greedily by CART.

A lower bound of the class of trees: greedy growth misses the best tree in most cases, so `tree`
(exact) may report more. Here for comparison with published values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from mprlib.arrays import FloatArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.base import DEPTH, FunctionClass
from mprlib.function_classes.regression import RegressionOracle, fit_tree, tree_labels
from mprlib.problem import Problem
from mprlib.scikit_learn import scikit_learn_for
from mprlib.settings import SEED

# The seed of the paper's experiments; in CART it only decides between equally good splits.
PAPER_SEED = 1017


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeGreedy(FunctionClass):
    """The paper's oracle for trees: regression trees, as scikit-learn grows them.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> round(mprlib.measure(problem, [0, 1], "tree_greedy").value, 4)
    0.4082
    """

    name: ClassVar[str] = "tree_greedy"
    is_exact: ClassVar[bool] = False

    depth: Annotated[int, DEPTH, "levels of splits, at most"] = 3
    seed: Annotated[int, SEED, "decides between equally good splits; default: the paper's"] = PAPER_SEED

    def bind(self, problem: Problem) -> RegressionOracle:
        """The oracle, which grows one tree per call.

        Source:  MPR paper, section 4 and appendix on oracles (max_depth 3, random_state 1017).
        """
        return RegressionOracle(problem=problem, cells=cells_of(problem), fit=self._fit)

    def _fit(self, cells: Cells, weights: FloatArray, targets: FloatArray) -> tuple[FloatArray]:
        return (greedy_tree(cells, weights, targets, depth=self.depth, seed=self.seed),)


def greedy_tree(cells: Cells, weights: FloatArray, targets: FloatArray, *, depth: int, seed: int) -> FloatArray:
    """Predictions (G,) of one greedily grown tree."""
    with scikit_learn_for("a greedy tree (of tree_greedy, and of tree where trees are too many to list)"):
        from sklearn.tree import DecisionTreeRegressor

    model = DecisionTreeRegressor(max_depth=depth, random_state=seed)
    return fit_tree(model, tree_labels(cells.labels), weights, targets)
