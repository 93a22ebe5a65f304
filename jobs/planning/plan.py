"""Settings and inputs to units of work: pure, the same plan for the same content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobs.config.audit import Audit
from jobs.config.method_settings import column_of
from jobs.datasets import Catalogue
from jobs.datasets.block import Dataset
from jobs.errors import BadSetting, about
from jobs.planning.inputs import Inputs, is_embedded, needs_embeddings
from jobs.planning.level_remarks import level_remarks, similar_levels
from jobs.planning.method_units import MethodUnits, Searched, method_units
from jobs.planning.probe_units import Probing, probe_notes, probing
from jobs.planning.reference_levels import shared_levels
from jobs.planning.search_units import Embedded, Search, embed_units, search_units
from jobs.planning.solve_units import method_targets, reference_spec, solve_unit
from jobs.planning.units import Unit, digest, unit
from jobs.plurals import numbered
from jobs.queries import Query
from jobs.stages.vectors import to_matrix
from mprlib import InputError
from mprlib.encoding import Encoding

# Unit vectors that were stored as float16 are this far from length 1.
UNIT_LENGTH_TOLERANCE = 2e-3
# Vectors in files that are looked at before a run.
SAMPLED_VECTORS = 1_000
# Columns of a catalogue that hold an item's vector, or its row in files of vectors.
VECTOR_COLUMNS = ("vector", "vector_row")
# Settings of a data set that name or place it without changing its items.
_NAMING = {"name", "path", "root", "labels", "image_fingerprint", "max_skipped_share"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Units by stage, in the order in which stages run, and remarks for the reader of the run.

    catalogues are those that the catalogue units write, blocks their settings, and shards the embed units of their
    items, all by the unit's key; tokens (count, width) are those of the tokens units; probes are the units that
    train them, by name.
    """

    stages: dict[str, list[Unit]]
    catalogues: Mapping[str, Catalogue]
    blocks: Mapping[str, Dataset]
    shards: Mapping[str, tuple[str, ...]]
    tokens: Mapping[str, np.ndarray]
    probes: Mapping[str, Unit]
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
    sources: dict[tuple[str, str], Embedded] = {}
    for side, name, block, catalogue in _sources(settings, inputs):
        made = catalogue_units[side, name] = _catalogue_unit(block, catalogue)
        catalogues[made.key] = catalogue
        blocks[made.key] = block
        sources[side, name] = Embedded(block=block, catalogue=catalogue, unit=made, encoder=inputs.item_encoder)
    queries = _queries_unit(inputs)
    told = _query_contents(inputs)
    searches = {
        source: search_units(
            settings,
            inputs.queries,
            one,
            queries,
            told,
            with_vectors=source[0] == "dataset" and needs_embeddings(settings),
        )
        for source, one in sources.items()
        if source[0] == "dataset" or (source[0] == "reference" and _is_query_conditioned(settings, source[1]))
    }
    probes = probing(settings, {name: sources["probe", name] for name in settings.probes})
    people = _predicted_people(settings, sources, searches, probes)
    solve: list[Unit] = []
    extra: list[MethodUnits] = []
    notes = [*inputs.remarks, *probe_notes(settings, inputs.labelled)]
    notes += (note for one in sources.values() for note in level_remarks(one.block, one.catalogue))
    for block in settings.dataset:
        catalogue, search = inputs.catalogues[block.name], searches["dataset", block.name]
        searched = Searched(
            name=block.name,
            catalogue=catalogue_units["dataset", block.name],
            attributes=list(catalogue.levels),
            missing=catalogue.missing,
            shards=search.shards,
            predicted=probes.predicted(block, search.shards),
        )
        reads = {
            place: method_units(settings, inputs, place, searched, probes) for place in range(len(settings.methods))
        }
        extra += reads.values()
        others = [other for name, other in inputs.catalogues.items() if name != block.name]
        for position, reference in enumerate(settings.reference):
            with about("reference", position):
                compared = inputs.references.get(reference.name, catalogue)
                levels, remarks = shared_levels(catalogue, reference, compared, block, others, position)
            notes += remarks
            notes += (note for name, both in levels.items() for note in similar_levels(name, both))
            _check_groups(settings, levels)
            predicted = people[reference.name].predicted if reference.name in people else searched.predicted
            for query in inputs.queries:
                whom = reference_spec(
                    reference, query, searched.catalogue, search, catalogue_units, searches, predicted
                )
                for k in settings.k:
                    for place, target in method_targets(settings):
                        named = solve_unit(
                            settings, searched, whom, levels, search, query, k, place, target, reads[place], queries
                        )
                        solve.append(named)
    embedded = [
        *(search.shards for search in searches.values()),
        probes.shards,
        *(one.shards for one in people.values()),
    ]
    stages = {
        "catalogue": list(catalogue_units.values()),
        "tokens": [units.tokens for units in extra if units.tokens is not None],
        "queries": [queries],
        "texts": [units.texts for units in extra if units.texts is not None],
        "debiased": [units.debiased for units in extra if units.debiased is not None],
        "embed": [unit for shards in embedded for unit in shards],
        "probe": list(probes.fits.values()),
        "labels": list(probes.labels.values()),
        "information": [unit for units in extra for unit in units.information],
        "order": [units.order for units in extra if units.order is not None],
        "prefilter": [unit for search in searches.values() for unit in search.parts],
        "merge": [unit for search in searches.values() for unit in search.merges],
        "rescore": [unit for search in searches.values() for unit in search.scored],
        "pool": [unit for search in searches.values() for unit in search.pools.values()],
        "solve": solve,
    }
    # Two blocks may ask for the same content: it is one unit.
    shards: dict[str, list[str]] = {}
    for one in stages["embed"]:
        shards.setdefault(one.spec["catalogue"], []).append(one.key)
    distinct = {stage: list({unit.key: unit for unit in units}.values()) for stage, units in stages.items() if units}
    notes += _length_notes(catalogues.values())
    tokens = {
        reads.tokens.key: inputs.tokens[place % len(settings.methods)]
        for place, reads in enumerate(extra)
        if reads.tokens is not None
    }
    return Plan(
        stages=distinct,
        catalogues=catalogues,
        blocks=blocks,
        shards={key: tuple(dict.fromkeys(keys)) for key, keys in shards.items()},
        tokens=tokens,
        probes=probes.fits,
        notes=tuple(dict.fromkeys(notes)),
    )


def _check_groups(settings: Audit, levels: Mapping[str, Sequence[str]]) -> None:
    """A group that a method protects is one of those that data set and reference speak of."""
    names = Encoding(levels={name: tuple(of_attribute) for name, of_attribute in levels.items()}).names
    for place, entry in enumerate(settings.methods):
        if "group" in entry.extras:
            try:
                column_of(entry.extras["group"], names)
            except InputError as error:
                raise BadSetting(str(error), "methods", place, entry.name, "group") from None


def _length_notes(catalogues: Iterable[Catalogue]) -> Iterator[str]:
    """Vectors are used as given; where they are no unit vectors, scores are no cosines."""
    for catalogue in catalogues:
        vectors = _sample(catalogue)
        if vectors is None or not len(vectors):
            continue
        with np.errstate(over="ignore", invalid="ignore"):
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


def _sources(settings: Audit, inputs: Inputs) -> Iterator[tuple[str, str, Dataset, Catalogue]]:
    for block in settings.dataset:
        yield "dataset", block.name, block, inputs.catalogues[block.name]
    for reference in settings.reference:
        if reference.dataset is not None:
            yield "reference", reference.name, reference.dataset, inputs.references[reference.name]
    for name, probe in settings.probes.items():
        yield "probe", name, probe.dataset, inputs.labelled[name]


def _predicted_people(
    settings: Audit,
    sources: Mapping[tuple[str, str], Embedded],
    searches: Mapping[tuple[str, str], Search],
    probes: Probing,
) -> dict[str, Searched]:
    """Data sets of references, by the reference's name, with vectors where attributes are predicted from them."""
    people = {}
    for reference in settings.reference:
        if reference.dataset is None:
            continue
        side = ("reference", reference.name)
        source, shards = sources[side], []
        if side in searches:
            shards = searches[side].shards
        elif is_embedded(reference):
            shards = embed_units(settings, source)
        people[reference.name] = Searched(
            name=reference.dataset.name,
            catalogue=source.unit,
            attributes=list(source.catalogue.levels),
            missing=source.catalogue.missing,
            shards=shards,
            predicted=probes.predicted(reference.dataset, shards),
        )
    return people


def _catalogue_unit(block: Dataset, catalogue: Catalogue) -> Unit:
    spec = {
        "block": block.model_dump(mode="json", exclude=_NAMING),
        "fingerprint": catalogue.fingerprint,
        "columns": catalogue.items.column_names,
        # The encoder's settings say which column holds them.
        "vectors": [catalogue.content_of(name) for name in VECTOR_COLUMNS if name in catalogue.items.column_names],
        "missing": catalogue.missing,
    }
    return unit("catalogue", f"items of {catalogue.name}", spec)


def _queries_unit(inputs: Inputs) -> Unit:
    spec: dict = {"prompts": [query.prompt for query in inputs.queries]}
    if inputs.query_vectors is not None:
        spec["vectors"] = digest(inputs.query_vectors.to_pylist())
    else:
        spec["encoder"] = inputs.text_encoder.key
    return unit("queries", numbered(len(inputs.queries), "query", "queries"), spec)


def _query_contents(inputs: Inputs) -> dict[Query, Any]:
    """What decides each query's vector: the encoder, or the vector itself, whatever else stands in its file."""
    if inputs.query_vectors is None:
        return dict.fromkeys(inputs.queries, inputs.text_encoder.key)
    given = dict(zip(inputs.query_vectors["query"].to_pylist(), inputs.query_vectors["vector"].to_pylist()))
    return {query: digest(given[query.text]) for query in inputs.queries}
