"""Whole counts of balls that see a set only through its marginal counts: linear functions of one-hot labels.

Let c_j be the number of selected items with level j of an attribute. If the features are affine in the levels'
indicators, M_g = e + sum of A_j over the levels j of cell g, then

    v  =  sum_g x_g M_g  =  k e + A c,

so v is a point of a lattice of few dimensions: the levels, less one for each attribute, whose counts sum to k.
A set that meets rho is a lattice point in the ball |v| <= rho; one that is better than the incumbent is in the
cap z.v >= rho |z| - gap (see `ball_prices`). The lattice points there are listed, and for each one the cells are
searched for counts with these marginals whose losses stay below what the point's own slack leaves of the gap.
None: the incumbent is the best set; without an incumbent: no set meets rho. With a shrinking ball the
same search finds the smallest MPR of all sets.

Worked example: one attribute of two levels, equal shares, k = 3: v is proportional to c - 3/2, at least 1/2 from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells as AllCells
from mprlib.optimisers.ball_region import BallRegion
from mprlib.optimisers.cell_pool import CellPool
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.whole.ball_prices import direction_of, least_squares
from mprlib.optimisers.whole.deepening import FIRST_LOSS, FIRST_PART, GROWTH, over_all, with_counts
from mprlib.optimisers.whole.lattice import DEPENDENCE, WIDEST, Triangular, basis_of, independent
from mprlib.optimisers.whole.proof import Floor, Searched
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS
from mprlib.problem import Problem

if TYPE_CHECKING:
    from mprlib.optimisers.whole.marginal_form_kernel import Levels
    from mprlib.optimisers.whole.marginal_kernel import Lattice
    from mprlib.optimisers.whole.marginal_loss_kernel import Cells

# Features are affine in the indicators where the fit misses them by less than this part of the longest one.
AFFINE = 1e-10
# More levels than this are not few dimensions.
MOST_LEVELS = 400
# Nodes among cells per node of the lattice, for a floor: both cost about as much.
CELL_NODES = 2
# Parts of the nodes that a search for the best counts has: of the lattice, and of those among cells. With all of them
# few more rows are settled, and what is not takes longest.
SEARCH_PART, CELL_PART = 3, 6


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Marginals:
    """Levels of the attributes that cells are made of.

    Shapes:  column (G, attributes), each cell's level in each attribute, numbered through; attribute (l,), that of each
             level; decided (d,), independent levels whose counts determine v; system (G, d + 1), their indicators
             beside ones, and inverse (d + 1, G), its least-squares inverse; cells, without items.
    """

    column: IntArray
    attribute: IntArray
    decided: IntArray
    system: FloatArray
    inverse: FloatArray
    cells: Cells

    @classmethod
    def of(cls, labels: FloatArray, attributes: Iterable[Sequence[int]]) -> Marginals | None:
        """Those of cells with these labels (G, l); None where they have too many levels."""
        columns: list[IntArray] = []
        sizes: list[int] = []
        for attribute in _one_hot(labels, attributes):
            code, levels = _levels(labels[:, attribute])
            columns.append(code + sum(sizes))
            sizes.append(levels)
        if sum(sizes) > MOST_LEVELS:
            return None
        column = np.column_stack(columns)
        indicators = np.zeros((column.shape[0], sum(sizes)))
        indicators[np.arange(column.shape[0])[:, None], column] = 1.0
        centred = indicators - indicators.mean(axis=0)
        centred[:, np.cumsum(sizes) - 1] = 0.0
        decided = independent(centred)
        system = np.column_stack([np.ones(column.shape[0]), indicators[:, decided]])
        attribute_of = np.repeat(np.arange(len(sizes)), sizes)
        return cls(
            column=column,
            attribute=attribute_of,
            decided=decided,
            system=system,
            inverse=least_squares(system, np.eye(column.shape[0])),
            cells=_cells(column, attribute_of, decided),
        )

    @property
    def size(self) -> int:
        """Number of levels."""
        return self.attribute.size

    @property
    def nbytes(self) -> int:
        """Memory."""
        return self.system.nbytes + self.inverse.nbytes

    @property
    def levels(self) -> Levels:
        """Levels of the cells, as the kernel takes them."""
        from mprlib.optimisers.whole.marginal_form_kernel import Levels

        return Levels(self.column, self.attribute, self.decided)

    def affine(self, features: FloatArray) -> FloatArray | None:
        """e (r,) and A' (d, r), stacked, with features (G, r) = e + indicators A'; None where they are not affine in
        them."""
        from mprlib.function_classes.linear_kernel import is_linear

        fitted: FloatArray = self.inverse @ features
        return fitted if is_linear(self.system, fitted, features, AFFINE) else None


def marginals_of(problem: Problem, cells: AllCells) -> Marginals | None:
    """Those of a problem's cells; kept, as they are the same for all problems of a reference, as a rule."""
    attributes = tuple(problem.attributes.values())
    key = ("marginals", attributes, cells.of_labels)
    return problem.population.kept.get(key, lambda: Marginals.of(cells.labels, attributes))


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class MarginalProof:
    """Proofs by marginal counts.

    Shapes:  filled (F,), the cells with items; products (d, d), the inverse of those of the lattice's columns; features
             (F, r), centred, per item and in the class's unit. constant (r,) = k e.
    """

    pool: CellPool
    filled: IntArray
    form: Triangular
    products: FloatArray
    lattice: Lattice
    cells: Cells
    features: FloatArray
    constant: FloatArray
    unit: float

    @classmethod
    def of(cls, problem: Problem, pool: CellPool, cells: AllCells, ball: BallRegion) -> MarginalProof | None:
        """The proof for a ball over these cells; None where v is not determined by a lattice of marginal counts."""
        marginals = marginals_of(problem, cells)
        if marginals is None:
            return None
        from mprlib.optimisers.whole.marginal_form_kernel import opened

        features = ball.features / ball.unit
        fitted = marginals.affine(features)
        if fitted is None:
            return None
        filled = np.flatnonzero(pool.capacity)
        taken, lattice, products = opened(marginals.levels, filled, pool.capacity, pool.k, fitted[1:], DEPENDENCE)
        if taken.dependent.size:
            return None
        return cls(
            pool=pool,
            filled=filled,
            form=Triangular.of(taken),
            products=products,
            lattice=lattice,
            cells=marginals.cells._replace(column=marginals.cells.column[filled], capacity=pool.capacity[filled]),
            features=features[filled],
            constant=pool.k * fitted[0],
            unit=ball.unit,
        )

    def floor(self, closest: IntArray, value: float, nodes: int) -> Floor:
        """The smallest MPR of whole counts, by a ball that shrinks from the closest known ones."""
        from mprlib.optimisers.whole import marginal_kernel as kernel

        rho = value / self.unit + SMALLEST_EXCESS
        task = kernel.Task(rho, 0.0, 0.0, nodes, CELL_NODES * nodes, True)
        counts = self._counts(closest)
        basis = basis_of(self.form, self.constant, np.zeros_like(self.constant))
        # A floor asks for no losses.
        cells = self.cells._replace(loss=np.zeros((self.filled.size, self.pool.k + 1)))
        _, square, is_complete, _ = kernel.decoded(basis, self.lattice, cells, task, -np.inf, counts)
        if not is_complete or not np.isfinite(square):
            return Floor(rho=0.0, counts=over_all(counts, self.filled, self.pool.cell_count))
        smallest = (float(np.sqrt(square)) - SMALLEST_EXCESS) * self.unit
        return Floor(
            rho=max(smallest, 0.0),
            counts=over_all(counts, self.filled, self.pool.cell_count),
            is_attained=True,
        )

    def searched(self, relaxation: Relaxation, incumbent: IntArray | None, nodes: int) -> Searched:
        """The best counts in the cap."""
        from mprlib.optimisers.whole import marginal_search_kernel as kernel

        pool, form, length = self.pool, self.form, relaxation.multiplier * self.unit
        direction = direction_of(relaxation, self.filled, self.features, self.unit)
        priced = kernel.Priced(pool.k, pool.scores, pool.first, pool.capacity, self.filled, relaxation.price, direction)
        goal = kernel.Goal(
            rho=relaxation.rho / self.unit + SMALLEST_EXCESS,
            length=length,
            bound=relaxation.bound + SMALLEST_EXCESS * length,
            start=-np.inf if incumbent is None else pool.similarity(incumbent),
            nodes=max(nodes // SEARCH_PART, 1),
            widest=WIDEST,
            cell_part=CELL_PART,
            deepening=(FIRST_PART, FIRST_LOSS, GROWTH),
        )
        counts = np.zeros(self.filled.size, np.int64)
        of_form = kernel.Form(np.ascontiguousarray(form.basis.T), form.triangle, self.products, self.constant)
        bound, is_complete, visited = kernel.searched(of_form, self.lattice, self.cells, priced, goal, counts)
        found = Searched(counts=None, bound=bound, is_complete=is_complete, nodes=visited)
        return with_counts(found, counts, self.filled, pool.cell_count)

    def obstacle(self, rho: float) -> str:
        """None in words."""
        return ""

    def _counts(self, counts: IntArray) -> IntArray:
        return counts[self.filled].astype(np.int64)


def _one_hot(rows: FloatArray, attributes: Iterable[Sequence[int]]) -> list[list[int]]:
    """The columns of each attribute; neighbours that are one each, and of which every row (F, l) has one, are one.

    Fewer attributes of more levels say the same, and bound what is lost more closely.
    """
    found: list[list[int]] = []
    block: list[int] = []
    taken = np.zeros(rows.shape[0])
    for attribute in attributes:
        column = rows[:, attribute[0]]
        is_indicator = len(attribute) == 1 and bool(((column == 0) | (column == 1)).all())
        if not is_indicator or (taken + column).max() > 1:
            found += [[one] for one in block]
            block, taken = [], np.zeros(rows.shape[0])
        if not is_indicator:
            found.append(list(attribute))
            continue
        block, taken = [*block, attribute[0]], taken + column
        if taken.min() == 1:
            found.append(block)
            block, taken = [], np.zeros(rows.shape[0])
    return found + [[one] for one in block]


def _levels(rows: FloatArray) -> tuple[IntArray, int]:
    """Each row's (F, own columns) place among the distinct rows in rising order, and how many there are."""
    held = rows.argmax(axis=1)
    if rows.shape[1] > 1 and np.array_equal(rows, np.arange(rows.shape[1]) == held[:, None]):
        # Of indicators the last column's is the least.
        is_there = np.bincount(held, minlength=rows.shape[1]) > 0
        place = np.cumsum(is_there[::-1])[::-1] - 1
        return place[held], int(is_there.sum())
    distinct, code = np.unique(rows, axis=0, return_inverse=True)
    return code.reshape(-1), distinct.shape[0]


def _cells(column: IntArray, attribute: IntArray, decided: IntArray) -> Cells:
    """The cells of these levels (G, attributes), of which `decided` are known, without items."""
    from mprlib.optimisers.whole.marginal_loss_kernel import Cells

    known = np.zeros(attribute.size, np.int64)
    known[decided] = 1
    unknown = np.flatnonzero(known == 0)
    of_attribute = np.bincount(attribute[unknown], minlength=column.shape[1])
    last = np.full(column.shape[1], -1)
    last[attribute[unknown]] = unknown
    last[of_attribute != 1] = -1
    known[last[last >= 0]] = 1
    if of_attribute.min() > 1:
        # Where every attribute has unknown levels, only one more column that all cells share says that k are taken.
        column = np.hstack([column, np.full((column.shape[0], 1), attribute.size)])
        attribute, known = np.append(attribute, last.size), np.append(known, 1)
    return Cells(
        column=column.astype(np.int64),
        attribute=attribute.astype(np.int64),
        capacity=np.zeros(0, np.int64),
        loss=np.zeros((0, 0)),
        last=last.astype(np.int64),
        known=known,
    )
