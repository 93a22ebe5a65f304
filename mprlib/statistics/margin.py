"""MPR +- t: the reference's sampling error, for all selections at once.

For any selection, |MPR against the sample - MPR against the population| is at most

    sup over c in C of | sum_g (q_g - Q_g) c_g |,

with q the sample's shares and Q the population's. t is the (1 - delta) quantile of that distance
with a resample q* in the place of q, and q in the place of Q. Since the distance does not look at
the selection, one t serves every selection of the pool, optimised ones included.

Items that are themselves independent draws, such as the pictures that a generator made for a prompt,
have a sampling error of their own: with p their shares and P those of all that it would make, the
distance is that of (p - P) - (q - Q), resampled on both sides. It is then about those items alone,
and no longer about all selections.

A percentile bootstrap of MPR itself does not do: MPR is a norm, resampling inflates it, and near
zero the whole interval is above the truth.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from mprlib.arrays import FloatArray, IntArray
from mprlib.assumptions import warn_of_assumption
from mprlib.attention import UNIFORM, AnyAttention, attended
from mprlib.declarations import strict
from mprlib.errors import InputError
from mprlib.function_classes.ball import Ball
from mprlib.function_classes.base import FunctionClass, Oracle
from mprlib.function_classes.gaps import closed_form_gaps
from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.rkhs import KernelOracle
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.problem import Problem
from mprlib.registry import function_class as registered
from mprlib.settings import PROBABILITY, SEED, Whole
from mprlib.statistics.draws import Block, Draws
from mprlib.statistics.resampling import RESAMPLES, Resamples

# Multiplications that trees of all resamples may take, some 15 ms of one core; resamples that they get at least.
LARGEST_TREE_WORK = 100_000_000
FEWEST_RESAMPLES = 200


@strict
def sampling_margin(
    problem: Problem,
    function_class: str | FunctionClass = "linear",
    *,
    confidence: Annotated[float, PROBABILITY] = 0.95,
    resamples: Annotated[int, Whole(least=1)] = RESAMPLES,
    seed: Annotated[int, SEED] = 0,
    drawn: Resamples | None = None,
    items: ArrayLike | None = None,
    attention: AnyAttention = UNIFORM,
) -> float:
    """t such that MPR +- t covers the MPR against the whole population, in the class's own units.

    Balanced and stated shares have no sampling error: of these t is 0, where no items are draws.
    Classes without a closed form
    (networks, forests, trees too many to list) take a larger t that holds for all functions: saturated's, or for
    {-1, +1} functions sum |q* - q|; it covers the class's MPR, which a heuristic oracle's value
    may miss by more. A kernel on continuous labels takes the bound that its values allow.
    drawn: resamples of the problem's reference that are at hand, `Resamples.drawn(problem.population, resamples,
    [seed, 0])`, in the place of drawing the same anew. attention: of the selections' places.

    items: (k,) items that are independent draws themselves, a generator's pictures and not what was retrieved: the
    margin holds their error too, and the reference's only where it is a sample.

    Returns: t >= 0; never more than needed to cover every value the class can take.
    Raises:  InputError for a confidence outside (0, 1), fewer than 1 resample, or items that are not k of the pool.

    >>> import mprlib
    >>> problem = mprlib.Problem(
    ...     scores=[0.9, 0.8, 0.7, 0.6], labels=[[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1]], k=2,
    ...     label_names=["women", "men"], attributes={"gender": [0, 1]})
    >>> from mprlib.statistics import sampling_margin
    >>> round(sampling_margin(problem, "groups"), 2)
    0.5
    """
    chosen = registered(function_class)
    problem = attended(problem, attention)
    warn_of_assumption(problem, "the margin depends")
    shown = None if items is None else _expected_items(problem, items)
    if shown is None and not problem.population.is_sample:
        return 0.0
    draws = Draws(problem, resamples, seed, drawn, shown)
    if drawn is not None:
        # Of the caller's resamples, which another call may not have.
        return _margin(problem, chosen, confidence, draws)
    key = ("margin", chosen, confidence, resamples, seed, None if shown is None else shown.tobytes())
    return problem.cached(key, lambda: _margin(problem, chosen, confidence, draws))


def _expected_items(problem: Problem, items: ArrayLike) -> IntArray:
    shown = problem.checked_items(items)
    if shown.size != problem.k:
        raise InputError(f"items has {shown.size} positions: k is {problem.k}")
    return shown


def _margin(problem: Problem, chosen: FunctionClass, confidence: float, draws: Draws) -> float:
    oracle = chosen.bind(problem)
    if isinstance(oracle, KernelOracle):
        return kernel_margin(oracle, draws, 1.0 - confidence)
    margin = float(np.quantile(distances_of(problem, chosen, draws), confidence, method="higher"))
    # Under C' MPR is in [0, 1], and so does any difference of two.
    return min(margin, 1.0) if chosen.is_normalised else margin


def kernel_margin(oracle: KernelOracle, draws: Draws, risk: float) -> float:
    """t of a kernel's ball over many rows, where a resample would cost all pairs of rows.

    Source:  Gretton et al. 2012: the mean embedding's error has a mean of at most sqrt(kappa / m), and one row moves it
             by 2 sqrt(kappa) / m (McDiarmid).
    """
    spread = oracle.largest_square * draws.variance
    return float(np.sqrt(spread) * (1.0 + np.sqrt(2.0 * np.log(1.0 / risk))))


def distances_of(problem: Problem, chosen: FunctionClass, draws: Draws) -> FloatArray:
    """The distance (count,) of each resample from what it was drawn from, as the class sees it."""
    oracle = chosen.bind(problem)
    if isinstance(oracle, TreeOracle):
        draws = draws.first(tree_resamples(oracle))
    return np.concatenate([_distances(problem, chosen, oracle, draws, block) for block in draws.blocks()])


def tree_resamples(oracle: TreeOracle) -> int:
    """How many resamples all trees are evaluated for."""
    return max(FEWEST_RESAMPLES, LARGEST_TREE_WORK // max(oracle.work, 1))


def _distances(problem: Problem, chosen: FunctionClass, oracle: Oracle, draws: Draws, block: Block) -> FloatArray:
    if isinstance(oracle, (Ball, GroupsOracle)):
        return closed_form_gaps(oracle, draws.moved(block))
    if isinstance(oracle, TreeOracle):
        return oracle.gaps(*draws.moved_and_masses(block))
    if not chosen.is_normalised:
        distances: FloatArray = np.abs(draws.moved(block)).sum(axis=1)
        return distances
    moved, masses = draws.moved_and_masses(block)
    return lengths(problem, moved, masses)


def lengths(problem: Problem, differences: FloatArray, masses: FloatArray) -> FloatArray:
    """The largest gap (B,) that any function under C' sees in differences (B, G), at masses N (B, G)."""
    squares = np.divide(differences**2, masses, out=np.zeros_like(differences), where=masses > 0)
    values: FloatArray = np.sqrt(problem.scale * squares.sum(axis=1))
    return values
