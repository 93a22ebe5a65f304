"""Incumbents: the best whole counts for each rho with what is proven of them, from the smallest rho to the largest.

The incumbent of a smaller rho meets every larger one, so it is one more start there. Sets are searched cell
by cell, or item by item for a ball whose items nearly all differ; then whole counts are searched for a proof,
within a number of nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from mprlib.arrays import IntArray
from mprlib.function_classes.base import uncut_limit
from mprlib.optimisers.ball_annealing import BallAnnealing
from mprlib.optimisers.cell_search import CellSearch
from mprlib.optimisers.certificate import OPTIMALITY, Impossible
from mprlib.optimisers.item_swaps import ItemSwaps
from mprlib.optimisers.relaxation import Relaxation
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.set_search import Incumbent, SetSearch
from mprlib.optimisers.tree_search import TreeSearch
from mprlib.optimisers.whole.marginals import marginals_of
from mprlib.optimisers.whole.proof import Floor, Searched, WholeProof
from mprlib.optimisers.whole.registry import whole_proof
from mprlib.optimisers.whole.tolerance import SMALLEST_EXCESS

T = TypeVar("T")

# A gap, relative to the bound, above which a better set is looked for by annealing; the search for a proof that
# follows has this part of the nodes.
WIDE_GAP = 0.004
NODES_AGAIN = 2
# So many nodes ask for sets of local search alone, as where bounds are not stated.
NO_SEARCH = 1


@dataclass(kw_only=True, eq=False, slots=True)
class Incumbents:
    """Incumbents of one problem and class. top_counts (G,) are those of top-k, top_value their MPR.

    nodes: limit of one search for a proof. floor: what is proven of every set, once it was asked for.
    previous, searched: the best set so far, and the last one of local search, which it starts from.
    """

    separator: Separator
    nodes: int
    top_counts: IntArray
    top_value: float
    previous: IntArray | None = None
    searched: IntArray | None = None
    floor: Floor | None = None
    _made: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, separator: Separator, nodes: int, top_value: float) -> Incumbents:
        """Those of a pool whose top-k has that MPR."""
        top_counts = separator.pool.top_counts(separator.problem)
        return cls(separator=separator, nodes=nodes, top_counts=top_counts, top_value=top_value)

    @property
    def search(self) -> SetSearch:
        """The search that suits the problem's cells; made when it is asked for, as where top-k is best nobody does."""
        return self._once("search", self._search)

    @property
    def proof(self) -> WholeProof | None:
        """The proof that suits the class and the cells, likewise."""
        return self._once("proof", lambda: whole_proof(self.separator))

    def best(self, relaxation: Relaxation) -> Incumbent:
        """The best counts found for a rho that is no smaller than the last one."""
        calls = self.separator.calls
        found = self._best(relaxation)
        if found.is_feasible:
            self.previous = found.counts
        return found.with_bound(found.bound, nodes=found.nodes, oracle_calls=self.separator.calls - calls)

    def rho_min(self, relaxation: Relaxation) -> float | None:
        """The largest proven lower bound on the MPR of every set."""
        known = None if self.floor is None else self.floor.rho
        if known is None or relaxation.rho_min is None:
            return relaxation.rho_min if known is None else known
        return max(known, relaxation.rho_min)

    def impossible(self, rho: float) -> Impossible:
        """Why no set meets rho, where none does."""
        return Impossible(
            obstacle="" if self.proof is None else self.proof.obstacle(rho),
            is_smallest_known=self.floor is not None and self.floor.is_attained,
        )

    def rule_out(self, rho: float, closest: IntArray) -> None:
        """Keep that no set meets rho; the closest counts known."""
        proven = rho + SMALLEST_EXCESS * self.separator.oracle.unit
        if self.floor is None or self.floor.rho < proven:
            self.floor = Floor(rho=proven, counts=closest)

    def _search(self) -> SetSearch:
        pool, ball, trees = self.separator.pool, self.separator.region.ball, self.separator.oracle.listed_trees()
        if ball is not None and pool.has_many_cells:
            return ItemSwaps(self.separator, ball)
        if trees is not None and not pool.has_many_cells:
            return TreeSearch(self.separator, trees)
        return CellSearch(self.separator, self.top_counts, self.top_value)

    def _once(self, name: str, build: Callable[[], T]) -> T:
        if name not in self._made:
            self._made[name] = build()
        made: T = self._made[name]
        return made

    def _best(self, relaxation: Relaxation) -> Incumbent:
        if self.top_value <= relaxation.rho:
            return Incumbent(counts=self.top_counts, is_feasible=True, bound=relaxation.bound)
        if self.floor is not None and relaxation.rho < self.floor.rho:
            return Incumbent(counts=self.floor.counts, is_feasible=False, bound=-np.inf)
        found = self._found(relaxation)
        if self.proof is None:
            return found.with_bound(relaxation.bound)
        return self._proven(self.proof, relaxation, found)

    def _proven(self, proof: WholeProof, relaxation: Relaxation, found: Incumbent) -> Incumbent:
        """The incumbent after what is proven of whole counts."""
        if not found.is_feasible:
            found = self._from_floor(proof, relaxation, found)
        is_below = self.floor is not None and relaxation.rho < self.floor.rho
        if is_below or relaxation.is_infeasible:
            return found.with_bound(-np.inf)
        if found.is_feasible and self._is_best(found.counts, relaxation.bound):
            return found.with_bound(relaxation.bound)
        return self._annealed(proof, relaxation, self._searched(proof, relaxation, found, self.nodes))

    def _searched(self, proof: WholeProof, relaxation: Relaxation, found: Incumbent, nodes: int) -> Incumbent:
        """The incumbent after one search for a proof."""
        known = found.counts if found.is_feasible else None
        return self._with(proof.searched(relaxation, known, nodes), relaxation, found)

    def _annealed(self, proof: WholeProof, relaxation: Relaxation, found: Incumbent) -> Incumbent:
        """In a ball, where a search ended far from the incumbent: that after annealing, and after one more search."""
        ball = self.separator.region.ball
        if self.nodes <= NO_SEARCH or ball is None or not ball.is_complete or not self._is_far(found):
            return found
        pool = self.separator.pool
        annealing: BallAnnealing = self._once("annealing", lambda: BallAnnealing.of(pool, ball, self._levels()))
        known = pool.similarity(found.counts) if found.is_feasible else -np.inf
        counts = annealing.best(relaxation, known)
        if counts is None or self.separator.measured(counts) > relaxation.rho:
            return found
        better = replace(found, counts=counts, is_feasible=True)
        again = self._searched(proof, relaxation, better, self.nodes // NODES_AGAIN)
        return replace(again, bound=min(found.bound, again.bound), nodes=found.nodes + again.nodes)

    def _levels(self) -> IntArray:
        """The levels (G, attributes) that cells are made of; of no attributes where they are made of none."""
        cells = self.separator.oracle.cells
        marginals = marginals_of(self.separator.problem, cells)
        return np.zeros((cells.size, 0), np.intp) if marginals is None else marginals.column

    def _is_far(self, found: Incumbent) -> bool:
        """Whether the bound leaves much room above the incumbent, or there is none and none was ruled out."""
        pool = self.separator.pool
        if not found.is_feasible:
            return found.bound > -np.inf
        bound = pool.scale.mean(found.bound, pool.k)
        return bound - pool.scale.mean(pool.similarity(found.counts), pool.k) > WIDE_GAP * abs(bound)

    def _found(self, relaxation: Relaxation) -> Incumbent:
        """The better of local search's set and of the best one for a smaller rho."""
        found = self.search.best(relaxation, self.searched)
        if found.is_feasible:
            self.searched = found.counts
        similarity = self.separator.pool.similarity
        if self.previous is None or (found.is_feasible and similarity(found.counts) >= similarity(self.previous)):
            return found
        return Incumbent(counts=self.search.improved(self.previous, relaxation), is_feasible=True)

    def _from_floor(self, proof: WholeProof, relaxation: Relaxation, found: Incumbent) -> Incumbent:
        """The incumbent from the set with the smallest MPR, where local search found none."""
        if self.floor is None:
            # The measuring code cuts decimals: these counts' own MPR may be above what it says.
            value = uncut_limit(self.separator.measured(found.counts), self.separator.oracle.unit)
            self.floor = proof.floor(found.counts, value, self.nodes)
        counts = self.floor.counts
        if self.separator.measured(counts) <= relaxation.rho:
            return Incumbent(counts=self.search.improved(counts, relaxation), is_feasible=True)
        return Incumbent(counts=counts, is_feasible=False)

    def _is_best(self, counts: IntArray, bound: float) -> bool:
        pool = self.separator.pool
        return bound - pool.similarity(counts) <= OPTIMALITY * pool.k

    def _with(self, searched: Searched, relaxation: Relaxation, found: Incumbent) -> Incumbent:
        """The incumbent and the bound after a search. The measuring code decides on what lies at rho."""
        bound, is_complete = min(relaxation.bound, searched.bound), searched.is_complete
        if searched.counts is not None:
            if self.separator.measured(searched.counts) <= relaxation.rho:
                found = Incumbent(counts=searched.counts, is_feasible=True)
            else:
                is_complete = False
        if found.is_feasible:
            own = self.separator.pool.similarity(found.counts)
            bound = own if is_complete else max(bound, own)
        elif is_complete:
            bound = -np.inf
            self.rule_out(relaxation.rho, found.counts)
        return found.with_bound(bound, nodes=searched.nodes)
