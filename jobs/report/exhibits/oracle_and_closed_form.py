"""What a regression oracle finds of the value that is known exactly.

Source:     MPR paper, appendix D: MPR by regression (Proposition 3) against the closed form of linear
            functions (Proposition 4).
Deviation:  beside linear functions, the paper's greedy tree is compared with the best tree of its depth,
            and the forest and the network against the saturated value, which bounds both. The same
            sets are measured by both sides.
"""

from __future__ import annotations

import pandas as pd

from ...analysis.cases import CASE, SELECTION
from ...analysis.frames import grouped
from ...analysis.load import Run
from ..figures import BEFORE
from .exhibit import Exhibit, Missing
from .pictures import Panels

TITLE = "MPR by the paper's regression oracles against exact values, over all selections"
# The oracle's class, and the class whose value is exact.
PAIRS = (
    ("linear_regression", "linear"),
    ("tree_greedy", "tree"),
    ("forest", "saturated"),
    ("mlp_trained", "mlp"),
    ("mlp", "saturated"),
)
# Relative differences below this are rounding.
EQUAL = 1e-6


def make(run: Run, curves: pd.DataFrame) -> Exhibit:
    """One row per selection that both sides of a pair measured."""
    values = curves.dropna(subset=["mpr"])[[*SELECTION, "function_class", "mpr"]]
    tables = []
    for oracle, exact in PAIRS:
        left, right = (
            values[values["function_class"] == name].drop(columns="function_class") for name in (oracle, exact)
        )
        both = left.merge(right, on=SELECTION, suffixes=("_oracle", "_exact"))
        if len(both):
            tables.append(both.assign(oracle=oracle, exact=exact))
    if not tables:
        wanted = ", ".join(f"{oracle} beside {exact}" for oracle, exact in PAIRS)
        raise Missing(f"function_classes has no oracle with its exact class: one of {wanted}")
    table = pd.concat(tables, ignore_index=True)
    table["fraction"] = table["mpr_oracle"] / table["mpr_exact"].where(table["mpr_exact"] > 0)
    summary, panels = [], Panels.of(len(tables))
    for panel, ((oracle, exact), own) in zip(panels.axes, grouped(table, ["oracle", "exact"])):
        equal = (own["mpr_oracle"] - own["mpr_exact"]).abs() <= EQUAL * own["mpr_exact"]
        summary.append(
            {
                "oracle": oracle,
                "exact": exact,
                "selections": f"{len(own):,}",
                "equal": f"{100 * equal.mean():.1f}%",
                "oracle's part, median": f"{own['fraction'].median():.4f}",
                "smallest": f"{own['fraction'].min():.4f}",
            }
        )
        panel.plot(own["mpr_exact"], own["mpr_oracle"], ".", color=BEFORE, ms=3)
        end = float(own["mpr_exact"].max())
        panel.plot([0, end], [0, end], "-", color="#000000", lw=0.6)
        panel.set_xlabel(f"MPR, {exact}", parse_math=False)
        panel.set_ylabel(f"MPR, {oracle}", parse_math=False)
        panel.grid(alpha=0.25)
    first = ["oracle", "exact", *CASE]
    table = table[[*first, *(name for name in table if name not in first)]]
    return Exhibit(title=TITLE, table=table, summary=pd.DataFrame(summary), figures={"": panels.figure})
