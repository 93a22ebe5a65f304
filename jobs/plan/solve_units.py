"""Units that solve: one query, one method and one class to constrain, compared with one reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobs.config.audit import Audit, Reference
from jobs.config.entries import ClassEntry
from jobs.plan.method_units import MethodUnits, Searched, method_spec
from jobs.plan.search_units import Search
from jobs.queries import Query
from jobs.stages.units import Unit, unit
from mprlib import registry


def reference_spec(
    reference: Reference,
    query: Query,
    source: Unit,
    search: Search,
    catalogue_units: Mapping[tuple[str, str], Unit],
    searches: Mapping[tuple[str, str], Search],
    predicted: Mapping[str, list[str]],
) -> dict:
    """What the solver needs to build a reference: stated shares, or people and perhaps a query's own."""
    spec: dict = {"name": reference.name, "kind": reference.kind}
    if reference.kind in ("balanced", "shares"):
        return spec | {"shares": reference.shares, "size": reference.size}
    side = ("reference", reference.name)
    people, found = (catalogue_units[side], searches.get(side)) if reference.kind == "dataset" else (source, search)
    spec["people"] = people.key
    if predicted:
        spec["predicted"] = predicted
    if reference.query_conditioned:
        spec["pool"] = found.pools[query].key
    return spec


def method_targets(settings: Audit) -> Iterator[tuple[int, ClassEntry | None]]:
    """Each method's place once, or once for each class that it is to constrain."""
    for place, entry in enumerate(settings.methods):
        if not registry.METHODS[entry.name].is_constrained:
            yield place, None
            continue
        for target in settings.function_classes:
            is_possible = registry.METHODS[entry.name].takes(target.name)
            if target.display in entry.targets if entry.targets is not None else is_possible:
                yield place, target


def solve_unit(
    settings: Audit,
    searched: Searched,
    reference: Mapping[str, Any],
    levels: dict[str, list[str]],
    search: Search,
    query: Query,
    k: int,
    place: int,
    target: ClassEntry | None,
    reads: MethodUnits,
    queries: Unit,
) -> Unit:
    """One query's unit; reference is what `reference_spec` says of it, place the method's in the configuration."""
    method, pool = settings.methods[place], search.pools[query]
    sees_vectors = any(entry.over == "embedding" for entry in settings.function_classes)
    vectors = [shard.key for shard in search.shards] if sees_vectors else []
    spec = {
        "dataset": searched.name,
        "catalogue": pool.spec["catalogue"],
        "reference": reference,
        "reference_vectors": vectors,
        "levels": levels,
        "missing": searched.missing,
        "pool": pool.key,
        "query": query.text,
        "prompt": query.prompt,
        "k": k,
        "method": method_spec(method),
        "target": target.model_dump(mode="json") if target else None,
        "function_classes": [entry.model_dump(mode="json") for entry in settings.function_classes],
        "group_attributes": settings.report.group_attributes,
        "seed": settings.seed,
        **({"predicted": searched.predicted} if searched.predicted else {}),
        **reads.keys,
    }
    aimed = f" for {target.display}" if target else ""
    needs = [
        pool.spec["catalogue"],
        pool.key,
        *vectors,
        *(reference[key] for key in ("people", "pool") if key in reference),
        *(
            key
            for labels in (searched.predicted, reference.get("predicted", {}))
            for keys in labels.values()
            for key in keys
        ),
    ]
    where = [searched.name, *([reference["name"]] if len(settings.reference) > 1 else []), query.text]
    where += [f"k = {k}"] if len(settings.k) > 1 else []
    named = unit("solve", ": ".join([*where, f"{method.name}{aimed}"]), spec)
    # As for a pool: the query's vector follows from encoder and prompt, whatever else is asked beside it.
    vector = {"queries": queries.key} if registry.METHODS[method.name].needs_query else {}
    vector |= reads.places
    return Unit(
        stage="solve",
        key=named.key,
        title=named.title,
        spec=spec | vector,
        needs=tuple(dict.fromkeys([*needs, *reads.needs, *vector.values()])),
    )
