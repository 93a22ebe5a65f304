"""Numbers and group names as the report writes them; one place, so that page, picture and log agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..words import numbered
from .cases import CASE
from .frames import records

# Shares are quotients of counts: 0.3275 * 1000 may come out a bit below 327.5.
ROUNDING = 1e-9
# Significant digits of a value of MPR or of similarity.
DIGITS = 3
# Two values of MPR that are one but for a table's twelve digits and a sum's order.
SAME_MPR = 1e-9


def is_missing(value: Any) -> bool:
    """None, NaN and pandas' nulls."""
    return value is None or value is pd.NA or bool(value != value)


def half_up(value: float, digits: int = 0) -> float:
    """Rounded with halves away from zero, so that a group and its mirror read the same; as the page's script does."""
    unit = 10.0**digits
    return math.copysign(math.floor(abs(value) * unit + 0.5 + ROUNDING), value) / unit + 0.0


def percent(share: Any) -> str:
    """A fraction of 1 as percent; under 10 with one digit, since shares of small groups are read too."""
    if is_missing(share):
        return "no value"
    value = 100.0 * float(share)
    whole = half_up(value)
    if 0 < abs(value) < 9.95 and abs(value - whole) > 0.05:
        return f"{half_up(value, 1):.1f}%"
    return f"{whole:.0f}%"


def points(gap_points: Any) -> str:
    """A signed gap in percentage points, with a true minus sign."""
    if is_missing(gap_points):
        return "no value"
    value = half_up(float(gap_points), 1)
    sign = "+" if value > 0 else "\u2212" if value < 0 else ""
    return f"{sign}{abs(value):.1f}"


def number(value: Any) -> str:
    """Significant digits without an exponent where a reader expects none."""
    if is_missing(value):
        return "no value"
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "no value"
    if abs(value) >= 10**DIGITS:
        return f"{value:,.0f}"
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"


def count(value: Any) -> str:
    """A whole number with thousands separators."""
    return "no value" if is_missing(value) else f"{int(value):,}"


def group_name(group: str) -> str:
    """ "sex=Female & race=Black" as "sex: Female, race: Black"; other names stay as they are."""
    parts = group.split(" & ")
    if not all("=" in part for part in parts):
        return group
    return ", ".join(part.replace("=", ": ", 1) for part in parts)


def cost(pair: Mapping[str, Any]) -> str:
    """What a repair gives up of top-k's mean similarity, in per cent of it where it is positive."""
    if is_missing(pair["similarity_fraction"]):
        return number(pair.get("similarity_loss"))
    loss = 100.0 * (1.0 - float(pair["similarity_fraction"]))
    if abs(loss) < 0.005:
        return "0%"
    return f"{loss:.2f}%" if abs(loss) < 1 else f"{loss:.1f}%"


def verdict(pair: Mapping[str, Any], worst_off: Mapping[str, Any] | None = None) -> str:
    """A query's largest gap as sentences: who is worst off, by how much, whether that is luck, and what fixing costs.

    worst_off: the query's most underrepresented group, where there is one; named first where
    the largest gap is of a group that is shown too much.
    """
    named = [pair] if worst_off is None or worst_off["group"] == pair["group"] else [worst_off, pair]
    text = " ".join(_gap_sentence(one) for one in named)
    if is_missing(pair["method_repaired"]) and pair.get("n_pool") == pair["k"]:
        return f"{text} The list holds no other items: nothing else could be chosen."
    if is_missing(pair["method_repaired"]):
        return f"{text} No constrained selection met any rho."
    if is_missing(pair["gap_repaired_points"]):
        return f"{text} {_repair_target(pair)} found a set, whose group shares were not recorded."
    shown = [
        f"{percent(one['share_repaired'])}{_repaired_truth(one)} "
        f"({points(one['gap_repaired_points'])} points{_remaining_gap(one)})"
        for one in named
    ]
    if len(named) == 2:
        shown = [f"{share} of {group_name(one['group'])}" for share, one in zip(shown, named)]
    return (
        f"{text} Retrieval {_repair_target(pair)} shows {' and '.join(shown)}, {_cost_clause(pair)}{_precision(pair)}."
    )


def by_labels(pair: Mapping[str, Any]) -> str:
    """That a share is one of predicted labels, and what it is by the true ones; empty where labels are right."""
    if is_missing(pair.get("share_corrected")):
        return " by predicted labels (by the true ones not known)" if _is_predicted(pair) else ""
    low, high = percent(pair["share_corrected_low"]), percent(pair["share_corrected_high"])
    return f" by predicted labels ({low} to {high} by the true ones)"


def _repaired_truth(pair: Mapping[str, Any]) -> str:
    """The same of a repaired share, as an estimate."""
    truth = pair.get("share_repaired_corrected")
    if is_missing(truth):
        return " by predicted labels" if _is_predicted(pair) else ""
    return f" by predicted labels, some {percent(truth)} by the true ones"


def _is_predicted(pair: Mapping[str, Any]) -> bool:
    known = pair.get("is_predicted")
    return not is_missing(known) and bool(known)


def _repair_target(pair: Mapping[str, Any]) -> str:
    """How the repaired selection was constrained."""
    method, rho = pair["method_repaired"], pair["rho_repaired"]
    if is_missing(rho):
        return f"constrained by {method}"
    if pair.get("is_repaired_to_chance") is True:
        target = pair.get("target_repaired")
        under = "" if is_missing(target) else f" under {target}"
        level: Any = pair.get("mpr_chance_repaired")
        if is_missing(level) or math.isclose(rho, level, rel_tol=SAME_MPR):
            return f"held to the MPR of a random {pair['k']}{under} ({method}, rho = {rho:.3g})"
        return f"held within the MPR of a random {pair['k']}{under}, {level:.3g} ({method}, rho = {rho:.3g}),"
    return f"constrained by {method} with rho = {rho:.3g}, the smallest it met,"


def is_below_chance(pair: Mapping[str, Any]) -> bool:
    """Whether the repaired selection was held to less MPR than a random draw shows: what it costs is then an upper
    bound of what chance level costs."""
    rho: Any = pair["rho_repaired"]
    level: Any = pair.get("mpr_chance_repaired")
    if pair.get("is_repaired_to_chance") is not True or is_missing(rho) or is_missing(level):
        return False
    return bool(rho < level and not math.isclose(rho, level, rel_tol=SAME_MPR))


def _remaining_gap(pair: Mapping[str, Any]) -> str:
    """That a group's gap is larger than a lottery's largest even after the repair, which bounds another class."""
    limit = pair.get("chance_points")
    is_beyond = not is_missing(limit) and abs(pair["gap_repaired_points"]) > limit
    return ", still more than a random draw shows" if is_beyond else ""


def _cost_clause(pair: Mapping[str, Any]) -> str:
    given_up = cost(pair)
    if given_up in ("0%", "0"):
        return "at no cost in mean similarity"
    if is_missing(pair["similarity_fraction"]) and is_missing(pair.get("similarity_loss")):
        return "its cost in similarity is unknown"
    chance = "; chance level itself costs at most that" if is_below_chance(pair) else ""
    if not is_missing(pair["similarity_fraction"]):
        return f"at the cost of {given_up} of top-k's mean similarity{chance}"
    return f"at the cost of {given_up} in mean similarity, which is not positive for top-k{chance}"


def _precision(pair: Mapping[str, Any]) -> str:
    before, after = pair.get("precision"), pair.get("precision_repaired")
    if is_missing(before) or is_missing(after):
        return ""
    return f"; precision goes from {percent(before)} to {percent(after)}"


def chance_clause(pair: Mapping[str, Any]) -> str:
    """Whether a gap is more than a lottery shows: "a random 50 stays within 17.6: beyond chance"; "" where unknown."""
    limit, is_beyond = pair.get("chance_points"), pair.get("is_beyond_chance")
    if is_missing(limit) or is_missing(is_beyond):
        return ""
    lottery = f"a random {pair['k']} stays within {points(limit).lstrip('+')}"
    if is_beyond:
        return f"{lottery}: beyond chance"
    if abs(pair["gap_points"]) > limit:
        return f"{lottery}, but among so many queries this is within chance"
    return f"{lottery}: within chance"


def case_nouns(cases: int, queries: int) -> tuple[str, str]:
    """What one case and several are called: queries, unless a query is asked with several k, data sets or references.

    >>> case_nouns(3, 3), case_nouns(6, 3)
    (('query', 'queries'), ('case', 'cases'))
    """
    return ("query", "queries") if cases == queries else ("case", "cases")


def cases_of_queries(cases: int, queries: int) -> str:
    """How many cases there are, and of how many queries where these are fewer.

    >>> cases_of_queries(1, 1), cases_of_queries(6, 3)
    ('1 query', '6 cases of 3 queries')
    """
    said = numbered(cases, *case_nouns(cases, queries))
    return said if cases == queries else f"{said} of {numbered(queries, 'query', 'queries')}"


# What is said before a key of a case; the query says itself.
PREFIX = {"dataset": "items ", "reference": "reference ", "k": "k = "}


def case_labels(cases: Sequence[Sequence[Any]]) -> list[str]:
    """Names of all cases of a run or a table: the query, and what else it takes to tell them apart.

    cases: values of CASE.

    >>> case_labels([("items", "population", "nurse", 10), ("items", "population", "nurse", 50)])
    ['nurse, k = 10', 'nurse, k = 50']
    """
    several = [place for place, _ in enumerate(CASE) if len({case[place] for case in cases}) > 1]
    prefixes = [(place, PREFIX[CASE[place]]) for place in several if CASE[place] in PREFIX]
    query = CASE.index("query")
    return [", ".join([case[query], *(f"{prefix}{case[place]}" for place, prefix in prefixes)]) for case in cases]


def labelled(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, each with the label of its case among those of the table, by those keys that it has."""
    cases = list(table.reindex(columns=CASE, fill_value="").itertuples(index=False, name=None))
    distinct = list(dict.fromkeys(cases))
    known = dict(zip(distinct, case_labels(distinct)))
    return [row | {"label": known[case]} for row, case in zip(records(table), cases)]


def is_missing_or_true(value: Any) -> bool:
    """What nothing speaks against."""
    return is_missing(value) or bool(value)


def _gap_sentence(pair: Mapping[str, Any]) -> str:
    group, chance = group_name(pair["group"]), chance_clause(pair)
    reference = f"reference \u201c{pair['reference']}\u201d" if "reference" in pair else "the reference"
    shares = (
        f"{percent(pair['share_selected'])} of the {numbered(pair['k'], 'item')}{by_labels(pair)} against "
        f"{percent(pair['share_reference'])} of "
        f"{reference} ({points(pair['gap_points'])} points{'; ' if chance else ''}{chance})."
    )
    if abs(pair["gap_points"]) < 0.05:
        return f"Shown as in the reference: {group}, {shares}"
    if not is_missing_or_true(pair.get("is_beyond_chance")):
        return f"Within chance: {group}, {shares}"
    return f"{'Worst off' if pair['gap_points'] < 0 else 'Shown too much'}: {group}, {shares}"
