"""What of two systems compares: shares of people always, MPR at equal sizes, similarity under one encoder.

Cases are paired by query and k, and by data set and reference where a side has several of them: two systems may
well call one reference by two names, but its shares must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mprlib.arrays import FloatArray
from mprlib.attention import UNIFORM

from ...errors import UsageError
from ..cases import CASE, function_classes, is_in_shares
from ..comparison.references import REFERENCE_TOLERANCE
from ..comparison.sizes import UNIT_TOLERANCE, mpr_per_chi
from ..frames import records
from ..predicted import NONE_PREDICTED, predicted_of
from ..wording import percent
from .sides import Side

SIDES = ("a", "b")
BY_PREDICTED_LABELS = (
    "labels are predicted, and gaps and MPR are by them: methods that look at labels show less by these than in truth, "
    "and another labeller's labels are no difference of systems; mpr_corrected and share_corrected of the results are "
    "by the true ones, where they are known"
)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Comparable:
    """Both sides' rows by the keys that pair them.

    shares: keys, group, attributes, share_selected_a, share_selected_b, share_reference. values: for each other
    measure that compares, keys with its columns _a and _b. function_class: of MPR. remarks: what does not compare.
    """

    keys: list[str]
    shares: pd.DataFrame
    values: Mapping[str, pd.DataFrame]
    function_class: str | None
    remarks: tuple[str, ...]
    sides: tuple[Side, Side]

    def overlap(self, cases: pd.DataFrame) -> FloatArray:
        """The part of their items (cases, cases) that two cases share beyond luck, as the mean of both sides."""
        both = [_overlap(side, self.keys, cases) for side in self.sides]
        mean: FloatArray = 0.5 * (both[0] + both[1])
        return mean


def comparable(a: Side, b: Side) -> Comparable:
    """What compares.

    Raises:  UsageError for sides without a common query, or with different references.
    """
    keys = ["query", "k"] + [
        name for name in ("dataset", "reference") if max(one.rows[name].nunique() for one in (a, b)) > 1
    ]
    held = [set(one.rows[keys].itertuples(index=False, name=None)) for one in (a, b)]
    if not held[0] & held[1]:
        raise UsageError(f"the systems share no {', '.join(keys)}: nothing to compare")
    shares = _shares(a, b, keys)
    remarks = [
        f"{len(own - other)} of {len(own)} queries are in {name} only, and are not compared"
        for name, own, other in (("A", held[0], held[1]), ("B", held[1], held[0]))
        if own - other
    ]
    name, why = _common_class(a, b, keys)
    values = {} if name is None else {"mpr": _both(a.measured(name), b.measured(name), keys, "mpr")}
    remarks += why
    if any(predicted_of(side.run.manifest) != NONE_PREDICTED for side in (a, b)):
        remarks.append(BY_PREDICTED_LABELS)
    for measure, reason in (("similarity", _other_similarity(a, b)), ("precision", None)):
        if reason is None:
            values[measure] = _both(a.rows, b.rows, keys, measure)
        else:
            remarks.append(reason)
    return Comparable(
        keys=keys, shares=shares, values=values, function_class=name, remarks=tuple(remarks), sides=(a, b)
    )


def _both(a: pd.DataFrame, b: pd.DataFrame, keys: list[str], column: str) -> pd.DataFrame:
    one, other = (rows[[*keys, column]].astype({column: float}).drop_duplicates(keys) for rows in (a, b))
    return one.merge(other, on=keys, suffixes=("_a", "_b"))


def _shares(a: Side, b: Side, keys: list[str]) -> pd.DataFrame:
    """Groups of both sides; one that a side never met has no member there.

    Raises:  UsageError where the references differ.
    """
    columns = [*keys, "group", "attributes", "share_selected", "share_reference"]
    sides = [one.shares[columns].drop_duplicates([*keys, "group"]) for one in (a, b)]
    both = sides[0].merge(sides[1], on=[*keys, "group"], how="outer", suffixes=("_a", "_b"))
    held = [set(one[keys].itertuples(index=False, name=None)) for one in sides]
    both = both[[case in held[0] & held[1] for case in both[keys].itertuples(index=False, name=None)]]
    shares = [f"share_{what}_{side}" for what in ("selected", "reference") for side in SIDES]
    both = both.fillna(dict.fromkeys(shares, 0.0))
    drift = (both["share_reference_a"] - both["share_reference_b"]).abs()
    if not drift.empty and drift.max() > REFERENCE_TOLERANCE:
        worst = records(both.assign(_drift=drift).nlargest(1, "_drift"))[0]
        raise UsageError(
            f"the references differ ({worst['group']} is {percent(worst['share_reference_a'])} of A's and "
            f"{percent(worst['share_reference_b'])} of B's): gaps do not compare; give both one reference"
        )
    both["share_reference"] = 0.5 * (both["share_reference_a"] + both["share_reference_b"])
    both["attributes"] = both["attributes_a"].fillna(both["attributes_b"]).astype(int)
    return both[[*keys, "group", "attributes", "share_selected_a", "share_selected_b", "share_reference"]]


def _common_class(a: Side, b: Side, keys: list[str]) -> tuple[str | None, list[str]]:
    """The first class whose MPR compares, and why those before it do not."""
    known = function_classes(b.run.results)
    attentions = [_attention_of(side) for side in (a, b)]
    if attentions[0] != attentions[1]:
        return None, [f"MPR is not compared: A counts places as {attentions[0]} and B as {attentions[1]}"]
    why = []
    for name in function_classes(a.run.results):
        if name not in known:
            why.append(f"MPR under {name} is not compared: B does not measure under it")
            continue
        if is_in_shares(a.run.results, name) or _have_equal_units(a, b, keys):
            return name, why
        why.append(
            f"MPR under {name} is not compared: the pools or references of A and B differ in size, on which it depends"
        )
    return None, why


def _attention_of(side: Side) -> str:
    """Under which attention a side's MPR is measured."""
    return next(iter(side.run.results["attention"].dropna()), UNIFORM.name)


def _have_equal_units(a: Side, b: Side, keys: list[str]) -> bool:
    both = a.rows.merge(b.rows, on=keys, suffixes=("_a", "_b"))

    def unit(side: str) -> FloatArray:
        return mpr_per_chi(
            *(both[name].to_numpy(dtype=float) for name in (f"n_pool_{side}", f"reference_size_{side}", "k"))
        )

    return bool((np.abs(unit("b") / unit("a") - 1.0) <= UNIT_TOLERANCE).all())


def _other_similarity(a: Side, b: Side) -> str | None:
    """Why similarities do not compare; None within one run, and where one encoder saw the same of every item."""
    if a.run is b.run:
        return None
    for what, of in (("encoder", _encoder), ("embedded texts", _seen)):
        one, other = of(a.run.manifest), of(b.run.manifest)
        if one != other:
            return f"similarity is not compared: A and B differ in the {what}"
        if one is None:
            return f"similarity is not compared: nothing is known of the {what}"
    return None


def _encoder(manifest: Mapping[str, Any]) -> Any:
    return manifest.get("encoder_content") or manifest.get("encoder")


def _seen(manifest: Mapping[str, Any]) -> Any:
    """What an encoder sees: the items' texts or pictures and the queries' prompts."""
    settings = manifest.get("settings") or {}
    blocks = settings.get("dataset") or []
    prompt = (settings.get("queries") or {}).get("prompt")
    return [*({key: block.get(key) for key in ("kind", "text", "image")} for block in blocks), prompt]


def _overlap(side: Side, keys: list[str], cases: pd.DataFrame) -> FloatArray:
    by_case = side.items()
    found = {tuple(key): items for key, items in _by_keys(side, keys, by_case)}
    pools = side.rows.drop_duplicates(keys).set_index(keys)["n_pool"].astype(float)
    wanted = list(cases[keys].itertuples(index=False, name=None))
    return _shared_parts([found[key] for key in wanted], np.array([float(pools.loc[key]) for key in wanted]))


def _by_keys(
    side: Side, keys: list[str], by_case: Mapping[tuple[str, str, str, int], frozenset[str]]
) -> Iterator[tuple[tuple[Any, ...], frozenset[str]]]:
    for case, items in by_case.items():
        named = dict(zip(CASE, case))
        yield tuple(named[name] for name in keys), items


def _shared_parts(items: list[frozenset[str]], pools: FloatArray) -> FloatArray:
    """Items that two sets share, as a part of the smaller one, less what random sets of a pool would share."""
    names = {name: place for place, name in enumerate(sorted(set().union(*items)))}
    members = np.zeros((len(items), max(len(names), 1)), dtype=np.float32)
    for place, own in enumerate(items):
        members[place, [names[name] for name in own]] = 1.0
    sizes = np.maximum(members.sum(axis=1), 1.0)
    part = (members @ members.T) / np.minimum.outer(sizes, sizes)
    luck = np.minimum(np.maximum.outer(sizes, sizes) / np.minimum.outer(pools, pools), 1.0 - 1e-9)
    shared: FloatArray = np.clip((part - luck) / (1.0 - luck), 0.0, 1.0).astype(float)
    np.fill_diagonal(shared, 1.0)
    return shared
