"""What a configuration refers to, read and checked before any work is planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from mprlib.level_names import missing_name

from .. import datasets
from ..cache.place import CachePlace, cache_place
from ..config.audit import Audit
from ..datasets.catalogue import Catalogue, with_missing_called
from ..encoders import item_source, text_source
from ..encoders.block import EncoderSource
from ..errors import BadSetting, UsageError, about, said_of
from ..lists import load as load_lists
from ..lists.block import ResultList
from ..lists.items import ListedItems
from ..methods import MethodNeeds, arrays_of, file_settings
from ..queries import Query, query_remarks, query_vectors, read_queries
from ..words import closest, did_you_mean
from .input_checks import (
    check_depths,
    check_query_vectors,
    check_reference_attributes,
    check_references,
    check_values,
    expect_content,
    expect_text_tower,
    is_embedded,
)
from .label_errors import AllConfusions, read_confusions
from .listed import Listed, expect_depths, listed, missing_remarks
from .probes import read_labelled, with_levels
from .targets import Targets, read_targets, target_remarks


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """Catalogues of the data sets and of reference data sets by name, queries, vectors if given.

    method_needs: what each method must have before it can choose, by its place in the configuration. labelled: the data
    sets that probes learn from, by the probe's name. remarks are sentences for the reader of the run. item_encoder is
    None where items have their vectors, text_encoder where nothing can embed a text. lists: what an engine showed, by
    the data set that holds its items' labels; empty for an audit that searches itself. reference_lists: what other
    engines showed, by the reference's name and then by the audited data set's. targets: of each query, by the
    reference's name. confusions: how often labels are wrong, by data set. cache: what runs share, if there is one.
    """

    catalogues: Mapping[str, Catalogue]
    references: Mapping[str, Catalogue]
    queries: list[Query]
    query_vectors: pa.Table | None
    method_needs: Mapping[int, MethodNeeds]
    labelled: Mapping[str, Catalogue]
    remarks: tuple[str, ...]
    item_encoder: EncoderSource | None
    text_encoder: EncoderSource | None
    lists: Mapping[str, Listed] = field(default_factory=dict)
    reference_lists: Mapping[str, Mapping[str, Listed]] = field(default_factory=dict)
    targets: Mapping[str, Targets] = field(default_factory=dict)
    confusions: AllConfusions = field(default_factory=dict)
    cache: CachePlace | None = None


def read_inputs(settings: Audit, folder: Path, limit: int | None = None) -> Inputs:
    """Everything that the audit reads.

    Raises:  UsageError, one sentence that names the data set, file, column or setting.
    """
    with about("cache"):
        cache = cache_place(settings.cache)
    if settings.results is not None:
        return _read_listed(settings, settings.results, folder, limit, cache)
    encoder, asking = settings.searching
    column = encoder.vector_column
    labelled, catalogues, references = _read_datasets(settings, folder, column)
    with about("encoder"):
        item_encoder, text_encoder = item_source(encoder, folder), text_source(encoder, folder)
        for catalogue in [*catalogues.values(), *labelled.values()]:
            expect_content(item_encoder, catalogue, f"dataset {catalogue.name}: encoder {encoder.kind} needs")
    for catalogue in catalogues.values():
        check_values(settings, catalogue.vector_width or (item_encoder.width if item_encoder is not None else None))
        check_depths(settings, catalogue)
    check_reference_attributes(settings, catalogues, references)
    check_references(settings, references, item_encoder)
    queries = read_queries(asking, folder, limit, lambda: _true_terms(catalogues.values()))
    vectors = query_vectors(asking, folder) if asking.vectors else None
    check_query_vectors(encoder, asking, vectors, catalogues.values())
    targets, lacking = _targets_of_queries(settings, queries, folder)
    others, unknown = _reference_lists(settings, catalogues, references, queries, folder)
    return Inputs(
        catalogues=catalogues,
        references=references,
        queries=queries,
        query_vectors=vectors,
        method_needs={place: _needs_of_method(settings, place, folder) for place in range(len(settings.methods))},
        labelled=labelled,
        remarks=(*query_remarks(asking, folder), *lacking, *unknown),
        item_encoder=item_encoder,
        text_encoder=text_encoder,
        reference_lists=others,
        targets=targets,
        confusions=read_confusions(settings, folder, catalogues, references),
        cache=cache,
    )


def _read_listed(
    settings: Audit, results: ResultList, folder: Path, limit: int | None, cache: CachePlace | None
) -> Inputs:
    """The inputs of an audit of what an engine showed."""
    with about("results"):
        shown = load_lists(results, folder)
    queries = _queries_of_the_list(settings, shown.queries, folder, limit)
    _, catalogues, references = _read_datasets(settings, folder, None)
    own = {block.name for block in settings.dataset if isinstance(block, ListedItems)}
    with about("results"):
        lists = {name: listed(shown, catalogue, is_own=name in own) for name, catalogue in catalogues.items()}
    check_reference_attributes(settings, catalogues, references)
    targets, lacking = _targets_of_queries(settings, queries, folder)
    others, unknown = _reference_lists(settings, catalogues, references, queries, folder)
    remarks = [remark for found in lists.values() for remark in found.remarks]
    return Inputs(
        catalogues=catalogues,
        references=references,
        queries=queries,
        query_vectors=None,
        method_needs={place: _needs_of_method(settings, place, folder) for place in range(len(settings.methods))},
        labelled={},
        remarks=tuple(dict.fromkeys([*remarks, *expect_depths(settings, queries, lists), *lacking, *unknown])),
        item_encoder=None,
        text_encoder=None,
        lists=lists,
        reference_lists=others,
        targets=targets,
        confusions=read_confusions(settings, folder, catalogues, references),
        cache=cache,
    )


def _reference_lists(
    settings: Audit,
    catalogues: Mapping[str, Catalogue],
    references: Mapping[str, Catalogue],
    queries: Sequence[Query],
    folder: Path,
) -> tuple[dict[str, dict[str, Listed]], list[str]]:
    """What other engines showed, by reference and audited data set, and sentences on what they lack."""
    found: dict[str, dict[str, Listed]] = {}
    remarks: list[str] = []
    for place, reference in enumerate(settings.reference):
        if reference.results is None:
            continue
        with about("reference", place, "results"), said_of(f"reference {reference.name}"):
            shown = load_lists(reference.results, folder)
            own = references.get(reference.name)
            found[reference.name] = {
                name: listed(shown, own or catalogue, is_own=own is not None) for name, catalogue in catalogues.items()
            }
            remarks += missing_remarks(reference.name, found[reference.name], queries)
    return found, remarks


def _targets_of_queries(
    settings: Audit, queries: Sequence[Query], folder: Path
) -> tuple[dict[str, Targets], list[str]]:
    """The targets of each query, by the reference's name, and sentences on queries without one."""
    found: dict[str, Targets] = {}
    remarks: list[str] = []
    for place, reference in enumerate(settings.reference):
        if reference.path is not None:
            with about("reference", place, "path"), said_of(f"reference {reference.name}"):
                found[reference.name] = read_targets(reference.path, folder)
                remarks += target_remarks(reference.name, found[reference.name], queries)
    return found, remarks


def _queries_of_the_list(settings: Audit, shown: Sequence[str], folder: Path, limit: int | None) -> list[Query]:
    """The queries that are named, or all of the list.

    Raises:  UsageError for a query that the list lacks.
    """
    if settings.queries is None:
        return [Query(text=text, prompt=text) for text in shown[:limit]]
    named = read_queries(settings.queries, folder, limit)
    for query in named:
        if query.text not in shown:
            hint = did_you_mean(query.text, shown) if closest(query.text, shown) else f"such as {shown[0]!r:.80}"
            raise BadSetting(f"the list has no query {query.text!r:.80}; it has {len(shown):,}, {hint}", "queries")
    return [Query(text=query.text, prompt=query.text) for query in named]


def _read_datasets(
    settings: Audit, folder: Path, column: str | None
) -> tuple[dict[str, Catalogue], dict[str, Catalogue], dict[str, Catalogue]]:
    """Labelled data sets, those to audit and those of references, in which missing values have one name.

    Pool and reference share their levels: what is a missing value here must be no level there.
    """
    labelled = read_labelled(settings, folder, column)
    found, people = {}, {}
    for place, block in enumerate(settings.dataset):
        with about(*settings.dataset_key(place)):
            found[block.name] = datasets.load(block, folder, column)
    for place, reference in enumerate(settings.reference):
        if reference.dataset is not None:
            with about("reference", place, "dataset"):
                embedded = column if is_embedded(reference) else None
                people[reference.name] = datasets.load(reference.dataset, folder, embedded)
    everything = [*labelled.values(), *found.values(), *people.values()]
    missing = missing_name(
        level for one in everything for levels in one.levels.values() for level in levels if level != one.missing
    )
    labelled = {name: with_missing_called(one, missing) for name, one in labelled.items()}
    catalogues = {
        block.name: with_levels(block, with_missing_called(found[block.name], missing), settings, labelled)
        for block in settings.dataset
    }
    references = {
        one.name: with_levels(one.dataset, with_missing_called(people[one.name], missing), settings, labelled)
        for one in settings.reference
        if one.dataset
    }
    return labelled, catalogues, references


def _needs_of_method(settings: Audit, place: int, folder: Path) -> MethodNeeds:
    """What the method at that place in the configuration must have before it can choose.

    Raises:  UsageError for a file that is of no use, and where nothing can embed what the method asks for.
    """
    entry = settings.methods[place]
    arrays = arrays_of(entry.name)
    with about("methods", place, entry.name):
        if arrays.needs_text_tower:
            expect_text_tower(settings, entry.name)
    with about("methods", place, entry.name, *file_settings(entry.name)):
        needs = arrays.needs(entry.extras, folder)
    with about("methods", place, entry.name):
        if (needs.texts or needs.variants) and settings.searching[0].text_encoder is None:
            raise UsageError(
                f"method {entry.name} has texts to embed, which encoder {settings.searching[0].kind} cannot: give "
                "encoder.text with the model that made the vectors"
            )
    return needs


def _true_terms(catalogues: Iterable[Catalogue]) -> list[str]:
    """The true terms of all items, the most frequent first."""
    counts = Counter(
        term.strip() for catalogue in catalogues for term in catalogue.items["relevance"].drop_null().to_pylist()
    )
    return [term for term, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0])) if term]
