"""MPR of lotteries where cells are too many to count: by the cells of each drawn row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mprlib.arrays import FloatArray, IntArray, sums_by_row
from mprlib.cells import Cells
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import Oracle
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.lotteries import LARGEST_BLOCK, SEED, drawing_order, drawn_cells, draws_for
from mprlib.problem import Problem


def values_of_rows(problem: Problem, cells: Cells, oracle: Oracle) -> FloatArray | None:
    """MPR (B,) of lotteries."""
    k, shares, weights = problem.k, cells.reference_shares, problem.place_weights
    if isinstance(oracle, Ball):
        return _in_blocks(shares, k, oracle.features.shape[1], lambda drawn: _ball_values(oracle, drawn, weights))
    if isinstance(oracle, SaturatedOracle):
        inverse = 1.0 / cells.masses
        rest = float(shares**2 @ inverse)
        order = drawing_order(problem, cells.labels, shares, cells.masses)
        shares, inverse = shares[order], inverse[order]
        return _in_blocks(
            shares,
            k,
            4,
            lambda drawn: np.sqrt(oracle.scale * np.maximum(_squares(drawn, shares, inverse, weights) + rest, 0.0)),
        )
    if isinstance(oracle, GroupsOracle):
        return _in_blocks(shares, k, 4 * len(oracle.codes), lambda drawn: _group_values(oracle, drawn, weights))
    return None


def _in_blocks(shares: FloatArray, k: int, width: int, values_of: Callable[[IntArray], FloatArray]) -> FloatArray:
    draws = draws_for(float(k * width * 4))
    random = np.random.default_rng([SEED, k])
    block = max(1, LARGEST_BLOCK // max(k * width, 1))
    sizes = [min(block, draws - start) for start in range(0, draws, block)]
    return np.concatenate([values_of(drawn_cells(shares, (size, k), random)) for size in sizes])


def _ball_values(ball: Ball, drawn: IntArray, weights: FloatArray | None) -> FloatArray:
    features = ball.features[drawn]
    means = features.mean(axis=1) if weights is None else np.einsum("bkr,k->br", features, weights)
    lengths: FloatArray = np.linalg.norm(means - ball.reference_mean, axis=1)
    return lengths


def _squares(drawn: IntArray, shares: FloatArray, inverse: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """sum over drawn cells of (p^2 - 2 p q) / N; a cell that is drawn twice counts with the square of both."""
    if weights is not None:
        return _weighted_squares(drawn, shares, inverse, weights)
    ordered = np.sort(drawn, axis=1)
    k = drawn.shape[1]
    # Each pair of equal draws adds 2 / k^2: the i-th of a run of equals adds (2 i - 1) / k^2.
    place = np.arange(k)
    is_first = np.concatenate([np.ones((len(ordered), 1), bool), np.diff(ordered, axis=1) > 0], axis=1)
    starts = np.where(is_first, place, 0)
    run = place - np.maximum.accumulate(starts, axis=1)
    found: FloatArray = (((2 * run + 1) / k**2 - 2.0 * shares[ordered] / k) * inverse[ordered]).sum(axis=1)
    return found


def _weighted_squares(drawn: IntArray, shares: FloatArray, inverse: FloatArray, weights: FloatArray) -> FloatArray:
    """The same where places have weights: w_i (w_i + 2 w_j) over the places j of the same cell before i."""
    order = np.argsort(drawn, axis=1, kind="stable")
    ordered, own = np.take_along_axis(drawn, order, axis=1), weights[order]
    before = np.cumsum(own, axis=1) - own
    is_first = np.concatenate([np.ones((len(ordered), 1), bool), np.diff(ordered, axis=1) > 0], axis=1)
    at_first = np.maximum.accumulate(np.where(is_first, before, 0.0), axis=1)
    found: FloatArray = (own * (own + 2.0 * (before - at_first) - 2.0 * shares[ordered]) * inverse[ordered]).sum(axis=1)
    return found


def _group_values(oracle: GroupsOracle, drawn: IntArray, weights: FloatArray | None) -> FloatArray:
    draws, k = drawn.shape
    groups = len(oracle.names)
    shares = oracle.totals(oracle.cells.reference_shares)
    largest = np.zeros(draws)
    for code in oracle.codes:
        first, last = int(code.min()), int(code.max())
        members = sums_by_row(code[drawn] - first, np.ones(k) if weights is None else weights, last - first + 1)
        assert last < groups
        of_groups = members / k if weights is None else members
        largest = np.maximum(largest, np.abs(of_groups - shares[first : last + 1]).max(axis=1))
    return largest * (2.0 if oracle.signed else 1.0)


def kernel_values(problem: Problem, cells: Cells, oracle: KernelOracle) -> FloatArray:
    """MMD (B,) of lotteries: kernels between a lottery's own rows, and the reference's mean at each."""
    k, weights = problem.k, problem.place_weights
    width = k * cells.labels.shape[1]

    def values_of(drawn: IntArray) -> FloatArray:
        kernels = (oracle.kernel.matrix(cells.labels[row], cells.labels[row]) for row in drawn)
        if weights is None:
            within = np.array([kernel.mean() for kernel in kernels])
            across = oracle.reference_function[drawn].mean(axis=1)
        else:
            within = np.array([weights @ kernel @ weights for kernel in kernels])
            across = oracle.reference_function[drawn] @ weights
        lengths: FloatArray = np.sqrt(np.maximum(within - 2.0 * across + oracle.reference_square, 0.0))
        return lengths

    return _in_blocks(cells.reference_shares, k, width, values_of)
