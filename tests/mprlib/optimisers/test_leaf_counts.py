"""What trees allow whole counts of their leaves, and branch and bound by it, against all sets and all trees."""

from collections.abc import Iterator

import numpy as np
import pytest

from mprlib import Problem, sweep
from mprlib.function_classes.base import uncut_limit
from mprlib.function_classes.tree import Tree
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.whole import cut_counts, cut_listing, leaf_branching, leaf_programme
from mprlib.optimisers.whole.leaf_branching import LeafBranching
from mprlib.optimisers.whole.leaf_counts import LeafCounts
from mprlib.optimisers.whole.leaf_programme import LeafProgramme
from tests.mprlib.optimisers.test_tree_search import search_of
from tests.mprlib.optimisers.test_whole_counts import Listed, check, small_problem

TREES = [Tree(), Tree(depth=2), Tree(depth=1), Tree(signed=True), Tree(depth=2, signed=True)]


def all_trees(cells: np.ndarray, splits: list[np.ndarray], depth: int) -> Iterator[tuple[np.ndarray, ...]]:
    """The leaves of every tree of exactly this depth, empty ones included."""
    if depth == 0:
        yield (cells,)
        return
    for split in splits:
        for left in all_trees(cells & split, splits, depth - 1):
            for right in all_trees(cells & ~split, splits, depth - 1):
                yield left + right


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tree", TREES)
def test_limits_and_secants_hold_for_all_sets_that_meet_rho(seed: int, tree: Tree) -> None:
    problem = small_problem(seed)
    oracle, listed, random = tree.bind(problem), Listed(problem, tree), np.random.default_rng(seed)
    pool = cell_pool_of(problem, oracle.cells)
    leaves = LeafCounts.of(pool, oracle)
    counts = np.array([np.bincount(oracle.cells.pool_cell[own], minlength=pool.cell_count) for own in listed.sets])
    # Measured values are cut, and proofs are of all that is cut to rho.
    for rho in (uncut_limit(float(value)) for value in np.quantile(listed.values, [0.0, 0.05, 0.3])):
        inside = counts[listed.values <= rho]
        low, high = leaves.limits(rho)
        held = inside @ leaves.members
        assert (held >= low).all() and (held <= high).all()
        for _ in range(10):
            point = random.dirichlet(np.ones(3)) @ counts[random.choice(len(counts), 3)]
            for secant in leaves.secants(leaves.held(point), rho, 4):
                right = secant.factor * leaves.allowed(rho) + secant.offset
                assert (inside @ secant.row <= right + 1e-12).all() and point @ secant.row > right
        for outside in counts[listed.values > rho * (1 + 1e-6)][::97]:
            own = outside.astype(float)
            assert leaves.secants(leaves.held(own), rho, 1)


def test_secants_see_what_counts_in_parts_hide() -> None:
    """One attribute of two levels, q = 1/2 and k = 3: at 3/2 each no tree sees a gap, and no whole counts are there."""
    problem = Problem(scores=np.arange(8.0), labels=[[0], [1]] * 4, reference=[[0], [1]], k=3)
    oracle = Tree().bind(problem)
    leaves = LeafCounts.of(cell_pool_of(problem, oracle.cells), oracle)
    point = np.array([1.5, 1.5])
    nearest = oracle.worst_in(np.array([2.0, 1.0]) / 3 - 0.5).value
    assert leaves.secants(leaves.held(point), 0.99 * nearest, 1)
    assert not leaves.secants(leaves.held(point), nearest, 1)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 3, 4])
def test_best_partitions_and_what_others_are_worth_are_those_of_all_trees(seed: int, depth: int) -> None:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, (12, 3))
    oracle = Tree(depth=depth).bind(Problem(scores=np.zeros(12), labels=labels, reference=labels, k=3))
    place = {tuple(one): number for number, one in enumerate(oracle.leaf_sets > 0)}
    splits = [side > 0 for side in oracle._sides[::2]]
    worths = random.random(len(place))
    best, others = 0.0, np.zeros(len(place))
    for tree in all_trees(np.ones(oracle.cells.size, dtype=bool), splits, depth):
        own = [place[tuple(leaf)] for leaf in tree if leaf.any()]
        total = worths[own].sum()
        best = max(best, total)
        others[own] = np.maximum(others[own], total - worths[own])
    found = oracle.best_partitions(worths, 2)
    assert found[0][0] == pytest.approx(best)
    for value, of_cells in found:
        assert worths[np.unique(of_cells)].sum() == pytest.approx(value)
        assert all(oracle.leaf_sets[leaf, cell] for cell, leaf in enumerate(of_cells))
    assert oracle.worths_of_others(worths) == pytest.approx(others)


@pytest.mark.parametrize("are_nodes_listed", [False, True])
@pytest.mark.parametrize("tree", TREES)
def test_branch_and_bound_is_right_about_all_sets(monkeypatch, tree: Tree, are_nodes_listed: bool) -> None:
    """Without the listing that comes first, and without any."""
    monkeypatch.setattr(cut_counts, "LISTED", 10**9)
    monkeypatch.setattr(cut_counts, "LEAST_COST", 100)
    monkeypatch.setattr(cut_counts, "PART_FOR_HARD", 1.0)
    if not are_nodes_listed:
        monkeypatch.setattr(cut_listing, "SETS_A_NODE", -np.inf)
    searches, searched = [], LeafBranching.searched

    def counted(self, bound):
        found = searched(self, bound)
        searches.append(self.visited)
        return found

    monkeypatch.setattr(LeafBranching, "searched", counted)
    for seed in (1, 3, 5, 8):
        problem = small_problem(seed)
        listed = Listed(problem, tree)
        for row in sweep(problem, "mopr", listed.rhos(), tree):
            check(problem, listed, row)
    assert len(searches) > 5 and (are_nodes_listed or tree.depth == 1 or sum(searches) > len(searches))


def test_a_listing_does_not_replace_the_incumbent_by_less() -> None:
    """As where a node's optimum is beyond its limits: what is listed then need not be better."""
    problem, tree = small_problem(1), Tree(depth=2)
    listed, (separator, _) = Listed(problem, tree), search_of(problem, tree)
    pool, cell = separator.pool, separator.oracle.cells.pool_cell
    rho = float(np.median(listed.values))
    inside = listed.sets[listed.values <= rho]
    order = np.argsort(problem.scores[inside].mean(axis=1))
    worst, other = (
        np.bincount(cell[inside[order[place]]], minlength=pool.cell_count) for place in (0, order.size // 2)
    )
    known = pool.similarity(other)
    branching = LeafBranching(
        separator=separator,
        programme=LeafProgramme(pool, separator.oracle),
        rho=uncut_limit(rho),
        best=known,
        most=50,
        gap=np.inf,
        listing=lambda *_: (cut_listing.Listed(best=known, left=0, counts=worst), True),
    )
    branching.searched(np.inf)
    assert pool.similarity(worst) < known == branching.best and branching.counts is None


def test_proofs_without_a_prospect_are_left_out_and_long_programmes_count_as_several(monkeypatch) -> None:
    """What is said remains right."""
    monkeypatch.setattr(cut_counts, "LISTED", 10**9)
    monkeypatch.setattr(cut_listing, "SETS_A_NODE", -np.inf)
    problem, tree, visited = small_problem(5), Tree(), []
    listed, searched = Listed(problem, tree), LeafBranching.searched

    def counted(self, bound):
        found = searched(self, bound)
        visited.append(self.visited)
        return found

    monkeypatch.setattr(LeafBranching, "searched", counted)

    def nodes(part: float, steps: int, closed: float = 0.0) -> int:
        monkeypatch.setattr(cut_counts, "PART_FOR_HARD", part)
        monkeypatch.setattr(leaf_programme, "STEPS", steps)
        monkeypatch.setattr(leaf_branching, "LEAST_CLOSED", closed)
        visited.clear()
        for row in sweep(problem, "mopr", listed.rhos(), tree):
            check(problem, listed, row)
        return sum(visited)

    most = nodes(1.0, 10**9)
    assert nodes(0.05, 10**9) < most and nodes(1.0, 1) < most and nodes(1.0, 10**9, closed=50.0) < most


@pytest.mark.parametrize("most", [-1.0, 100.0])
def test_what_is_listed_first_changes_nothing_of_what_is_proven(monkeypatch, most: float) -> None:
    """Parts of the gap one after the other, or all of it at once."""
    monkeypatch.setattr(cut_listing, "MOST_AT_ONCE", most)
    for seed in (1, 2, 5):
        problem, tree = small_problem(seed), Tree()
        listed = Listed(problem, tree)
        for row in sweep(problem, "mopr", listed.rhos(), tree):
            assert check(problem, listed, row) == "settled"


def test_rows_are_dropped_and_nothing_else_changes(monkeypatch) -> None:
    problem, tree = small_problem(5), Tree()
    oracle = tree.bind(problem)
    pool = cell_pool_of(problem, oracle.cells)
    rhos = Listed(problem, tree).rhos()[2:]

    def bounds() -> tuple[list[float], int]:
        programme, found = LeafProgramme(pool, oracle), []
        for rho in rhos:
            assert programme.at(rho)
            found.append(
                programme.optimum(np.zeros(pool.cell_count), pool.capacity.astype(float), -np.inf, 10**6).bound
            )
        return found, programme.held

    kept, held = bounds()
    monkeypatch.setattr(leaf_programme, "MORE_ROWS", 5)
    dropped, fewer = bounds()
    assert dropped == pytest.approx(kept) and fewer < held
