"""Whether two runs asked the same question: only then do their numbers compare.

Names, places of files and what only affects speed may differ. So may the items (that is what a
monitor watches), as long as the reference's shares stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mprlib.attention import UNIFORM

from ..cases import CASE, TOP_K, audited_method, function_classes, is_audited, is_in_shares, top_k_rows
from ..frames import records
from ..load import Run
from ..wording import percent
from .labellers import Labellers, labelled_attributes, setting_text, without_labellers

# Settings that change no result: places of files, and what only affects speed.
_HARMLESS = {"output", "cache", "runtime", "shard_items", "path", "batch", "backend", "shard_megabytes"}
# Settings that `_settings_that_must_agree` compares by itself.
_LOOKED_AT = {"name", "k", "encoder", "reference", "function_classes", "attention", "queries", "report"}
# A reference in which a group's share changed by more than this is another reference.
REFERENCE_TOLERANCE = 0.01
# MPR of the normalised classes scales with the sizes; a change of that scale below this is accepted, with a remark.
UNIT_TOLERANCE = 0.02
# References whose numbers of people differ by less are of one size: it is a sum of weights.
SAME_PEOPLE = 0.5
ADVICE = "run both with one configuration"


def refusal(old: Run, new: Run, labels: Labellers) -> str | None:
    """Why the runs do not compare, in one sentence without names of the runs; None where they do. labels: shares of a
    reference whose labels are another labeller's differ for that reason already."""
    return next(_refusals(old, new, labels), None)


def _refusals(old: Run, new: Run, labels: Labellers) -> Iterator[str]:
    for name, (before, after) in _settings_that_must_agree(old, new).items():
        for key, one, other in _differences(before, after, name):
            yield f"{key} differs ({setting_text(one)} and {setting_text(other)}): values do not compare; {ADVICE}"
    for side, run in (("OLD", old), ("NEW", new)):
        if not is_audited(run.results).any():
            yield f"{side} holds no selection of method {TOP_K}, which is what is compared; add {TOP_K} to its methods"
    audited = [audited_method(run.results) for run in (old, new)]
    if audited[0] != audited[1]:
        yield (
            f"what is audited differs ({audited[0]} in OLD and {audited[1]} in NEW): what an engine showed and what is "
            "most similar do not compare; give both the same methods"
        )
    both = shared_cases(old, new)
    has_sizes = not all(is_in_shares(new.results, name) for name in function_classes(new.results))
    is_list = bool((new.manifest.get("settings") or {}).get("results"))
    yield from _prompts(both)
    if has_sizes:
        yield from _sizes(both, is_list)
    yield from _reference_drift(old, new, labels)


def remarks(old: Run, new: Run) -> Iterator[str]:
    """What a reader should know of runs that can be compared."""
    settings = [_said_once(one) for one in _settings_without_labels(old, new)]
    before, after = ({key: value for key, value in each.items() if key not in _LOOKED_AT} for each in settings)
    for key, one, other in _differences(before, after):
        yield f"{key} differs ({setting_text(one)} and {setting_text(other)})"
    sizes = shared_cases(old, new)[["reference", "reference_size_old", "reference_size_new"]].drop_duplicates(
        "reference"
    )
    for reference, old_size, new_size in sizes.itertuples(index=False):
        if abs(old_size - new_size) > SAME_PEOPLE:
            yield f"reference {reference} counts {old_size:,.0f} people in OLD and {new_size:,.0f} in NEW"


def _said_once(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without those that a data set repeats of another block: labels in an engine's lists are read with them,
    and their data set is made of the lists' own settings."""
    blocks = settings.get("dataset") or []
    return {**settings, "dataset": [{key: block[key] for key in block if key != "results"} for block in blocks]}


def shared_cases(old: Run, new: Run) -> pd.DataFrame:
    """The top-k rows of cases that both runs hold, columns with _old and _new, in the cases' order."""
    both = top_k_rows(old.results).merge(top_k_rows(new.results), on=CASE, suffixes=("_old", "_new"))
    return both.sort_values(CASE, kind="stable").reset_index(drop=True)


def _settings_without_labels(old: Run, new: Run) -> list[Mapping[str, Any]]:
    """Settings without those of predicted labels, which `labellers` compares by what they come to."""
    labelled = labelled_attributes(old, new)
    return [without_labellers(run.manifest.get("settings") or {}, labelled) for run in (old, new)]


def _settings_that_must_agree(old: Run, new: Run) -> dict[str, tuple[Any, Any]]:
    """Settings that must agree, by the name that a configuration gives them."""
    settings = _settings_without_labels(old, new)
    get: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        # Numbers, and perhaps "all", which comes last.
        "k": lambda one: sorted(one.get("k") or [], key=lambda k: (isinstance(k, str), k)),
        "encoder": lambda one: one.get("encoder"),
        "reference": lambda one: {block["name"]: block for block in one.get("reference") or []},
        "prefilter.top": lambda one: (one.get("prefilter") or {}).get("top"),
        "function_classes": lambda one: one.get("function_classes"),
        # What is compared is what a report is about.
        "attention": lambda one: (one.get("attention") or [UNIFORM.name])[0],
        "report.group_attributes": lambda one: (one.get("report") or {}).get("group_attributes"),
        "dataset": lambda one: {
            block["name"]: {key: block.get(key) for key in ("attributes", "missing")}
            for block in one.get("dataset") or []
        },
    }
    return {name: (pick(settings[0]), pick(settings[1])) for name, pick in get.items()}


def _differences(one: Any, other: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Dotted keys at which two settings differ, harmless ones left out."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in [*one, *(name for name in other if name not in one)]:
            if name not in _HARMLESS:
                yield from _differences(one.get(name), other.get(name), f"{key}.{name}" if key else name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other)):
            yield from _differences(left, right, f"{key}[{place}]")
    elif one != other:
        yield key, one, other


def _prompts(both: pd.DataFrame) -> Iterator[str]:
    """Cases whose prompt changed."""
    for row in records(both[both["prompt_old"] != both["prompt_new"]]):
        yield f"the prompt of {row['query']!r} differs ({row['prompt_old']!r} and {row['prompt_new']!r}); {ADVICE}"


def _sizes(both: pd.DataFrame, is_list: bool) -> Iterator[str]:
    """Cases whose pool changed its size, and references that did. is_list: pools are lists of an engine."""
    for row in records(both):
        if row["n_pool_old"] != row["n_pool_new"]:
            smaller = min(row["n_pool_old"], row["n_pool_new"])
            mend = (
                f"cut both lists at {smaller:,} items, or measure under groups alone, whose values are shares"
                if is_list
                else f"run both with prefilter.top of at most {smaller:,}"
            )
            yield (
                f"the pool of {row['query']!r} holds {row['n_pool_old']:,} items in OLD and {row['n_pool_new']:,} in "
                f"NEW: MPR does not compare; {mend}"
            )
        units = [_mpr_per_chi(row["n_pool_old"], row[f"reference_size_{side}"], row["k"]) for side in ("old", "new")]
        if abs(units[1] / units[0] - 1.0) > UNIT_TOLERANCE:
            yield (
                f"reference {row['reference']} counts {row['reference_size_old']:,.0f} people in OLD and "
                f"{row['reference_size_new']:,.0f} in NEW: MPR does not compare; give both one reference, as "
                "kind dataset or shares"
            )


def _mpr_per_chi(pool: int, reference: float, k: int) -> float:
    """MPR of a normalised class is chi times this: sqrt(D / (n + m)) with D = m k / (m + k)."""
    return float(np.sqrt(reference * k / (reference + k) / (pool + reference)))


def _reference_drift(old: Run, new: Run, labels: Labellers) -> Iterator[str]:
    """References whose shares changed for some query of both runs; left out are query-conditioned references, since
    they change with the items, and those whose labels changed."""
    blocks = (new.manifest.get("settings") or {}).get("reference") or []
    conditioned = {block["name"] for block in blocks if block.get("query_conditioned")}
    keys, side = [*CASE, "group"], "share_reference"
    shares = [
        run.groups[
            is_audited(run.groups)
            & ~run.groups["reference"].isin(conditioned)
            & ~labels.marks_references(run.groups, labels.changed)
        ].drop_duplicates(keys)[[*keys, side]]
        for run in (old, new)
    ]
    # Each query may have a target of its own. A group that only one run knows has no member in the other's pools or
    # reference.
    both = (
        shares[0]
        .merge(shares[1], on=keys, how="outer", suffixes=("_old", "_new"))
        .fillna({f"{side}_old": 0.0, f"{side}_new": 0.0})
    )
    both = both.merge(shared_cases(old, new)[CASE], on=CASE)
    drift = (both[f"{side}_new"] - both[f"{side}_old"]).abs()
    if not drift.empty and drift.max() > REFERENCE_TOLERANCE:
        largest = records(both.assign(_drift=drift).nlargest(1, "_drift"))[0]
        reference, query, group = (largest[key] for key in ("reference", "query", "group"))
        before, after = (percent(largest[f"{side}_{when}"]) for when in ("old", "new"))
        yield (
            f"reference {reference} differs ({group} was {before} of it and is {after}, asked for {query!r}): gaps do "
            "not compare; give both runs one reference, as kind dataset or shares"
        )
