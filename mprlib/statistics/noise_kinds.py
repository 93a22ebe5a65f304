"""The noise of each kind of oracle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy

from mprlib.arrays import FloatArray
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle, WorstCase
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.function_classes.tree_oracle import MovedLeaves, TreeOracle
from mprlib.problem import Problem
from mprlib.statistics.class_noise import ClassNoise, Seen, Worst
from mprlib.statistics.draws import Block, Draws
from mprlib.statistics.margin import kernel_margin, lengths

# Resamples that trees are evaluated for. The 196th of 200 is exceeded by another one in 5 of 201 cases: few draws
# leave coverage as it is, and a width that varies by a tenth of the noise's part of it.
TREE_RESAMPLES = 200


def class_noise(problem: Problem, chosen: FunctionClass, level: float, draws: Draws) -> ClassNoise:
    """The noise of a class on a problem; level: of each end of an interval."""
    oracle = chosen.bind(problem)
    kind = next((noise for kind, noise in KINDS.items() if isinstance(oracle, kind)), ClassNoise)
    return kind(problem, chosen, oracle, level, draws)


class BallNoise(ClassNoise):
    """Of a unit ball: means of features move."""

    has_drifts = True
    is_length = True
    oracle: Ball

    @cached_property
    def _largest_deviation(self) -> float:
        centred = self.oracle.features - self.oracle.reference_mean
        covariance = centred.T @ (self.spread[:, None] * centred)
        return float(np.sqrt(max(np.linalg.eigvalsh(covariance)[-1], 0.0))) if covariance.size else 0.0

    @cached_property
    def _distances(self) -> FloatArray:
        # By rows, so that the sums are those of `closed_form_gaps`.
        moved = [np.ascontiguousarray(seen.moved.T) for seen in self._all_seen()]
        return np.concatenate([np.linalg.norm(one, axis=1) for one in moved])

    def _seen(self, block: Block) -> Seen:
        """moved (r, B)."""
        return Seen(np.ascontiguousarray((self.draws.moved(block) @ self.oracle.features).T), np.zeros((0, 0)))

    def _drifts(self, kept: FloatArray, values: FloatArray, found: Sequence[Worst], seen: Seen) -> FloatArray:
        from mprlib.statistics import noise_kernel as kernel

        drifts = np.empty((len(kept), seen.moved.shape[1]))
        # Row by row: a product of two matrices rounds a row by what is beside it.
        kernel.ball_lengths(np.array([row @ self.oracle.features for row in kept]), seen.moved, drifts)
        drifts -= values[:, None]
        return drifts


class SaturatedNoise(ClassNoise):
    """Of all functions, at the masses that each resample has."""

    has_drifts = True
    is_length = True
    oracle: SaturatedOracle

    @cached_property
    def _distances(self) -> FloatArray:
        return np.concatenate([seen.lengths for seen in self._all_seen()])

    def _seen(self, block: Block) -> Seen:
        """moved and 1 / masses (G, B)."""
        moved, masses = self.draws.moved_and_masses(block)
        inverse = np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0)
        of_each = lengths(self.problem, moved, masses)
        return Seen(np.ascontiguousarray(moved.T), np.ascontiguousarray(inverse.T), lengths=of_each)

    def _drifts(self, kept: FloatArray, values: FloatArray, found: Sequence[Worst], seen: Seen) -> FloatArray:
        from mprlib.statistics import noise_kernel as kernel

        drifts = np.empty((len(kept), seen.moved.shape[1]))
        kernel.saturated_drifts(kept, seen.moved, seen.masses, self.oracle.scale, drifts)
        return drifts

    def values(self, differences: FloatArray) -> FloatArray:
        """As of a ball, which it is at one set of masses."""
        from mprlib.statistics import noise_kernel as kernel

        units, blocks = np.sqrt(self.oracle.scale / self.oracle.cells.masses), []
        for seen in self._all_seen():
            blocks.append(np.empty((len(differences), seen.moved.shape[1])))
            kernel.ball_lengths(differences * units, seen.moved * units[:, None], blocks[-1])
        return np.concatenate(blocks, axis=1)


class GroupsNoise(ClassNoise):
    """Of named groups: each has the error of its own share."""

    has_drifts = True
    oracle: GroupsOracle

    @property
    def _unit(self) -> float:
        return 2.0 if self.oracle.signed else 1.0

    def upper(self, differences: FloatArray, values: FloatArray) -> FloatArray:
        """The largest upper end of a group's gap, by Wilson's half-width: a group that no row fell into has an error
        too."""
        found: FloatArray = self._unit * (np.abs(self.oracle.totals(differences)) + self._errors).max(axis=1)
        return found

    @cached_property
    def _errors(self) -> FloatArray:
        """Half-widths (groups,) of the groups' shares."""
        shares, total = self.oracle.totals(self.oracle.cells.reference_shares), float(self.spread.sum())
        variance = self.oracle.totals(self.spread) * (1.0 - 2.0 * shares) + shares**2 * total
        error: FloatArray = self.sigmas * np.sqrt(np.maximum(variance, 0.0) + (self.sigmas * total / 2.0) ** 2)
        return error

    @cached_property
    def _distances(self) -> FloatArray:
        found: FloatArray = np.concatenate([np.abs(seen.moved).max(axis=0) for seen in self._all_seen()]) * self._unit
        return found

    def _seen(self, block: Block) -> Seen:
        # No pool changes what groups have of the reference's cells.
        codes = self.oracle.codes
        key = ("groups", block, codes.shape, codes.tobytes())
        return self.draws.kept(key, lambda: self._of_members(block))

    def _of_members(self, block: Block) -> Seen:
        oracle = self.oracle
        cell = np.broadcast_to(np.arange(oracle.cells.size), oracle.codes.shape).ravel()
        is_member = (np.ones(cell.size), (oracle.codes.ravel(), cell))
        members = scipy.sparse.csr_array(is_member, shape=(len(oracle.names), oracle.cells.size))
        moved = np.asarray(members @ self.draws.moved(block).T)
        return Seen(moved, np.abs(moved).max(axis=1)[None, :])

    def _drifts(self, kept: FloatArray, values: FloatArray, found: Sequence[Worst], seen: Seen) -> FloatArray:
        """moved (groups, B), and in the place of masses the largest that each group moves (1, groups)."""
        from mprlib.statistics import noise_kernel as kernel

        gaps, reach = self.oracle.totals(kept), seen.masses
        # Whatever a resample is, other groups' gaps are below one of these.
        is_near = np.abs(gaps) + reach >= (np.abs(gaps) - reach).max(axis=1, keepdims=True)
        drifts = np.empty((len(kept), seen.moved.shape[1]))
        kernel.largest_gaps(gaps, seen.moved, is_near, drifts)
        drifts *= self._unit
        drifts -= values[:, None]
        return drifts


class TreeNoise(ClassNoise):
    """Of all trees, evaluated for each resample from what moved in the sets that leaves may hold."""

    has_drifts = True
    oracle: TreeOracle

    def __init__(self, problem: Problem, chosen: FunctionClass, oracle: TreeOracle, level: float, draws: Draws) -> None:
        super().__init__(problem, chosen, oracle, level, draws.first(TREE_RESAMPLES))

    def _seen(self, block: Block) -> Seen:
        moved, masses = self.draws.moved_and_masses(block)
        leaves = MovedLeaves.of(self.oracle.leaf_sums(moved), self.oracle.leaf_sums(masses))
        return Seen(moved, masses, leaves)

    def _drifts(self, kept: FloatArray, values: FloatArray, found: Sequence[Worst], seen: Seen) -> FloatArray:
        """moved and masses (B, G)."""
        return np.array([self._drift(*one, seen) for one in zip(kept, values.tolist(), found)])

    def values(self, differences: FloatArray) -> FloatArray:
        """Of all trees, at one set of masses."""
        kept = [self.oracle.leaf_sums(row[None, :])[:, 0] for row in differences]
        masses, blocks = self.oracle.leaf_sums(self.oracle.cells.masses[None, :]), []
        for seen in self._all_seen():
            assert seen.leaves is not None
            leaves = MovedLeaves.of(seen.leaves.moved, masses)
            blocks.append(np.array([self.oracle.gaps_near(own, leaves) for own in kept]))
        return np.concatenate(blocks, axis=1)

    def _drift(self, kept: FloatArray, value: float, found: Worst, seen: Seen) -> FloatArray:
        assert isinstance(found, WorstCase) and seen.leaves is not None
        gaps = self.oracle.gaps_near(self.oracle.leaf_sums(kept[None, :])[:, 0], seen.leaves)
        if self.oracle.is_signed:
            return gaps - value
        # The worst tree of d, scaled by the masses of each resample: no more than the class sees there.
        norms = np.sqrt(found.function**2 @ seen.masses.T)
        own = value * np.sqrt(self.problem.scale) / np.where(norms > 0, norms, np.inf)
        drifts: FloatArray = gaps - own
        return drifts


class KernelNoise(ClassNoise):
    """Of a kernel over many rows: by what its values allow, whatever chose the items."""

    oracle: KernelOracle

    @cached_property
    def margin(self) -> float:
        """t by the bound on a mean embedding's error."""
        return kernel_margin(self.oracle, self.draws, 2.0 * (1.0 - self.level))

    @property
    def of_all(self) -> float:
        """The same: the bound holds for both ends at once."""
        return self.margin

    def upper(self, differences: FloatArray, values: FloatArray) -> FloatArray:
        """By the bound as well."""
        return values + self.margin


KINDS: dict[type[Oracle], type[ClassNoise]] = {
    Ball: BallNoise,
    SaturatedOracle: SaturatedNoise,
    GroupsOracle: GroupsNoise,
    TreeOracle: TreeNoise,
    KernelOracle: KernelNoise,
}
