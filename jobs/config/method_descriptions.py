"""What each of a library method's own settings means, by method: the words of the configuration reference."""

from __future__ import annotations

from collections.abc import Mapping

SOLVERS = "`auto` (HiGHS, and for integer programmes Gurobi where its licence allows), `highs` or `gurobi`"
DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "mmr": {"spread": "`mean`, `nearest` or `farthest` distance to the chosen items"},
    "pbm": {
        "seed": "of the draws with probability eps; default: the audit's",
    },
    "paths": {
        "dimensions": "keep only so many of the phrases' strongest directions; default: all",
        "trade_off": "weight of the distance to the nearest chosen item, from 0 to 1",
    },
    "apportionment": {"rule": "`hamilton` or `dhondt`"},
    "dpp": {"weight": "of similarity"},
    "fair_top_k": {
        "share": "the group's fair share; default: the reference's",
        "significance": "of the test that the group is shown as a fair lottery would",
    },
    "mopr": {"solver": f"of linear programmes, for classes that are no unit ball: {SOLVERS}"},
    "mopr_integer": {
        "nodes": "how far the search for one rho goes, in nodes of branch and bound",
        "solver": f"of linear and integer programmes: {SOLVERS}",
    },
    "mopr_paper": {
        "rounds": "of cutting planes: the paper's T",
        "programme": "`reduced` to the k best items of each cell, or `printed` with all, for running times",
        "solver": f"of the reduced programme: {SOLVERS}",
    },
}
