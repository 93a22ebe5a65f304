"""Whether two runs asked the same question: only then do their numbers compare.

Names, places of files and what only affects speed may differ. So may the items (that is what a
monitor watches), as long as the reference's shares stay the same; `references` has those that move with the items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from mprlib.attention import UNIFORM

from ..cases import TOP_K, audited_method, is_audited
from ..frames import records
from ..load import Run
from .labellers import Labellers, labelled_attributes, setting_text, without_labellers
from .pairing import shared_cases
from .references import reference_remarks, refused_references
from .sizes import refused_sizes, size_remarks

# Settings that change no result: places of files, and what only affects speed.
_HARMLESS = {"output", "cache", "runtime", "shard_items", "path", "batch", "backend", "shard_megabytes"}
# Settings that `_settings_that_must_agree` compares by itself.
_LOOKED_AT = {"name", "k", "encoder", "reference", "function_classes", "attention", "queries", "report"}
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
    yield from _prompts(shared_cases(old, new))
    yield from refused_sizes(old, new)
    yield from refused_references(old, new, labels)


def remarks(old: Run, new: Run, labels: Labellers) -> Iterator[str]:
    """What a reader should know of runs that can be compared; labels as of `refusal`."""
    settings = [_said_once(one) for one in _settings_without_labels(old, new)]
    before, after = ({key: value for key, value in each.items() if key not in _LOOKED_AT} for each in settings)
    for key, one, other in _differences(before, after):
        yield f"{key} differs ({setting_text(one)} and {setting_text(other)})"
    yield from size_remarks(old, new)
    yield from reference_remarks(old, new, labels)


def _said_once(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without those that a data set repeats of another block: labels in an engine's lists are read with them,
    and their data set is made of the lists' own settings."""
    blocks = settings.get("dataset") or []
    return {**settings, "dataset": [{key: block[key] for key in block if key != "results"} for block in blocks]}


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
