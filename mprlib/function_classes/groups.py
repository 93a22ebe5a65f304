"""Named groups: every intersection of the levels of up to d attributes.

The one class whose value reads without a footnote: the largest difference between a group's share
of the selection and its share of the reference, a fraction of 1. Its rho is in the same unit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, ClassVar, TypedDict

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by, sums_by_row
from mprlib.cells import Cells, cells_of
from mprlib.errors import InputError
from mprlib.function_classes.base import CellOracle, FunctionClass, WorstCase
from mprlib.kept import Kept
from mprlib.level_names import joint_name
from mprlib.naming import AttributeLevels, cell_levels
from mprlib.problem import Problem
from mprlib.settings import Flag, Whole

# Past this, listing them takes longer than any reader: fewer attributes, or coarser levels, say more.
LARGEST_GROUP_COUNT = 100_000
# Values that are summed by group at once, 16 MB.
LARGEST_BLOCK = 1_000_000
# Groups of the cells that were looked at last.
NAMED = Kept()


@dataclass(frozen=True, kw_only=True, slots=True)
class Groups(FunctionClass):
    """Indicators of named groups, the intersections of a few attributes' levels; values are in shares.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> mprlib.measure(problem, [0, 1], "groups").value
    0.5
    """

    name: ClassVar[str] = "groups"
    is_exact: ClassVar[bool] = True
    needs_levels: ClassVar[bool] = True

    max_attributes: Annotated[int, Whole(least=1), "how many attributes an intersection has at most"] = 2
    signed: Annotated[bool, Flag(), "functions with values {-1, +1} instead of {0, 1}; every gap doubles"] = False

    @property
    def is_normalised(self) -> bool:
        """No: values are differences of shares."""
        return False

    def bind(self, problem: Problem) -> GroupsOracle:
        """The oracle over all groups that hold at least one cell.

        Raises:  InputError where labels are no levels, and when they make more than 100,000 groups.
        """
        return problem.cached(("groups", self), lambda: self._build(problem))

    def _build(self, problem: Problem) -> GroupsOracle:
        cells = cells_of(problem)
        # Names follow from the cells' labels alone, which are the same for many problems.
        attributes = tuple((name, tuple(own)) for name, own in problem.attributes.items())
        # Of an attribute in one column the number of rows decides whether it holds levels.
        rows = None if all(len(own) > 1 for _, own in attributes) else problem.n
        key = ("groups", self, attributes, tuple(problem.label_names), cells.of_labels, rows)
        kept = NAMED if cells.name is None else problem.population.kept
        named = kept.get(key, lambda: self._named(problem))
        return GroupsOracle(cells=cells, signed=self.signed, **named)

    def _named(self, problem: Problem) -> Named:
        """Every group that holds a cell."""
        levels = cell_levels(problem)
        codes: list[IntArray] = []
        names: list[str] = []
        counts: list[int] = []
        starts: list[int] = []
        for size in range(1, min(self.max_attributes, len(levels)) + 1):
            for attributes in combinations(levels, size):
                code, group_names = _intersections([levels[name] for name in attributes])
                if len(names) + len(group_names) > LARGEST_GROUP_COUNT:
                    raise InputError(
                        f"labels make more than {LARGEST_GROUP_COUNT} groups, {' & '.join(attributes)} among others: "
                        "bin continuous attributes before naming groups"
                    )
                codes.append(code + len(names))
                starts.append(len(names))
                names += group_names
                counts += [size] * len(group_names)
        return Named(names=tuple(names), attribute_counts=tuple(counts), codes=np.array(codes), starts=tuple(starts))


class Named(TypedDict):
    """Groups as `GroupsOracle` has them."""

    names: tuple[str, ...]
    attribute_counts: tuple[int, ...]
    codes: IntArray
    starts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class GroupsOracle(CellOracle):
    """Exact by enumeration.

    Shapes:  names (groups,), "attribute=level & attribute=level".
             attribute_counts (groups,), how many attributes each group intersects.
             codes (sets of attributes, G), each cell's group in each set of attributes.
             starts (sets of attributes,), the first group of each.
    """

    cells: Cells
    names: tuple[str, ...]
    attribute_counts: tuple[int, ...]
    codes: IntArray
    starts: tuple[int, ...]
    signed: bool

    def worst_in(self, differences: FloatArray) -> WorstCase:
        """The group with the largest gap; on ties the one of fewest attributes, then the first."""
        return self._worst(differences, self.totals(differences))

    def worst_of_each(self, problem: Problem, selections: Sequence[IntArray]) -> list[WorstCase]:
        """The largest gap of each of several selections, whose groups are summed together."""
        differences = self.cells.differences_of_each(selections, problem.place_weights)
        return [self._worst(*one) for one in zip(differences, self.totals(differences))]

    def _worst(self, differences: FloatArray, gaps: FloatArray) -> WorstCase:
        """Of differences (G,) of the cells' shares and gaps (groups,) of the groups'."""
        worst = int(np.argmax(np.abs(gaps)))
        # Groups are numbered through, one set of attributes after the other.
        indicator = (self.codes[bisect_right(self.starts, worst) - 1] == worst).astype(float)
        function = (-1.0 if gaps[worst] < 0 else 1.0) * (2 * indicator - 1 if self.signed else indicator)
        value = float(differences @ function)
        return WorstCase(value=value, upper_bound=value, is_exact=True, function=function)

    def named_groups(self) -> GroupsOracle:
        return self

    def first_functions(self) -> FloatArray:
        """Indicators of the groups of one attribute, less their shares of the reference."""
        single = np.flatnonzero(np.array(self.attribute_counts) == 1)
        members = (self.codes[:, :, None] == single).any(axis=0).astype(float)
        centred: FloatArray = (members - self.cells.reference_shares @ members) * (2.0 if self.signed else 1.0)
        return centred

    def totals(self, cell_values: FloatArray) -> FloatArray:
        """Each group's sum (groups,) of values (G,) over its cells; or of each row (B, groups) of values (B, G)."""
        if cell_values.ndim == 2:
            return self._totals_of_rows(cell_values)
        repeated = np.concatenate([cell_values] * len(self.codes))
        return sums_by(self.codes.ravel(), repeated, len(self.names))

    def _totals_of_rows(self, values: FloatArray) -> FloatArray:
        found, block = np.empty((len(values), len(self.names))), max(1, LARGEST_BLOCK // self.codes.size)
        for start in range(0, len(values), block):
            rows = np.tile(values[start : start + block], len(self.codes))
            groups = np.broadcast_to(self.codes.ravel(), rows.shape)
            found[start : start + block] = sums_by_row(groups, rows, len(self.names))
        return found

    def shares_of(self, problem: Problem, items: IntArray) -> tuple[FloatArray, FloatArray]:
        """Each group's share of a selection and of the reference, (groups,) both."""
        selected = self.cells.shares_of(items, problem.place_weights)
        return self.totals(selected), self.totals(self.cells.reference_shares)

    def shares_of_each(self, problem: Problem, selections: Sequence[IntArray]) -> tuple[FloatArray, FloatArray]:
        """Each group's share of several selections (B, groups) and of the reference (groups,)."""
        selected = self.cells.shares_of_each(selections, problem.place_weights)
        return self.totals(selected), self.totals(self.cells.reference_shares)


def _intersections(levels: list[AttributeLevels]) -> tuple[IntArray, list[str]]:
    """Group (G,) of each cell among the intersections that occur, and the groups' names."""
    code = np.zeros_like(levels[0].codes)
    for level in levels:
        # Numbered anew for each attribute, as the product of many attributes' levels would overflow.
        _, first, code = np.unique(code * len(level.names) + level.codes, return_index=True, return_inverse=True)
    return code, [joint_name(level.names[level.codes[cell]] for level in levels) for cell in first]
