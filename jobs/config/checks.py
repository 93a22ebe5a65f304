"""Checks of settings against each other: each is valid by itself, but not all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mprlib import registry
from mprlib.attention import UNIFORM

from ..datasets.block import Dataset
from ..errors import BadSetting
from ..methods import arrays_of
from .entries import MethodEntry
from .runtime import NOT_LOCAL

if TYPE_CHECKING:
    from .audit import Audit

# Every item of a query's list, however long it is.
ALL: Final = "all"
# What is said of a setting without a default that is not there.
MISSING = "missing, and it has no default"


def check_source(audit: Audit) -> None:
    """Vectors and a search, or a list that needs neither and cannot have what does."""
    if audit.results is None:
        for key in ("encoder", "queries"):
            if getattr(audit, key) is None:
                raise BadSetting(MISSING, key)
        check_terms(audit)
        if ALL in audit.k:
            raise BadSetting("all is the whole list of each query: it goes with results", "k")
        for place, entry in enumerate(audit.methods):
            if arrays_of(entry.name).needs_list:
                raise BadSetting(f"{entry.name} is what an engine showed: it goes with results", "methods", place)
        return
    if audit.encoder is not None:
        raise BadSetting("results replace the encoder, since nothing is embedded: leave encoder out", "encoder")
    for key in ("vectors", "column"):
        if audit.queries is not None and getattr(audit.queries, key) is not None:
            raise BadSetting(f"queries of results are those of the list: no {key} is needed", "queries", key)
    check_without_vectors(audit)


def check_terms(audit: Audit) -> None:
    """Queries that are a column are what makes an item relevant."""
    column = audit.queries and audit.queries.column
    for place, block in enumerate(audit.dataset if column is not None else ()):
        if block.relevance != column:
            raise BadSetting(
                f"queries.column is {column!r} and this {block.relevance!r}: one column of terms is expected",
                "dataset", place, "relevance",
            )  # fmt: skip


def check_without_vectors(audit: Audit) -> None:
    lack = "looks at vectors, and a result list has none"
    for place, entry in enumerate(audit.methods):
        method, arrays = registry.METHODS[entry.name], arrays_of(entry.name)
        if method.needs_embeddings or method.needs_query or arrays.needs_embeddings(entry.extras):
            raise BadSetting(
                f"{entry.name} {lack}: leave it out, or give an encoder instead of results", "methods", place
            )
    for place, one in enumerate(audit.function_classes):
        if one.over == "embedding":
            raise BadSetting(f"{one.name} over embedding {lack}", "function_classes", place, one.name, "over")
    for name in audit.probes:
        raise BadSetting(f"the probe {name!r} {lack}", "probes", name)
    for place, block in enumerate(audit.dataset):
        for name, attribute in block.attributes.items():
            if attribute.probe is not None:
                raise BadSetting(f"a probe {lack}", *audit.dataset_key(place), "attributes", name, "probe")
    for place, reference in enumerate(audit.reference):
        if reference.query_conditioned and reference.dataset is not None:
            raise BadSetting(f"query_conditioned {lack}", "reference", place, "query_conditioned")


def check_attributes(audit: Audit, who: str, seen: Sequence[str], *key: str | int) -> None:
    """Attributes that a method or class uses exist in every data set."""
    for block in audit.dataset:
        for attribute in seen:
            if attribute not in block.attributes:
                raise BadSetting(
                    f"{who} uses attribute {attribute!r}: dataset {block.name} has {', '.join(block.attributes)}",
                    *key,
                )


def check_probes(audit: Audit) -> None:
    """Every probe that an attribute or method names is defined in `probes`."""
    blocks: list[tuple[tuple[str | int, ...], Dataset | None]] = [
        *((audit.dataset_key(place), block) for place, block in enumerate(audit.dataset)),
        *((("reference", place, "dataset"), one.dataset) for place, one in enumerate(audit.reference)),
    ]
    named: list[tuple[str, str, tuple[str | int, ...]]] = [
        (f"attribute {name!r} of {block.name}", attribute.probe, (*key, "attributes", name, "probe"))
        for key, block in blocks
        if block is not None
        for name, attribute in block.attributes.items()
        if attribute.probe is not None
    ]
    named += [
        (entry.name, name, ("methods", place, entry.name, setting))
        for place, entry in enumerate(audit.methods)
        for setting, names in (("probes", entry.extras.get("probes", ())), ("probe", single_probe(entry)))
        for name in names
    ]
    for who, name, key in named:
        if name not in audit.probes:
            known = f"probes has {', '.join(audit.probes)}" if audit.probes else "the configuration has no `probes`"
            raise BadSetting(f"{who} names the probe {name!r}: {known}", *key)
    for key, block in blocks:
        for name, attribute in ({} if block is None else block.attributes).items():
            if attribute.errors is not None and attribute.probe and audit.probes[attribute.probe].least_probability:
                raise BadSetting(
                    f"errors of the probe {attribute.probe} are known of items that all get a level: "
                    "leave least_probability out, or give a confusion",
                    *key, "attributes", name, "errors",
                )  # fmt: skip


def single_probe(entry: MethodEntry) -> tuple[str, ...]:
    """The one probe that a method may name."""
    return (entry.extras["probe"],) if "probe" in entry.extras else ()


def check_executor(audit: Audit) -> None:
    """Refuse limits that are set and cannot be enforced; the default of `unit_seconds` is dropped instead."""
    if audit.runtime.executor != "local":
        return
    for name, reason in NOT_LOCAL.items():
        if name in audit.runtime.model_fields_set and getattr(audit.runtime, name):
            raise BadSetting(f"executor local {reason}: leave {name} out, or use executor ray", "runtime", name)


def check_targets(audit: Audit, place: int, entry: MethodEntry) -> None:
    method = registry.METHODS[entry.name]
    known = [one.display for one in audit.function_classes]
    possible = [one.display for one in audit.function_classes if method.takes(one.name)]
    takes = ", ".join(method.classes or ())
    key = ("methods", place, entry.name)
    for target in entry.targets or ():
        if target not in known:
            has = f"function_classes has {', '.join(known)}"
            raise BadSetting(f"{entry.name} targets {target!r}: {has}", *key, "targets")
        if target not in possible:
            raise BadSetting(f"{entry.name} cannot constrain {target!r}: it takes {takes}", *key, "targets")
    if not possible:
        raise BadSetting(f"{entry.name} constrains {takes}, and function_classes has none of them", *key)


def check_order(audit: Audit, place: int, entry: MethodEntry) -> None:
    """What is claimed where labels may be wrong is of sets: no order and no attention goes with it."""
    method = registry.METHODS[entry.name]
    if not method.is_constrained:
        return
    asked = [
        (setting, value)
        for setting, of_sets in (("order", "score"), ("attention", UNIFORM.name))
        if (value := entry.extras.get(setting, of_sets)) != of_sets
    ]
    blocks = [*audit.dataset, *(one.dataset for one in audit.reference if one.dataset is not None)]
    wrong = {name for block in blocks for name, attribute in block.attributes.items() if attribute.may_be_wrong}
    for one in audit.function_classes if asked and wrong else ():
        is_target = method.takes(one.name) and (entry.targets is None or one.display in entry.targets)
        seen = wrong if one.over == "labels" else wrong.intersection(() if isinstance(one.over, str) else one.over)
        if is_target and seen:
            setting, value = asked[0]
            raise BadSetting(
                f"{setting} is {value}, and labels of {min(seen)!r} may be wrong: then only claims about "
                f"sets can be made; leave {setting} out, or what the configuration says of wrong labels",
                "methods", place, entry.name, setting,
            )  # fmt: skip
