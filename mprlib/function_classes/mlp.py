"""Networks with one hidden layer of ReLU units, normalised as C'.

With at most units + 1 cells the class holds every function of the labels: project the cells on a
line that keeps them apart and put one hinge between each two neighbours. Its MPR then *is* the
saturated value, without training.

Above that, gradient training on targets of 1/m finds little (the published values are mostly below
those of the linear class, which the network contains). Instead the units are chosen one by one from
many candidate hinges max(0, x.u - b), each time the one most correlated with the residual of the
others, and the output layer is solved in closed form: with the span of the chosen units fixed, the
best function is a projection, as for `linear`. The first unit is the linear class's own worst case,
shifted to be non-negative everywhere, so the value is never below `linear`.

Source: the class is the paper's (section 4, hidden_layer_sizes=(64,)); the greedy choice is
orthogonal matching pursuit, Pati et al. 1993. **Deviation**: the paper trains by Adam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from mprlib.arrays import FloatArray
from mprlib.cells import Cells, cells_of
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.function_classes.linear import Linear
from mprlib.function_classes.regression import attained
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.function_classes.tree import Tree
from mprlib.problem import Problem
from mprlib.settings import SEED, Whole

# Candidate hinges: enough to choose from, few enough for a table of 32 MB with continuous labels.
MOST_CANDIDATES = 2048
LARGEST_TABLE = 4_000_000
# Deeper trees are costlier to search than the network that they would improve.
DEEPEST_TREE = 3
# A candidate whose part outside the chosen span is below this fraction of it is in the span but
# for rounding; dividing by so small a norm would amplify that.
INDEPENDENCE = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class Mlp(FunctionClass):
    """Networks with one hidden layer of ReLU units and a linear output with bias.

    Exact up to `units` + 1 cells; above, an attained value.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> found = mprlib.measure(problem, [0, 1], "mlp")
    >>> round(found.value, 4), round(found.upper_bound, 4)
    (0.4082, 0.4082)
    """

    name: ClassVar[str] = "mlp"
    is_exact: ClassVar[bool] = False

    units: Annotated[int, Whole(least=1), "hidden units"] = 64
    seed: Annotated[int, SEED, "seed of the candidate units that are drawn"] = 0

    def bind(self, problem: Problem) -> MlpOracle | SaturatedOracle:
        """The saturated oracle when the class holds every function, else the oracle that builds a network."""
        cells = cells_of(problem)
        if cells.size <= self.units + 1:
            return SaturatedOracle(cells=cells, scale=problem.scale)
        return problem.cached(("mlp", self), lambda: self._build(problem, cells))

    def _build(self, problem: Problem, cells: Cells) -> MlpOracle:
        roots = np.sqrt(cells.masses)
        candidates = _hinges(cells, np.random.default_rng(self.seed)) * roots
        norms = np.linalg.norm(candidates, axis=1, keepdims=True)
        is_alive = norms[:, 0] > 0
        return MlpOracle(
            problem=problem,
            cells=cells,
            linear=Linear().bind(problem),
            tree=self._contained_tree(problem, cells),
            units=self.units,
            candidates=candidates[is_alive] / norms[is_alive],
        )

    def _contained_tree(self, problem: Problem, cells: Cells) -> Oracle | None:
        """The deepest class of trees that the network certainly contains, up to depth 3."""
        depth = min(DEEPEST_TREE, self.units.bit_length() - 1)
        is_two_valued = all(np.unique(column).size <= 2 for column in cells.labels.T)
        return Tree(depth=depth).bind(problem) if depth >= 1 and is_two_valued else None


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class MlpOracle(Oracle):
    """Attained values of constructed networks; a lower bound of the class.

    Shapes:  candidates (C, G), values of candidate units times sqrt(N), scaled to norm 1.
    """

    problem: Problem
    cells: Cells
    linear: Ball
    tree: Oracle | None
    units: int
    candidates: FloatArray

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The built network's gap, at least that of contained classes, at most saturated."""
        linear = self.linear.worst_case(weights).function
        roots = np.sqrt(self.cells.masses)
        target = self.cells.differences(weights) / roots
        raw = _pursuit(target, [roots, linear * roots], self.candidates, self.units - 1) / roots
        contained = [linear] if self.tree is None else [linear, self.tree.worst_case(weights).function]
        return attained(self.problem, self.cells, weights, raw, *contained)


def _pursuit(target: FloatArray, given: list[FloatArray], candidates: FloatArray, units: int) -> FloatArray:
    """Projection (G,) of target on the span of the given vectors and of greedily chosen candidates."""
    basis: FloatArray = np.zeros((0, target.size))
    for vector in given:
        basis = _extended(basis, vector)
    # What is left of each candidate's square outside the span, kept up to date by Pythagoras.
    outside = 1.0 - np.sum((candidates @ basis.T) ** 2, axis=1)
    residual = target - (basis @ target) @ basis
    for _ in range(units):
        correlation = (candidates @ residual) ** 2
        is_new = outside > INDEPENDENCE**2
        if not is_new.any():
            break
        merit = np.divide(correlation, outside, out=np.zeros_like(correlation), where=is_new)
        best = int(np.argmax(merit))
        longer = _extended(basis, candidates[best])
        if longer.shape[0] == basis.shape[0]:
            outside[best] = 0.0
            continue
        basis = longer
        outside -= (candidates @ basis[-1]) ** 2
        outside[best] = 0.0
        residual -= (basis[-1] @ residual) * basis[-1]
    return (basis @ target) @ basis


def _extended(basis: FloatArray, vector: FloatArray) -> FloatArray:
    """The orthonormal basis with the vector's new direction, if it has one."""
    length = np.linalg.norm(vector)
    if length == 0:
        return basis
    vector = vector / length
    # Twice is enough (Kahan): the second pass removes the first one's rounding.
    for _ in range(2):
        vector = vector - (basis @ vector) @ basis
    length = np.linalg.norm(vector)
    return np.vstack([basis, vector / length]) if length > INDEPENDENCE else basis


def _hinges(cells: Cells, random: np.random.Generator) -> FloatArray:
    """Candidate units (C, G): hinges along differences of cells and along random directions.

    A hinge at a cell's own projection is where a piecewise linear function of it may bend.
    """
    count = min(MOST_CANDIDATES, max(64, LARGEST_TABLE // cells.size))
    largest = np.abs(cells.labels).max(axis=0)
    labels = cells.labels / np.where(largest > 0, largest, 1.0)
    spread = labels.std(axis=0)
    labels = labels[:, spread > 0] / spread[spread > 0]
    pairs = random.integers(cells.size, size=(count // 2, 2))
    directions = np.concatenate(
        [labels[pairs[:, 0]] - labels[pairs[:, 1]], random.standard_normal((count - count // 2, labels.shape[1]))]
    )
    projections = directions @ labels.T
    knots = projections[np.arange(count), random.integers(cells.size, size=count)]
    units: FloatArray = np.maximum(projections - knots[:, None], 0.0)
    return units
