"""Settings and inputs to units of work: pure, the same plan for the same content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobs.config import Audit, Reference
from jobs.config_datasets import Dataset
from jobs.datasets import Catalogue
from jobs.entries import ClassEntry
from jobs.inputs import Inputs, needs_embeddings
from jobs.method_units import MethodUnits, method_spec, method_units
from jobs.queries import Query
from jobs.reference_levels import shared_levels
from jobs.search_units import Search, Searched, search_units
from jobs.stages.vectors import to_matrix
from jobs.units import Unit, digest, unit
from mprlib import registry

# Unit vectors that were stored as float16 are this far from length 1.
UNIT_LENGTH_TOLERANCE = 2e-3
# Vectors in files that are looked at before a run.
SAMPLED_VECTORS = 1_000
# Settings of a data set that name or place it without changing its items.
_NAMING = {"name", "path", "root", "labels", "image_fingerprint", "max_skipped_share"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Units by stage, in the order in which stages run, and remarks for the reader of the run.

    catalogues are those that the catalogue units write, and blocks their settings, by the unit's key.
    """

    stages: dict[str, list[Unit]]
    catalogues: Mapping[str, Catalogue]
    blocks: Mapping[str, Dataset]
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
    blocks: dict[str, Dataset] = {}
    searched: dict[tuple[str, str], Searched] = {}
    for side, name, block, catalogue in _sources(settings, inputs):
        made = catalogue_units[side, name] = _catalogue_unit(block, catalogue)
        catalogues[made.key], blocks[made.key] = catalogue, block
        searched[side, name] = Searched(block=block, catalogue=catalogue, unit=made, encoder=inputs.item_encoder)
    queries = _queries_unit(inputs)
    searches = {
        source: search_units(
            settings,
            inputs.queries,
            one,
            queries,
            with_vectors=source[0] == "dataset" and needs_embeddings(settings),
        )
        for source, one in searched.items()
        if source[0] == "dataset" or _is_query_conditioned(settings, source[1])
    }
    solve: list[Unit] = []
    extra: list[MethodUnits] = []
    notes: list[str] = []
    for block in settings.dataset:
        catalogue, source = inputs.catalogues[block.name], catalogue_units["dataset", block.name]
        search = searches["dataset", block.name]
        reads = {
            place: method_units(inputs, place, entry, source, list(catalogue.levels), search.shards)
            for place, entry in enumerate(settings.methods)
        }
        extra += reads.values()
        for reference in settings.reference:
            people = inputs.references.get(reference.name, catalogue)
            levels, remarks = shared_levels(catalogue, reference, people)
            notes += remarks
            for query in inputs.queries:
                whom = _reference_spec(reference, query, source, search, catalogue_units, searches)
                for k in settings.k:
                    for place, target in _method_targets(settings):
                        named = _solve_unit(
                            settings, block, whom, levels, search, query, k, place, target, reads[place], queries
                        )
                        solve.append(named)
    stages = {
        "catalogue": list(catalogue_units.values()),
        "queries": [queries],
        "texts": [units.texts for units in extra if units.texts is not None],
        "embed": [unit for search in searches.values() for unit in search.shards],
        "information": [unit for units in extra for unit in units.information],
        "prefilter": [unit for search in searches.values() for unit in search.parts],
        "merge": [unit for search in searches.values() for unit in search.merges],
        "rescore": [unit for search in searches.values() for unit in search.scored],
        "pool": [unit for search in searches.values() for unit in search.pools.values()],
        "solve": solve,
    }
    # Two blocks may ask for the same content: it is one unit.
    distinct = {stage: list({unit.key: unit for unit in units}.values()) for stage, units in stages.items() if units}
    notes += _length_notes(catalogues.values())
    return Plan(stages=distinct, catalogues=catalogues, blocks=blocks, notes=tuple(dict.fromkeys(notes)))


def _length_notes(catalogues: Iterable[Catalogue]) -> Iterator[str]:
    """Vectors are used as given; where they are no unit vectors, scores are no cosines."""
    for catalogue in catalogues:
        vectors = _sample(catalogue)
        if vectors is None or not len(vectors):
            continue
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
        if lengths.size and np.abs(lengths - 1).max() > UNIT_LENGTH_TOLERANCE:
            yield (
                f"dataset {catalogue.name}: vectors have lengths from {lengths.min():.3g} to {lengths.max():.3g} "
                "and are used as given: scores are inner products, not cosines"
            )


def _sample(catalogue: Catalogue) -> np.ndarray | None:
    """The vectors that items have already: all in memory, or some of those in files."""
    if catalogue.vector_files is None:
        has_vectors = "vector" in catalogue.items.column_names
        return to_matrix(catalogue.items["vector"]) if has_vectors else None
    chosen = np.unique(np.linspace(0, catalogue.size - 1, min(catalogue.size, SAMPLED_VECTORS)).astype(np.intp))
    return catalogue.vector_files.take(catalogue.items["vector_row"].to_numpy()[chosen])


def _is_query_conditioned(settings: Audit, reference: str) -> bool:
    return any(block.query_conditioned for block in settings.reference if block.name == reference)


def _reference_spec(
    reference: Reference,
    query: Query,
    source: Unit,
    search: Search,
    catalogue_units: Mapping[tuple[str, str], Unit],
    searches: Mapping[tuple[str, str], Search],
) -> dict:
    """What the solver needs to build a reference: stated shares, or people and perhaps a query's own."""
    spec: dict = {"name": reference.name, "kind": reference.kind}
    if reference.kind in ("balanced", "shares"):
        return spec | {"shares": reference.shares, "size": reference.size}
    side = ("reference", reference.name)
    people, found = (catalogue_units[side], searches.get(side)) if reference.kind == "dataset" else (source, search)
    spec["people"] = people.key
    if reference.query_conditioned:
        spec["pool"] = found.pools[query].key
    return spec


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


def _queries_unit(inputs: Inputs) -> Unit:
    spec: dict = {"prompts": [query.prompt for query in inputs.queries]}
    if inputs.query_vectors is not None:
        spec["vectors"] = digest(inputs.query_vectors.to_pylist())
    else:
        spec["encoder"] = inputs.text_encoder.key
    return unit("queries", f"{len(inputs.queries)} queries", spec)


def _method_targets(settings: Audit) -> Iterator[tuple[int, ClassEntry | None]]:
    """Each method's place once, or once for each class that it is to constrain."""
    for place, entry in enumerate(settings.methods):
        if not registry.METHODS[entry.name].is_constrained:
            yield place, None
            continue
        for target in settings.function_classes:
            is_possible = registry.METHODS[entry.name].takes(target.name)
            if target.display in entry.targets if entry.targets is not None else is_possible:
                yield place, target


def _solve_unit(
    settings: Audit,
    block: Dataset,
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
    method, pool = settings.methods[place], search.pools[query]
    sees_vectors = any(entry.over == "embedding" for entry in settings.function_classes)
    vectors = [shard.key for shard in search.shards] if sees_vectors else []
    spec = {
        "dataset": block.name,
        "catalogue": pool.spec["catalogue"],
        "reference": reference,
        "reference_vectors": vectors,
        "levels": levels,
        "pool": pool.key,
        "query": query.text,
        "prompt": query.prompt,
        "k": k,
        "method": method_spec(method),
        "target": target.model_dump(mode="json") if target else None,
        "function_classes": [entry.model_dump(mode="json") for entry in settings.function_classes],
        "group_attributes": settings.report.group_attributes,
        "seed": settings.seed,
        **reads.keys,
    }
    aimed = f" for {target.display}" if target else ""
    needs = [
        pool.spec["catalogue"],
        pool.key,
        *vectors,
        *(reference[key] for key in ("people", "pool") if key in reference),
    ]
    where = [block.name, *([reference["name"]] if len(settings.reference) > 1 else []), query.text]
    where += [f"k = {k}"] if len(settings.k) > 1 else []
    named = unit("solve", ": ".join([*where, f"{method.name}{aimed}"]), spec)
    # As for a pool: the query's vector follows from encoder and prompt, whatever else is asked beside it.
    vector = {"queries": queries.key} if registry.METHODS[method.name].needs_query else {}
    return Unit(
        stage="solve",
        key=named.key,
        title=named.title,
        spec=spec | vector,
        needs=tuple(dict.fromkeys([*needs, *reads.needs, *vector.values()])),
    )
