"""The paper's tables and figures under the paper's numbers, each with what it is made of.

A number is an exhibit of a part of the runs: some data sets, references, k, classes and methods. Names of data sets
and references are those of `jobs/configs/paper.yaml` and `jobs/configs/occupations.yaml`.

Source: MPR paper. Numbers that are not confirmed are not given: what the appendix shows is named by what it is
(`docs/paper.md` says what each rests on).
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ...analysis.cases import registered

PAPER, OCCUPATIONS = "paper.yaml", "occupations.yaml"
CELEBA, UTKFACE, TEN, FORTY_FIVE = "CelebA", "UTKFace", "Occupations, ten queries", "Occupations"
FAIRFACE, BALANCED, POOL = "FairFace", "balanced", "pool"
ALL_METHODS = ("top_k", "mopr", "mopr_paper", "mmr", "pbm", "clip_clip", "debias_clip")


@dataclass(frozen=True, kw_only=True, slots=True)
class Numbered:
    """A table or figure of the paper: its number or name, what it shows, and the part of the runs that it is made of.

    An empty tuple is everything that the runs have. methods are the registry's names. where: the configuration that
    has it all. is_part_enough: it is made without some of the methods, and says so.
    """

    number: str
    shows: str
    exhibit: str
    datasets: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    k: tuple[int, ...] = (50,)
    classes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    where: str = PAPER
    is_part_enough: bool = False

    @property
    def stem(self) -> str:
        """The beginning of its files' names."""
        return self.number.lower().replace(": ", "-").replace(", ", "-").replace(" ", "-").replace("=", "")

    def lacking(self, present: pd.Series) -> list[str]:
        """Those of its methods that these names of result rows have not."""
        return [name for name in self.methods if name not in set(present.map(registered))]

    @property
    def filters(self) -> dict[str, tuple[str, ...] | tuple[int, ...]]:
        """Values that it needs by column of results."""
        of_columns: dict[str, tuple[str, ...] | tuple[int, ...]] = {
            "dataset": self.datasets,
            "reference": self.references,
            "k": self.k,
            "function_class": self.classes,
        }
        return {name: values for name, values in of_columns.items() if values}


NUMBERED = (
    Numbered(
        number="Figure 1",
        shows="similarity against MPR, means over ten queries, linear class",
        exhibit="trade_off", datasets=(CELEBA, UTKFACE), references=(FAIRFACE,), classes=("linear",),
        methods=ALL_METHODS, is_part_enough=True,
    ),
    Numbered(
        number="Table 1",
        shows="race and gender of 50 items of UTKFace against equal representation: MOPR, top-k, MMR",
        exhibit="joint_shares", datasets=(UTKFACE,), references=(BALANCED,), classes=("linear",),
        methods=("mopr", "top_k", "mmr"),
    ),
    Numbered(number="Table 3", shows="running times", exhibit="running_times", references=(FAIRFACE,)),
    Numbered(
        number="Table 4",
        shows="similarity at the smallest MPR of each method",
        exhibit="smallest_mpr", references=(FAIRFACE,), classes=("linear",),
    ),
    Numbered(
        number="Tables 5 and 6",
        shows="race and gender as in Table 1, for all methods and the other data sets",
        exhibit="joint_shares", references=(BALANCED, FAIRFACE), classes=("linear",),
    ),
    Numbered(
        number="Appendix: trees",
        shows="as Figure 1 under decision trees, the paper's greedy ones and the best of their depth",
        exhibit="trade_off", datasets=(CELEBA, UTKFACE), references=(FAIRFACE,), classes=("tree_greedy", "tree"),
    ),
    Numbered(
        number="Appendix: networks",
        shows="as Figure 1 under networks of 64 units, trained as the authors do, and the class's own value",
        exhibit="trade_off", datasets=(CELEBA, UTKFACE), references=(FAIRFACE,), classes=("mlp_trained", "mlp"),
    ),
    Numbered(
        number="Appendix: other k",
        shows="as Figure 1 for 10 and 150 items",
        exhibit="trade_off", datasets=(CELEBA, UTKFACE), references=(FAIRFACE,), classes=("linear",), k=(10, 150),
    ),
    Numbered(
        number="Appendix: equal representation",
        shows="as Figure 1 against a balanced reference",
        exhibit="trade_off", datasets=(CELEBA, UTKFACE), references=(BALANCED,), classes=("linear",),
    ),
    Numbered(
        number="Appendix: Occupations",
        shows="ten queries on Occupations under linear functions, trees and networks",
        exhibit="trade_off", datasets=(TEN,), references=(FAIRFACE,), classes=("linear", "tree_greedy", "mlp_trained"),
    ),
    Numbered(
        number="Appendix: precision",
        shows="precision against MPR on Occupations, means and single queries",
        exhibit="precision", datasets=(FORTY_FIVE,), references=(FAIRFACE,), where=OCCUPATIONS,
    ),
    Numbered(
        number="Appendix: rounds",
        shows="Algorithm 1 with 10 and 50 rounds of cutting planes",
        exhibit="trade_off", references=(FAIRFACE,), classes=("linear",), methods=("top_k", "mopr_paper", "mopr"),
    ),
    Numbered(
        number="Appendix: linear and integer programme",
        shows="relaxation, rounding and the best whole set at equal rho",
        exhibit="lp_and_integer", references=(FAIRFACE,),
    ),
    Numbered(
        number="Appendix: cone programme",
        shows="Algorithm 1 against the cone programme of appendix D.1, where the reference is the pool itself",
        exhibit="cutting_plane_and_cone", references=(POOL,),
    ),
    Numbered(
        number="Appendix: oracle and closed form",
        shows="MPR by regression against Proposition 4, where the reference is the pool itself",
        exhibit="oracle_and_closed_form", references=(POOL,),
    ),
    Numbered(
        number="Appendix: retrieved pictures",
        shows="what each method shows, six columns",
        exhibit="contact_sheets", references=(FAIRFACE,), k=(50, 10),
    ),
)  # fmt: skip
# Table 2 compares methods by what they can do, and no run has a part in it.
IN_DOCUMENTS = {"Table 2": "a table of what methods can do, in docs/paper.md: no run has a part in it"}
