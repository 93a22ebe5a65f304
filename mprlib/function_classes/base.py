"""The protocol of a function class, and the normalisation C' that most classes share.

A class is a bag of settings. Bound to a problem it becomes an oracle, which holds what does not
depend on the selection (cells, factorisations) and answers one question: which function of the
class sees the largest gap between these pool weights and the reference?
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from mprlib.arrays import FloatArray, IntArray
from mprlib.cells import Cells, selection_weights
from mprlib.declarations import Declared
from mprlib.problem import Problem
from mprlib.settings import Whole

# MPR is a sum over n + m rows: what follows the twelfth decimal of the class's unit is the order of its
# terms. It is dropped, so that a gap of 7/10 - 1/2 meets rho = 0.2 whichever way it was summed.
DECIMALS = 12
# A value this little below a twelfth decimal is that decimal.
LAST_BIT = 1e-15
# Levels of splits of a tree: 2^32 leaves tell every cell apart that a problem can hold.
DEPTH = Whole(least=1, most=32)


def cut(value: float, unit: float = 1.0) -> float:
    """A value without what follows the twelfth decimal of its unit: what is reported and compared."""
    return float(np.floor((value / unit + LAST_BIT) * 10**DECIMALS) / 10**DECIMALS * unit)


def uncut_limit(rho: float, unit: float = 1.0) -> float:
    """The largest value that `cut` brings to rho or below: what a proof about rho has to cover."""
    return float(((np.floor((rho / unit + LAST_BIT) * 10**DECIMALS) + 1) / 10**DECIMALS - LAST_BIT) * unit)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class WorstCase:
    """The function that sees the largest gap found.

    Shapes:  function (G,), its values on the oracle's cells, signed and scaled so that
             sum_g (p_g - q_g) function_g = value >= 0. As a cut of the optimiser it says: every
             selection p with MPR <= rho has sum_g (p_g - q_g) function_g <= rho.
    value is cut after the twelfth decimal of unit, the size of the class's values: 1 but for kernels,
    which have the caller's. upper_bound is proven for the whole class; it equals value where is_exact.
    """

    value: float
    upper_bound: float
    is_exact: bool
    function: FloatArray
    unit: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", max(cut(self.value, self.unit), 0.0))
        object.__setattr__(self, "upper_bound", self.value if self.is_exact else max(self.upper_bound, self.value))


class CentredRows(Protocol):
    """Features of some cells, centred at the reference's mean feature, of which only products are known."""

    @property
    def squares(self) -> FloatArray:
        """Their squared lengths (c,); rounding may bring them below 0."""
        ...

    def products(self, places: IntArray) -> FloatArray:
        """Products (c, p) of all with those at some places (p,) among them."""
        ...


class CentredProducts(Protocol):
    """Inner products of a ball's features phi_g, centred at the reference's mean feature."""

    def centred_rows(self, cells: IntArray) -> CentredRows:
        """Those of some cells (c,)."""
        ...


class NamedGroups(Protocol):
    """Groups that cells belong to by their names; functions are their indicators.

    Shapes:  codes (p, G), the group of each cell in each of p partitions.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def codes(self) -> IntArray: ...

    @property
    def signed(self) -> bool:
        """Whether values are {-1, +1} instead of {0, 1}."""
        ...

    def totals(self, cell_values: FloatArray) -> FloatArray:
        """Each group's sum (groups,) of values (G,) over its cells."""
        ...


class ListedTrees(Protocol):
    """Trees of bounded depth whose leaves are all listed; functions are constant on leaves.

    Shapes:  leaf_sets (U, G), the distinct sets of cells that a leaf may hold, as 0 and 1.
             ways_to_split: for each level, the positions (sets, S, 2) in the next one of what each split leaves of each
             of its sets, past the end for the empty set. The first level is that of all cells, and what is left of the
             last one's sets are `leaf_sets`.
    is_signed: values are {-1, +1} instead of those of C', which D scales.
    """

    @property
    def is_signed(self) -> bool: ...

    @property
    def scale(self) -> float:
        """D."""
        ...

    @property
    def leaf_sets(self) -> FloatArray: ...

    @property
    def ways_to_split(self) -> tuple[IntArray, ...]: ...


class Oracle(ABC):
    """A function class bound to a problem. Oracles inherit from it, and override what is particular to them."""

    cells: Cells

    @property
    def unit(self) -> float:
        """The size of the class's values: 1 but for kernels, which have the labels' units."""
        return 1.0

    def ball_features(self) -> FloatArray | None:
        """Features (G, r) of a class that is a unit ball; None for others, and where only products are at hand."""
        return None

    def ball_products(self) -> CentredProducts | None:
        """Products of a ball's features where the features themselves would be too large."""
        return None

    def named_groups(self) -> NamedGroups | None:
        """The groups whose shares are all that the class looks at; None for other classes."""
        return None

    def listed_trees(self) -> ListedTrees | None:
        """The trees whose functions the class consists of; None for other classes, and for too many to list."""
        return None

    def first_functions(self) -> FloatArray:
        """Centred functions (G, r) of a class that is no ball, for a search of cuts to begin with; none by default."""
        return np.zeros((self.cells.size, 0))

    @abstractmethod
    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The largest gap under pool weights (n,) that sum to 1; they may be fractional."""

    def worst_cases(self, weights: FloatArray, most: int) -> list[WorstCase]:
        """The largest gap first, then other functions that see much, where the class has them at no cost: at most so
        many in all, which an optimiser takes as cuts."""
        return [self.worst_case(weights)]

    def worst_case_of(self, problem: Problem, items: IntArray) -> WorstCase:
        """The largest gap of a selection: items in their order where places of the problem have weights."""
        return self.worst_case(selection_weights(problem, items))

    def worst_case_in(self, problem: Problem, counts: IntArray, chosen: Callable[[], IntArray]) -> WorstCase:
        """The same of the selection that has these counts (G,) in the cells; chosen: makes its items."""
        return self.worst_case_of(problem, chosen())

    def worst_of_each(self, problem: Problem, selections: Sequence[IntArray]) -> list[WorstCase]:
        """The largest gap of each of several selections, as `worst_case_of` finds it, to the last bit."""
        return [self.worst_case_of(problem, items) for items in selections]


class CellOracle(Oracle):
    """A class that sees a selection through the shares of the cells alone."""

    @abstractmethod
    def worst_in(self, differences: FloatArray) -> WorstCase:
        """The largest gap in differences p - q (G,) of the cells' shares."""

    def worst_case(self, weights: FloatArray) -> WorstCase:
        """The largest gap under pool weights (n,) that sum to 1."""
        return self.worst_in(self.cells.differences(weights))

    def worst_case_of(self, problem: Problem, items: IntArray) -> WorstCase:
        """The largest gap of a selection, without a look at the rest of the pool."""
        return self.worst_in(self.cells.differences_of(items, problem.place_weights))

    def worst_case_in(self, problem: Problem, counts: IntArray, chosen: Callable[[], IntArray]) -> WorstCase:
        """The largest gap of a selection by its counts, which are all that the class sees where places count alike."""
        if problem.place_weights is None:
            return self.worst_in(self.cells.differences_in(counts))
        return self.worst_case_of(problem, chosen())

    def worst_of_each(self, problem: Problem, selections: Sequence[IntArray]) -> list[WorstCase]:
        """The largest gap of each of several selections, whose shares are summed together."""
        # Row by row: a product of two matrices rounds a row by what is beside it.
        return [self.worst_in(row) for row in self.cells.differences_of_each(selections, problem.place_weights)]


def measured(problem: Problem, oracle: Oracle, items: IntArray) -> WorstCase:
    """The largest gap of a set of items (k,): what every reported value comes from."""
    return oracle.worst_case_of(problem, items)


class FunctionClass(Declared):
    """A class of functions of the labels: a frozen dataclass of its settings, the keywords of `measure`.

    is_exact: on labels with few distinct values its values are the class's supremum; else they are attained
    by one of its functions, below the supremum by an unknown amount.
    needs_levels: labels must be levels that rows share. draws_rows: its values depend on how weights are
    spread over rows, since it draws rows.
    """

    __slots__ = ()

    name: ClassVar[str]
    is_exact: ClassVar[bool]
    needs_levels: ClassVar[bool] = False
    draws_rows: ClassVar[bool] = False

    @property
    def is_normalised(self) -> bool:
        """Whether values are scaled as C', so that they have a chi and are at most saturated's."""
        return True

    @abstractmethod
    def bind(self, problem: Problem) -> Oracle:
        """The oracle of this class for one problem."""


def normalised(problem: Problem, cells: Cells, differences: FloatArray, raw: FloatArray) -> tuple[float, FloatArray]:
    """Value and scaled function (G,) of a raw function (G,) under C'.

    The zero function has value 0: it sees no gap, and there is no scale to give it.
    Source:  MPR paper, Proposition 3, in cells.
    """
    norm = np.sqrt(np.sum(cells.masses * raw**2))
    if norm == 0:
        return 0.0, np.zeros_like(raw)
    function = raw * (np.sqrt(problem.scale) / norm)
    value = float(differences @ function)
    return (value, function) if value >= 0 else (-value, -function)
