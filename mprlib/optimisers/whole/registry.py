"""Which proof on whole counts a class has."""

from __future__ import annotations

from mprlib.function_classes.groups import GroupsOracle
from mprlib.function_classes.saturated import SaturatedOracle
from mprlib.function_classes.tree_oracle import TreeOracle
from mprlib.optimisers.separation import Separator
from mprlib.optimisers.whole.cell_lattice import CellProof
from mprlib.optimisers.whole.cut_counts import TreeProof
from mprlib.optimisers.whole.group_limits import GroupProof
from mprlib.optimisers.whole.marginals import MarginalProof
from mprlib.optimisers.whole.products import ProductProof
from mprlib.optimisers.whole.proof import WholeProof
from mprlib.optimisers.whole.separable import SeparableProof


def whole_proof(separator: Separator) -> WholeProof | None:
    """The proof of this class on this problem's cells; None where there is none."""
    pool, oracle = separator.pool, separator.oracle
    if pool.has_many_cells:
        return None
    if isinstance(oracle, SaturatedOracle):
        return SeparableProof(pool=pool, oracle=oracle)
    if isinstance(oracle, GroupsOracle):
        return GroupProof.of(pool, oracle)
    if isinstance(oracle, TreeOracle):
        return TreeProof.of(separator, oracle)
    ball = separator.region.ball
    if ball is not None and ball.is_complete:
        return (
            MarginalProof.of(separator.problem, pool, oracle.cells, ball)
            or ProductProof.of(separator.problem, pool, oracle.cells, ball)
            or CellProof.of(pool, ball)
        )
    return None
