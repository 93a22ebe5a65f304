"""The two ways to the relaxation: cutting planes, and one cone programme.

Source:     MPR paper, appendix D: Algorithm 1 against the cone programme of appendix D.1.
Deviation:  `mopr` walks its whole path of rho at once and `mopr_qp` solves one rho at a time (Clarabel,
            in the place of ECOS); for unit balls both solve the same relaxation, so their bounds must
            agree. `mopr_paper`, the cutting planes as printed, gives no bound; its sets may break rho.
"""

from __future__ import annotations

from itertools import product

import pandas as pd

from ...analysis.cases import CASE
from ...analysis.frames import grouped
from ...analysis.load import Run
from .exhibit import Exhibit, Missing
from .pairs import entries, paired

TITLE = "Cutting planes against the cone programme at the same rho"
CONE, PLANES = "mopr_qp", ("mopr", "mopr_paper")
COMPARED = ["relaxation_bound", "similarity", "mpr", "status", "solve_seconds"]


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """One row per (case, target class, rho) that both solved."""
    tables, summary = [], []
    cones = entries(run.results, (CONE,))[:1]
    for method, cone in product(entries(run.results, PLANES), cones):
        pairs = paired(run.results, method, cone, COMPARED)
        if pairs.empty:
            continue
        named = {f"{column}_{method}": f"{column}_planes" for column in COMPARED}
        named |= {f"{column}_{cone}": f"{column}_{CONE}" for column in COMPARED}
        tables.append(pairs.rename(columns=named).assign(planes=method))
        for (dataset, reference, k, target), own in grouped(tables[-1], ["dataset", "reference", "k", "target_class"]):
            bounds = (own["relaxation_bound_planes"] - own[f"relaxation_bound_{CONE}"]).abs().max()
            difference = own["similarity_planes"] - own[f"similarity_{CONE}"]
            seconds = own["solve_seconds_planes"].sum(), own[f"solve_seconds_{CONE}"].sum()
            summary.append(
                {
                    "data set": dataset,
                    "reference": reference,
                    "k": k,
                    "class": target,
                    "cutting planes": method,
                    "rho in common": f"{len(own)}",
                    "bounds differ by at most": "--" if pd.isna(bounds) else f"{bounds:.1e}",
                    "similarity minus the cone's": f"{difference.mean():+.1e}",
                    "seconds a rho": f"{seconds[0] / len(own):.4f}",
                    "the cone's": f"{seconds[1] / len(own):.4f}",
                }
            )
    if not tables:
        raise Missing(f"no rho was solved both by {CONE} and by {' or '.join(PLANES)} under the same class")
    table = pd.concat(tables, ignore_index=True)
    first = [*CASE, "target_class", "planes", "rho"]
    table = table[[*first, *(name for name in table if name not in first)]]
    return Exhibit(title=TITLE, table=table, summary=pd.DataFrame(summary))
