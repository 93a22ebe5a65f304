"""What the labels of a pool's items say of their true cells, as far as a model of the scores looks at it.

Given the true cell, labels do not depend on the score. So items of about one score are a bin, a bin's counts of labels
are all that the model's likelihood needs, and its cost does not depend on the size of the pool. With probabilities of
its own each item is a bin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mprlib.arrays import BoolArray, FloatArray, IntArray
from mprlib.label_errors.confusions import Matrices, confusions_of
from mprlib.label_errors.true_cells import TrueCells, along, error_of, true_cells
from mprlib.pool_order import ranks
from mprlib.problem import Problem

if TYPE_CHECKING:
    from mprlib.label_errors.posterior_kernel import Given, Seen

# A probability below this is 0 for any number of items, and has a logarithm.
SMALLEST = 1e-300
# Bins of the more similar half of a pool, from FIRST_BIN items on ever larger, and of the other half.
UPPER_BINS, LOWER_BINS, FIRST_BIN = 32, 12, 8


class Evidence(Protocol):
    """features (R, F): of the bins; sizes (R,): items in each; places (R,): of the first of them in the order of
    scores."""

    features: FloatArray
    sizes: FloatArray
    places: IntArray

    @property
    def seen(self) -> Seen:
        """What is seen of the pool, for compiled loops."""
        ...

    def given(self, matrices: Matrices) -> Given:
        """The conditions under matrices by axis: (L, L), or (B, L, L) for draws."""
        ...

    def information(self, prior: FloatArray, matrices: Matrices, members: FloatArray) -> FloatArray:
        """Fisher information (P, P) on the cells' logits and the slopes (levels, F); members (G, levels)."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Counted(Evidence):
    """Counts of labels by bin. patterns: axes that are known by hand, with the counts (G, R) of items known so."""

    cells: TrueCells
    features: FloatArray
    sizes: FloatArray
    places: IntArray
    patterns: dict[tuple[int, ...], FloatArray]

    @property
    def seen(self) -> Seen:
        axes = range(len(self.cells.shape))
        is_wrong = [[axis not in known for axis in axes] for known in self.patterns]
        return _seen(self, self.cells, np.stack(list(self.patterns.values())), np.array(is_wrong))

    def given(self, matrices: Matrices) -> Given:
        from mprlib.label_errors.posterior_kernel import Given

        return Given(matrices=_stacked(matrices, self.cells.shape), items=np.empty((0, 0, 0)))

    def information(self, prior: FloatArray, matrices: Matrices, members: FloatArray) -> FloatArray:
        total, of_levels = np.zeros((len(members), len(members))), np.zeros((*prior.shape, members.shape[1]))
        for known, counts in self.patterns.items():
            used = {axis: one for axis, one in matrices.items() if axis not in known}
            joint = prior[:, :, None] * along(np.eye(self.cells.size), self.cells.shape, used)
            items = counts.sum(axis=0)[:, None]
            scaled = joint * np.sqrt(items / np.maximum(joint.sum(axis=1), SMALLEST))[:, None, :]
            flat = np.swapaxes(scaled, 0, 1).reshape(len(members), -1)
            total += flat @ flat.T - prior.T @ (items * prior)
            of_levels += scaled @ (np.swapaxes(scaled, 1, 2) @ members)
            of_levels -= prior[:, :, None] * (items * (prior @ members))[:, None, :]
        return _joined(total, of_levels, self.features, members)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ItemByItem(Evidence):
    """Each item a bin. likelihood: probabilities (n, G) of its labels in each true cell, up to a factor of its own;
    (B, n, G) for draws of matrices."""

    cells: TrueCells
    features: FloatArray
    sizes: FloatArray
    places: IntArray
    likelihood: Callable[[Matrices], FloatArray]

    @property
    def seen(self) -> Seen:
        nobody = np.empty((0, self.cells.size, self.sizes.size))
        return _seen(self, self.cells, nobody, np.empty((0, len(self.cells.shape)), dtype=bool))

    def given(self, matrices: Matrices) -> Given:
        from mprlib.label_errors.posterior_kernel import Given

        likely = self.likelihood(matrices)
        items = np.ascontiguousarray(np.swapaxes(likely.reshape(-1, *likely.shape[-2:]), 1, 2))
        return Given(matrices=np.empty((0, 0, 0, 0)), items=items)

    def information(self, prior: FloatArray, matrices: Matrices, members: FloatArray) -> FloatArray:
        # Outer products of the items' scores: one item has no other information.
        joint = prior * self.likelihood(matrices)
        scores = joint / np.maximum(joint.sum(axis=1, keepdims=True), SMALLEST) - prior
        of_slopes = (scores @ members)[:, :, None] * self.features[:, None, :]
        every = np.concatenate([scores, of_slopes.reshape(len(scores), -1)], axis=1)
        found: FloatArray = every.T @ every
        return found


def _seen(evidence: Evidence, cells: TrueCells, counts: FloatArray, is_wrong: BoolArray) -> Seen:
    from mprlib.label_errors.posterior_kernel import Seen

    starts = np.cumsum([0, *cells.shape])
    return Seen(
        features=np.ascontiguousarray(evidence.features),
        sizes=evidence.sizes,
        places=evidence.places,
        levels=cells.levels() + starts[:-1],
        starts=starts,
        counts=counts,
        is_wrong=is_wrong,
    )


def _stacked(matrices: Matrices, shape: Sequence[int]) -> FloatArray:
    """Matrices (B, axes, L, L), one of each axis in the first corner: the identity where labels are right."""
    draws = max((len(one) for one in matrices.values() if one.ndim > 2), default=1)
    found = np.tile(np.eye(max(shape)), (draws, len(shape), 1, 1))
    for axis, one in matrices.items():
        found[:, axis, : shape[axis], : shape[axis]] = one
    return found


def complete_information(evidence: Evidence, prior: FloatArray, members: FloatArray) -> FloatArray:
    """What `information` would be if true cells were seen, prior being (R, G)."""
    items = evidence.sizes[:, None] * prior
    total = np.diag(items.sum(axis=0)) - prior.T @ items
    of_levels = items[:, :, None] * (members[None, :, :] - (prior @ members)[:, None, :])
    return _joined(total, of_levels, evidence.features, members)


def _joined(total: FloatArray, of_levels: FloatArray, features: FloatArray, members: FloatArray) -> FloatArray:
    """Information (P, P), from that on the cells' logits (G, G) and that of cells on levels by bin (R, G, levels)."""
    (cells, levels), width = members.shape, features.shape[1]
    side = levels * width
    mixed = np.tensordot(of_levels, features, axes=(0, 0)).reshape(cells, side)
    squares = features[:, :, None] * features[:, None, :]
    # (levels, levels, F, F), to be (levels, F, levels, F).
    slopes = np.tensordot(members.T @ of_levels, squares, axes=(0, 0)).transpose(0, 2, 1, 3).reshape(side, side)
    return np.block([[total, mixed], [mixed.T, slopes]])


def likelihood(problem: Problem, items: IntArray, matrices: Matrices) -> FloatArray:
    """Probabilities (a, G) of what is seen of some items in each true cell, up to a factor for each item; (B, a, G) for
    draws of matrices."""
    return of_cells(likelihood_by_axis(problem, items, matrices))


def of_cells(factors: Sequence[FloatArray]) -> FloatArray:
    """Products (..., G) over cells of one factor (..., L) for each axis."""
    found = factors[0]
    for factor in factors[1:]:
        both = found[..., :, None] * factor[..., None, :]
        found = both.reshape(*both.shape[:-2], -1)
    return found


def likelihood_by_axis(problem: Problem, items: IntArray, matrices: Matrices) -> list[FloatArray]:
    """Probabilities (a, L) of what each axis shows of some items at each true level, up to a factor for each item;
    (B, a, L) for draws of matrices."""
    cells, error = true_cells(problem), error_of(problem)
    found = []
    for axis, size in enumerate(cells.shape):
        codes = cells.codes[items, axis]
        name = cells.name_of(axis)
        if name in error.probabilities:
            given = error.probabilities[name]
            of_axis = given[items] / np.maximum(given.mean(axis=0), SMALLEST)
        elif axis in matrices:
            of_axis = np.swapaxes(matrices[axis][..., codes], -1, -2)
        else:
            of_axis = np.eye(size)[codes]
        if name in error.known:
            known = error.known[name][items]
            of_axis = np.where((known >= 0)[:, None], np.eye(size)[np.maximum(known, 0)], of_axis)
        found.append(of_axis)
    return found


def possible_cells(problem: Problem, items: IntArray) -> BoolArray:
    """Whether each true cell (a, G) is one that hand labels, and labels that are right, leave to some items."""
    says_nothing = {axis: np.ones_like(one) for axis, one in as_known(problem).items()}
    found: BoolArray = likelihood(problem, items, says_nothing) > 0.0
    return found


def codes_by_pattern(problem: Problem, items: IntArray) -> dict[tuple[int, ...], tuple[IntArray, IntArray]]:
    """Items by which axes are known by hand: their places among `items`, and their cells (a,), true where known."""
    cells, error = true_cells(problem), error_of(problem)
    codes, is_known = cells.codes[items].copy(), np.zeros((items.size, len(cells.shape)), dtype=bool)
    for axis, name in enumerate(cells.attributes):
        if name in error.known:
            own = error.known[name][items]
            is_known[:, axis] = own >= 0
            codes[own >= 0, axis] = own[own >= 0]
    found: dict[tuple[int, ...], tuple[IntArray, IntArray]] = {}
    for pattern in np.unique(is_known, axis=0):
        places = np.flatnonzero((is_known == pattern).all(axis=1))
        found[tuple(np.flatnonzero(pattern).tolist())] = (places, cells.joint(codes[places]))
    return found


def evidence_of(problem: Problem, features: FloatArray) -> Evidence:
    """The evidence of a whole pool with features (n, F) of its items' scores."""
    cells, everyone = true_cells(problem), np.arange(problem.n)
    if error_of(problem).probabilities:
        return ItemByItem(
            cells=cells,
            features=features,
            sizes=np.ones(problem.n),
            places=ranks(problem.best_first),
            likelihood=lambda matrices: likelihood(problem, everyone, matrices),
        )
    bins = score_bins(problem)
    sizes = np.bincount(bins).astype(float)
    means = np.stack([np.bincount(bins, column) / sizes for column in features.T], axis=1)
    patterns = {}
    for known, (places, joint) in codes_by_pattern(problem, everyone).items():
        flat = np.bincount(bins[places] * cells.size + joint, minlength=sizes.size * cells.size)
        patterns[known] = np.ascontiguousarray(flat.reshape(sizes.size, cells.size).T).astype(float)
    places_of_bins = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.intp)
    return Counted(cells=cells, features=means, sizes=sizes, places=places_of_bins, patterns=patterns)


def as_known(problem: Problem) -> Matrices:
    """The confusions of the items as they are known."""
    return confusions_of(problem).items.known


def score_bins(problem: Problem) -> IntArray:
    """The bin (n,) of each item, by its place in the order of scores: narrow where the selections are."""
    half = max(problem.n / 2, FIRST_BIN)
    edges = np.concatenate([upper_edges(problem.n), np.rint(np.linspace(half, problem.n, LOWER_BINS + 1)[1:-1])])
    places = ranks(problem.best_first)
    _, bins = np.unique(np.searchsorted(np.unique(edges), places, side="right"), return_inverse=True)
    return bins


def upper_edges(items: int) -> IntArray:
    """Places where a bin of the more similar half of a pool ends and the next one begins."""
    return np.unique(np.rint(np.geomspace(FIRST_BIN, max(items / 2, FIRST_BIN), UPPER_BINS)).astype(np.intp))
