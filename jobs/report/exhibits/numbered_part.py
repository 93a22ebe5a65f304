"""The part of the runs that one of the paper's numbers is made of."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ...analysis.cases import registered
from ...analysis.load import Run
from .exhibit import Missing
from .numbered import NUMBERED, Numbered

# Columns of which one value is enough: further ones are further tables.
ANY_OF = ("k", "reference")
NOUNS = {"dataset": "data set", "function_class": "function class"}
# The class whose value is exact where a class is one of the paper's oracles: what a method bounds is either of them.
EXACT = {"linear_regression": "linear", "tree_greedy": "tree", "forest": "saturated", "mlp_trained": "mlp"}
# The method whose published form has an encoder of its own, so that its run is another.
OF_ANOTHER_ENCODER = "debias_clip"


def joined(run: Run, curves: pd.DataFrame) -> tuple[Run, pd.DataFrame]:
    """The runs with the published `debias_clip` in the data set that others have searched with another encoder.

    Its fractions are of its own encoder's top-k, which the trade-offs have found before. Two runs whose encoders
    differ have a data set each, the later one's with the run's name in brackets.
    """
    known = {name for one in NUMBERED for name in one.datasets}

    def renamed(rows: pd.DataFrame) -> pd.DataFrame:
        is_other = rows["method"].map(registered) == OF_ANOTHER_ENCODER
        plain = rows["dataset"].map(lambda name: name.rpartition(" (")[0] if name.endswith(")") else name)
        return rows.assign(dataset=rows["dataset"].mask(is_other & plain.isin(known), plain))

    return replace(run, results=renamed(run.results), groups=renamed(run.groups)), renamed(curves)


def part_of(run: Run, curves: pd.DataFrame, one: Numbered) -> tuple[Run, pd.DataFrame]:
    """The part of the runs, and of its trade-offs, that a number is made of.

    Raises:  Missing, which names what the runs lack and the configuration that has it.
    """
    kept = pd.Series(True, index=run.results.index)
    for column, wanted in one.filters.items():
        known = set(run.results.loc[kept, column])
        lacking = [str(value) for value in wanted if value not in known]
        if len(lacking) == len(wanted) or (lacking and column not in ANY_OF):
            raise Missing(f"no {NOUNS.get(column, column)} {' and no '.join(lacking)}{_so_far(one, column)}")
        kept &= run.results[column].isin(wanted)
    lacking = one.lacking(run.results.loc[kept, "method"])
    if lacking and not one.is_part_enough:
        raise Missing(f"no method {' and no '.join(lacking)}{_so_far(one, 'method')}")
    part = replace(run, results=run.results[_is_of(run.results, one)], groups=run.groups[_is_of(run.groups, one)])
    return part, curves[_is_of(curves, one)]


def _so_far(one: Numbered, column: str) -> str:
    """Beside which of the part's other values there is none, and what to run."""
    before = list(one.filters)[: list(one.filters).index(column)] if column in one.filters else list(one.filters)
    beside = [f"{NOUNS.get(name, name)} {' and '.join(map(str, one.filters[name]))}" for name in before]
    return f"{' beside ' + ', '.join(beside) if beside else ''}: run {one.where}"


def _is_of(rows: pd.DataFrame, one: Numbered) -> pd.Series:
    kept = pd.Series(True, index=rows.index)
    for column, values in one.filters.items():
        if column in rows:
            kept &= rows[column].isin(values)
    if one.methods:
        kept &= rows["method"].map(registered).isin(one.methods)
    if one.classes and "function_class" in rows:
        # A curve of a method that bounds a class belongs to the panel of that class.
        own = rows["function_class"]
        kept &= rows["target_class"].isna() | (rows["target_class"] == own) | (rows["target_class"] == own.map(EXACT))
    return kept
