"""Settings and inputs to units of work: pure, the same plan for the same content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jobs.config import Audit, ClassEntry, Dataset, MethodEntry, PrecomputedEncoder, Reference
from jobs.datasets import Catalogue
from jobs.inputs import Inputs, needs_embeddings
from jobs.queries import Query
from jobs.units import Unit, digest, unit
from mprlib import registry

# Settings of a data set that name or place it without changing its items.
_NAMING = {"name", "path"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Units by stage, in the order in which stages run, and remarks for the reader of the run.

    catalogues are those that the catalogue units write, by the unit's key.
    """

    stages: dict[str, list[Unit]]
    catalogues: Mapping[str, Catalogue]
    notes: tuple[str, ...]

    @property
    def units(self) -> list[Unit]:
        """All units, in order."""
        return [unit for units in self.stages.values() for unit in units]

    @property
    def fingerprint(self) -> str:
        """Names the content of the results."""
        return digest([unit.key for unit in self.stages["solve"]])


def build(settings: Audit, inputs: Inputs) -> Plan:
    """The plan of an audit."""
    catalogue_units: dict[tuple[str, str], Unit] = {}
    catalogues: dict[str, Catalogue] = {}
    for side, name, block, catalogue in _sources(settings, inputs):
        catalogue_units[side, name] = _catalogue_unit(block, catalogue)
        catalogues[catalogue_units[side, name].key] = catalogue
    queries = _queries_unit(settings, inputs)
    embed: list[Unit] = []
    prefilter: list[Unit] = []
    pools: list[Unit] = []
    solve: list[Unit] = []
    notes: list[str] = []
    for block in settings.dataset:
        catalogue, source = inputs.catalogues[block.name], catalogue_units["dataset", block.name]
        shards = _embed_units(settings, catalogue, source)
        searches = [_prefilter_unit(settings, catalogue, shard, queries, inputs.queries) for shard in shards]
        embed += shards
        prefilter += searches
        by_query = {query: _pool_unit(settings, block, source, shards, searches, queries, query) for query in inputs.queries}
        pools += by_query.values()
        for reference in settings.reference:
            if reference.kind == "dataset":
                people, people_unit = inputs.references[reference.name], catalogue_units["reference", reference.name]
            else:
                people, people_unit = catalogue, source
            levels, remarks = _levels(catalogue, reference, people)
            notes += remarks
            for query, pool in by_query.items():
                for k in settings.k:
                    for method, target in _method_targets(settings):
                        solve.append(
                            _solve_unit(
                                settings, block, reference, levels, people_unit, pool, query, k, method, target, shards
                            )
                        )
    stages = {
        "catalogue": list(catalogue_units.values()),
        "queries": [queries],
        "embed": embed,
        "prefilter": prefilter,
        "pool": pools,
        "solve": solve,
    }
    # Two blocks may ask for the same content: it is one unit.
    distinct = {stage: list({unit.key: unit for unit in units}.values()) for stage, units in stages.items()}
    return Plan(stages=distinct, catalogues=catalogues, notes=tuple(dict.fromkeys(notes)))


def _sources(settings: Audit, inputs: Inputs) -> Iterator[tuple[str, str, Dataset, Catalogue]]:
    for block in settings.dataset:
        yield "dataset", block.name, block, inputs.catalogues[block.name]
    for reference in settings.reference:
        if reference.dataset is not None:
            yield "reference", reference.name, reference.dataset, inputs.references[reference.name]


def _catalogue_unit(block: Dataset, catalogue: Catalogue) -> Unit:
    spec = {
        "block": block.model_dump(mode="json", exclude=_NAMING),
        "fingerprint": catalogue.fingerprint,
        "columns": catalogue.items.column_names,
    }
    return unit("catalogue", f"items of {catalogue.name}", spec)


def _queries_unit(settings: Audit, inputs: Inputs) -> Unit:
    encoder = settings.encoder
    spec: dict = {"prompts": [query.prompt for query in inputs.queries]}
    if inputs.query_vectors is not None:
        spec["vectors"] = digest(inputs.query_vectors.to_pylist())
    else:
        text = encoder.text if isinstance(encoder, PrecomputedEncoder) else encoder
        spec["encoder"] = text.model_dump(mode="json")
    return unit("queries", f"{len(inputs.queries)} queries", spec)


def _embed_units(settings: Audit, catalogue: Catalogue, source: Unit) -> list[Unit]:
    encoder = settings.encoder.model_dump(mode="json", exclude={"text"})
    return [
        unit(
            "embed",
            f"{catalogue.name} items {start} to {stop - 1}",
            {"catalogue": source.key, "start": start, "stop": stop, "encoder": encoder},
            needs=(source.key,),
        )
        for start, stop in catalogue.shards(settings.shard_items)
    ]


def _prefilter_unit(settings: Audit, catalogue: Catalogue, shard: Unit, queries: Unit, asked: list[Query]) -> Unit:
    spec = {
        "vectors": shard.key,
        "start": shard.spec["start"],
        "queries": queries.key,
        "prompts": [query.prompt for query in asked],
        "top": settings.prefilter.top,
        "backend": settings.prefilter.backend,
    }
    return unit("prefilter", shard.title, spec, needs=(shard.key, queries.key))


def _pool_unit(
    settings: Audit, block: Dataset, source: Unit, shards: list[Unit], searches: list[Unit], queries: Unit, query: Query
) -> Unit:
    # The key names what decides the pool (vectors, query, depth), not the searches that find it:
    # a new query or another backend leaves the pools of the others as they are.
    content = {
        "catalogue": source.key,
        "vectors": [shard.key for shard in shards],
        "encoder": queries.spec.get("encoder", queries.spec.get("vectors")),
        "prompt": query.prompt,
        "top": settings.prefilter.top,
        "with_vectors": needs_embeddings(settings),
    }
    named = unit("pool", f"{block.name}: {query.text}", content)
    reads = {"searches": [search.key for search in searches], "queries": queries.key}
    return Unit(
        stage="pool",
        key=named.key,
        title=named.title,
        spec=content | reads,
        needs=(source.key, queries.key, *content["vectors"], *reads["searches"]),
    )


def _levels(catalogue: Catalogue, reference: Reference, people: Catalogue) -> tuple[dict[str, list[str]], list[str]]:
    """Levels of both sides, the data set's order first, and a remark on each one-sided level."""
    levels, notes = {}, []
    for attribute, own in catalogue.levels.items():
        others = people.levels[attribute]
        levels[attribute] = [*own, *(level for level in others if level not in own)]
        for level in levels[attribute]:
            if (level in own) != (level in others):
                side = f"dataset {catalogue.name}" if level in own else f"reference {reference.name}"
                notes.append(f"attribute {attribute!r}: the value {level!r} occurs in {side} only")
    return levels, notes


def _method_targets(settings: Audit) -> Iterator[tuple[MethodEntry, ClassEntry | None]]:
    """Each method once, or once for each class that it is to constrain."""
    for entry in settings.methods:
        if not registry.METHODS[entry.name].is_constrained:
            yield entry, None
            continue
        for target in settings.function_classes:
            if entry.targets is None or target.display in entry.targets:
                yield entry, target


def _solve_unit(
    settings: Audit,
    block: Dataset,
    reference: Reference,
    levels: dict[str, list[str]],
    people: Unit,
    pool: Unit,
    query: Query,
    k: int,
    method: MethodEntry,
    target: ClassEntry | None,
    shards: list[Unit],
) -> Unit:
    sees_vectors = any(entry.over == "embedding" for entry in settings.function_classes)
    vectors = [shard.key for shard in shards] if sees_vectors else []
    spec = {
        "dataset": block.name,
        "catalogue": pool.spec["catalogue"],
        "reference": {"name": reference.name, "kind": reference.kind, "people": people.key},
        "levels": levels,
        "pool": pool.key,
        "query": query.text,
        "prompt": query.prompt,
        "k": k,
        "method": method.model_dump(mode="json"),
        "target": target.model_dump(mode="json") if target else None,
        "function_classes": [entry.model_dump(mode="json") for entry in settings.function_classes],
        "reference_vectors": vectors,
        "group_attributes": settings.report.group_attributes,
        "seed": settings.seed,
    }
    aimed = f" for {target.display}" if target else ""
    return unit("solve", f"{block.name}: {query.text}: {method.name}{aimed}", spec, needs=(pool.key, people.key, *vectors))
