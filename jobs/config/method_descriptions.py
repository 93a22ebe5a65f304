"""What each setting of a method means, by method: the words of the configuration reference.

They stand apart from `method_settings`, whose code is part of what a solve unit computes.
"""

from __future__ import annotations

from collections.abc import Mapping

SOLVERS = "`auto` (HiGHS, and for integer programmes Gurobi where its licence allows), `highs` or `gurobi`"
DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "mmr": {"spread": "`mean`, `nearest` or `farthest` distance to the chosen items"},
    "pbm": {
        "seed": "of the draws with probability eps; default: the audit's",
        "attributes": "whose joint levels are the classes; default: all. An unknown level is neutral",
        "prompts": "a neutral text, then one a class: labels by the encoder",
        "probes": "names of `probes` whose joint levels are the classes",
    },
    "clip_clip": {"attributes": "whose joint level the dropped columns tell about; default: all"},
    "debias_clip": {"tokens": "required: a file that `train-prompt` or `convert-prompt` has written; needs open_clip"},
    "paths": {
        "dimensions": "keep only so many of the phrases' strongest directions; default: all",
        "trade_off": "weight of the distance to the nearest chosen item, from 0 to 1",
        "phrases": "a file, one a line; default: the list that comes with the job",
    },
    "apportionment": {"rule": "`hamilton` or `dhondt`"},
    "dpp": {"weight": "of similarity"},
    "fair_top_k": {
        "share": "the group's fair share; default: the reference's",
        "significance": "of the test that the group is shown as a fair lottery would",
        "group": "the protected one, as `gender=female`; default: the level that top-k shows too little of",
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
