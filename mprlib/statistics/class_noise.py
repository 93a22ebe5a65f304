"""What a reference's sampling error does to the values of a function class: what all kinds of noise have in common.

`mprlib.statistics.noise_kinds` has a kind for each kind of oracle, `mprlib.statistics.interval` the formulas, and makes
intervals of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from mprlib.arrays import FloatArray
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.function_classes.tree_oracle import MovedLeaves
from mprlib.measurement import Measurement
from mprlib.problem import Problem
from mprlib.shrinkage import errors_in_cells
from mprlib.statistics.draws import Block, Draws
from mprlib.statistics.margin import distances_of
from mprlib.statistics.resampling import is_drawn_in_cells

# Numbers of a class's resamples that are kept from selection to selection, 32 MB.
LARGEST_KEPT = 4_000_000
# So many of the largest values are kept in order in less time than a row is parted.
FEW_LARGEST = 50

# What is known of the worst function of a selection.
Worst = WorstCase | Measurement


class Seen(NamedTuple):
    """What a class sees in resamples: what they moved and their masses, in the form that the class's noise takes.

    lengths (B,): how far each moved, where that is not seen in the others.
    """

    moved: FloatArray
    masses: FloatArray
    leaves: MovedLeaves | None = None
    lengths: FloatArray | None = None

    @property
    def size(self) -> int:
        """Numbers that it holds."""
        of_leaves = 0 if self.leaves is None else self.leaves.moved.size + self.leaves.masses.size
        return self.moved.size + self.masses.size + of_leaves

    @property
    def nbytes(self) -> int:
        """Memory."""
        return 8 * self.size


class ClassNoise:
    """Of a class that would have to be searched for each resample: no function's error exceeds that of all functions.

    has_drifts: `drifts` can be had. is_length: values depend on lengths alone, as a ball's do.
    """

    has_drifts = False
    is_length = False

    def __init__(self, problem: Problem, chosen: FunctionClass, oracle: Oracle, level: float, draws: Draws) -> None:
        self.problem, self.chosen, self.oracle, self.draws, self.level = problem, chosen, oracle, draws, level
        self.sigmas = float(scipy.special.ndtri(level))
        self._kept: list[Seen] | None = None

    @property
    def slack(self) -> float:
        """By how much the worst function's lead over others is reduced: sqrt(ln m) (Andrews and Soares 2010)."""
        return 1.0 if self.is_length else max(1.0, float(np.sqrt(np.log(self.problem.m))))

    @cached_property
    def margin(self) -> float:
        """t of MPR +- t for all selections: no end fails where the other one holds."""
        return float(np.quantile(self._distances, 2.0 * self.level - 1.0, method="higher"))

    @cached_property
    def of_all(self) -> float:
        """The same at the level of one end."""
        return self.quantile(self._distances)

    @cached_property
    def _distances(self) -> FloatArray:
        return distances_of(self.problem, self.chosen, self.draws)

    def quantile(self, values: FloatArray) -> float:
        """At the level; no value between two resamples."""
        return float(self.quantiles(values[None])[0])

    def quantiles(self, values: FloatArray) -> FloatArray:
        """The same of each row (S,) of values (S, B)."""
        from mprlib.statistics import noise_kernel as kernel

        place = int(np.ceil(self.level * (values.shape[1] - 1)))
        if values.shape[1] - place > FEW_LARGEST:
            found: FloatArray = np.partition(values, place, axis=1)[:, place]
            return found
        found = np.empty(len(values))
        kernel.largest_of_each(np.ascontiguousarray(values), values.shape[1] - place, found)
        return found

    def upper(self, differences: FloatArray, values: FloatArray) -> FloatArray:
        """The upper ends (S,) for d (S, G) with these values (S,), by the error of one function's mean."""
        return values + self.sigmas * self._largest_deviation

    @cached_property
    def _largest_deviation(self) -> float:
        """The largest deviation of any function's mean over a sample."""
        if self.chosen.is_normalised:
            return float(np.sqrt(self.problem.scale * (self.spread / self.oracle.cells.masses).max()))
        # Functions with values -1 and 1.
        return float(np.sqrt(self.spread.sum()))

    @cached_property
    def spread(self) -> FloatArray:
        """Sums (G,) of the squared weights of a cell's rows, q / m where all count alike: the mean of c has the
        variance sum_g spread_g (c_g - mean)^2."""
        reference, cells = self.problem.population, self.oracle.cells
        if is_drawn_in_cells(reference):
            return cells.reference_shares / self.problem.m
        squares = reference.squared_weights
        spread, places = np.zeros(cells.size), cells.reference_cell
        spread[places[places >= 0]] = squares[places >= 0]
        return spread

    @cached_property
    def expected_errors(self) -> FloatArray:
        """What the reference's shares (G,) are expected to have too much."""
        return errors_in_cells(self.problem, self.oracle.cells)

    def drifts(self, differences: FloatArray, found: Sequence[Worst], parts: FloatArray) -> FloatArray:
        """v(part d - x*) - part v(d) for each resample's noise x*, (S, B), of d (S, G) whose worst cases (S,) are known
        and parts (S,) of them."""
        kept, values = parts[:, None] * differences, parts * np.array([one.value for one in found])
        blocks = [self._drifts(kept, values, found, seen) for seen in self._all_seen()]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)

    def values(self, differences: FloatArray) -> FloatArray:
        """v(d - x*) for each resample's noise x*, (S, B), at the sample's own masses, of d (S, G)."""
        # Where masses play no part, what drifts from 0.
        origin = np.zeros(len(differences))
        return np.concatenate([self._drifts(differences, origin, (), seen) for seen in self._all_seen()], axis=1)

    def _drifts(self, kept: FloatArray, values: FloatArray, found: Sequence[Worst], seen: Seen) -> FloatArray:
        """Of one block: kept (S, G) is what remains of d, and values (S,) of its value."""
        raise NotImplementedError

    def _all_seen(self) -> list[Seen]:
        if self._kept is not None:
            return self._kept
        found = [self._seen(block) for block in self.draws.blocks()]
        if sum(seen.size for seen in found) <= LARGEST_KEPT:
            self._kept = found
        return found

    def _seen(self, block: Block) -> Seen:
        return Seen(*self.draws.moved_and_masses(block))
