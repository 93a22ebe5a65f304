"""mopr_integer: sets proven best, by exhaustive search where that ends, else by branch and bound with lazy cuts.

mopr's incumbent, dual bound and proof on whole counts come first, with many times its nodes. Where that does not
settle a row, the gap fixes most counts by reduced cost. The counts that stay open are enumerated; where these are
too many, an integer programme follows. Limits are numbers of partial sums, rounds and nodes, set by `nodes`; the
clock is a back-stop.

Worked example: the shares of three items of two groups are 1/6 or more away from a balanced reference. The best
set with one man meets rho = 0.2; no set meets 0.1, although fractional counts do.

>>> import mprlib
>>> women, men = [1, 0], [0, 1]
>>> problem = mprlib.Problem(
...     scores=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4], labels=3 * [women] + 3 * [men], reference=[women, men], k=3,
...     attributes={"gender": [0, 1]}, label_names=["women", "men"])
>>> mprlib.select(problem, "mopr_integer", 0.2, "groups").items.tolist()
[0, 1, 3]
>>> row = mprlib.select(problem, "mopr_integer", 0.1, "groups")
>>> row.status.value, round(row.rho_min, 6)
('infeasible', 0.166667)
>>> row.message.partition(" (")[2].partition(")")[0]
'2 groups admit no whole count within 0.1, among them women: k q = 1.5'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from mprlib.function_classes.base import Oracle
from mprlib.method import Stopwatch
from mprlib.optimisers.backend import SOLVERS, SOLVERS_IN_WORDS, checked_solver
from mprlib.optimisers.cell_pool import cell_pool_of
from mprlib.optimisers.constrained import ConstrainedMethod
from mprlib.optimisers.request import distinct_limits, requested
from mprlib.optimisers.separation import Separator
from mprlib.problem import Problem
from mprlib.selection import Selection
from mprlib.settings import Choice, Whole

# Nodes of branch and bound per rho, over all rounds of lazy cuts together.
NODE_LIMIT = 2_000
# The clock stops a row long before.
MOST_NODES = 10_000_000
# Nodes of the proof on whole counts, which are thousands of times cheaper, per node of branch and bound.
NODES_OF_A_PROOF = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class MoprInteger(ConstrainedMethod):
    """mopr continued to a proof: exhaustive search, then branch and bound with lazy cuts."""

    name: ClassVar[str] = "mopr_integer"

    nodes: Annotated[
        int, Whole(least=1, most=MOST_NODES), "limit of the search for one rho, in nodes of branch and bound"
    ] = NODE_LIMIT
    solver: Annotated[str, Choice(SOLVERS), f"solver of linear and integer programmes: {SOLVERS_IN_WORDS}"] = "auto"

    def sweep(self, problem: Problem, oracle: Oracle, values: Sequence[float]) -> list[Selection]:
        """One Selection per rho, in the order given.

        Raises:  InputError for a rho that is no finite number of at least 0, and for a solver that cannot run.
        """
        # The searches take longer to load than the rest of the library: imported where something is searched.
        from mprlib.optimisers.incumbent import Incumbents
        from mprlib.optimisers.proven_search import ProvenSearch
        from mprlib.optimisers.solve_relaxation import solve_relaxations

        solver = checked_solver(self.solver)
        watch = Stopwatch()
        requests = requested(values, self.name, oracle)
        limits = distinct_limits(requests)
        pool = cell_pool_of(problem, oracle.cells)
        solved = solve_relaxations(problem, oracle, pool, limits, solver)
        separator = Separator(problem, oracle, pool, solved.region)
        incumbents = Incumbents.of(separator, NODES_OF_A_PROOF * self.nodes, solved.top_value)
        search = ProvenSearch(separator, incumbents, self.nodes, solver)
        shared = watch.seconds() / len(limits)
        by_limit = {relaxation.rho: relaxation for relaxation in solved.rows}
        found: dict[float, Selection] = {}
        for request in sorted(set(requests), key=lambda request: request.rho):
            watch = Stopwatch()
            row = search.row(request, by_limit[request.limit])
            found[request.rho] = replace(row, solve_seconds=shared + watch.seconds())
        return [replace(found[request.rho], value=value) for request, value in zip(requests, values)]
