"""Settings and inputs to a plan: pure, the same plan for the same content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from mprlib import InputError
from mprlib.encoding import Encoding

from ..config.audit import Audit
from ..config.population import Reference
from ..datasets.block import Dataset
from ..errors import BadSetting, about
from ..methods import arrays_of
from ..stages.embed import Embed
from ..stages.items import items_tables
from ..stages.solve import ProblemSize, Solve
from ..stages.tokens import tokens_tables
from ..stages.unit import Tables, Unit
from .input_checks import is_embedded
from .inputs import Inputs
from .label_errors import (
    confusion_notes,
    confusions_of,
    hand_label_notes,
    hand_labels_unit,
    label_errors,
    probabilities_of,
    probes_of,
    with_their_levels,
)
from .level_remarks import level_remarks, similar_levels
from .list_units import list_search, list_tables
from .listed import left_out
from .method_units import Reading, Searched, method_units, variant_units
from .plan import Plan
from .probe_units import OfPredictions, probe_notes, probing
from .query_units import asked_queries, given_tables
from .reference_levels import shared_levels
from .reference_sources import ReferenceSources
from .reference_units import ReferenceUnits
from .search_units import Embedded, Search, embed_units, search_units
from .solve_units import Compared, solve_units
from .sources import Side, sources_of
from .stage_order import by_stage, shards_by_part
from .vector_remarks import length_notes


def build(settings: Audit, inputs: Inputs, asked: Collection[str] | None = None) -> Plan:
    """The plan of an audit. asked: prompts that are to be embedded and searched, all by default."""
    return _Planner(settings, inputs, asked).plan()


class _Planner:
    """The parts of a plan, each once."""

    def __init__(self, settings: Audit, inputs: Inputs, asked: Collection[str] | None) -> None:
        self.settings, self.inputs = settings, inputs
        self.sources = sources_of(settings, inputs)
        self.asked = asked_queries(inputs, asked)
        self.searches = (
            self._list_searches()
            if inputs.lists
            else {
                side: search_units(settings, self.asked, one)
                for side, one in self.sources.items()
                if side.role == "dataset" or (side.role == "reference" and self._is_query_conditioned(side.name))
            }
        )
        self.reference_lists = {
            (reference, dataset): list_search(self._labelling_dataset(reference, dataset), lists, inputs.queries)
            for reference, of_datasets in inputs.reference_lists.items()
            for dataset, lists in of_datasets.items()
        }
        labelled = {name: self.sources[Side("probe", name)] for name in settings.probes}
        self.probing = probing(settings, labelled)
        self.reference_shards = dict(self._reference_shards())
        self.reference_predicted = {
            reference.name: self.probing.predicted(reference.dataset, self.reference_shards[reference.name])
            for reference in settings.reference
            if reference.dataset is not None
        }
        self.reference_sources = ReferenceSources(
            settings=settings,
            inputs=inputs,
            sources=self.sources,
            searches=self.searches,
            lists=self.reference_lists,
            predicted=self.reference_predicted,
            units=ReferenceUnits(settings=settings),
        )
        self.hand_labels = {name: hand_labels_unit(one) for name, one in inputs.catalogues.items()}
        self.notes: list[str] = [*inputs.remarks, *probe_notes(settings, inputs.labelled)]
        self.notes += (note for one in self.sources.values() for note in level_remarks(one.block, one.catalogue))
        self.notes += (note for one in self.sources.values() for note in hand_label_notes(one.catalogue))
        self.notes += confusion_notes(settings, inputs.confusions, inputs.catalogues, inputs.references)

    def plan(self) -> Plan:
        """All of it."""
        solved: list[Solve] = []
        readings: list[Reading] = []
        for block in self.settings.dataset:
            searched = self._searched_dataset(block)
            reads = {place: self._method_reading(place, searched) for place in range(len(self.settings.methods))}
            readings += reads.values()
            for position, reference in enumerate(self.settings.reference):
                solved += solve_units(
                    self.settings, self._compared_reference(searched, block, position, reference, reads)
                )
        catalogues = {one.unit.key: one.catalogue for one in self.sources.values()}
        self.notes += length_notes(catalogues.values())
        units = [*self._units(readings), *solved]
        return Plan(
            stages=by_stage(units),
            catalogues=catalogues,
            blocks={one.unit.key: one.block for one in self.sources.values()},
            parts={one.unit.key: one.unit.parts for one in self.sources.values()},
            shards=shards_by_part(units),
            made=dict(self._tables_from_inputs(readings)),
            probes=self.probing.fits,
            notes=tuple(dict.fromkeys(self.notes)),
            left_out={
                self.sources[Side("dataset", name)].unit.key: left_out(lists)
                for name, lists in self.inputs.lists.items()
            },
        )

    def _units(self, readings: Sequence[Reading]) -> Iterator[Unit]:
        """Units of all stages but the last."""
        for one in self.sources.values():
            yield from (*one.parts, one.unit)
        if self.asked.is_searched:
            yield self.asked.unit
        yield from (unit for reading in readings for unit in reading.units)
        for search in (*self.searches.values(), *self.reference_lists.values()):
            yield from (*search.shards, *search.parts, *search.merges, *search.scored, *search.pools.values())
        yield from self.probing.shards
        for shards in self.reference_shards.values():
            yield from shards
        yield from (*self.probing.fits.values(), *self.probing.labels.values(), *self.probing.shifts.values())
        yield from self.probing.by_hand.values()
        counted = self.reference_sources.units
        yield from (*counted.cells.values(), *counted.likely.values(), *counted.references.values())
        yield from {unit.key: unit for unit in self.hand_labels.values() if unit is not None}.values()

    def _list_searches(self) -> dict[Side, Search]:
        """What an engine showed, in the place of searches."""
        sides = {Side("dataset", name): lists for name, lists in self.inputs.lists.items()}
        return {side: list_search(self.sources[side], lists, self.inputs.queries) for side, lists in sides.items()}

    def _labelling_dataset(self, reference: str, dataset: str) -> Embedded:
        """The data set that labels the items of a reference's list: its own, or the audited one."""
        return self.sources.get(Side("reference", reference)) or self.sources[Side("dataset", dataset)]

    def _is_query_conditioned(self, reference: str) -> bool:
        return any(block.query_conditioned for block in self.settings.reference if block.name == reference)

    def _reference_shards(self) -> Iterator[tuple[str, Sequence[Embed]]]:
        """Vectors of references' own data sets, by the reference's name; none where nothing reads them."""
        for reference in self.settings.reference:
            side = Side("reference", reference.name)
            if side in self.searches:
                yield reference.name, self.searches[side].shards
            elif reference.dataset is not None:
                has_vectors = is_embedded(reference)
                yield reference.name, embed_units(self.settings, self.sources[side]) if has_vectors else ()

    def _searched_dataset(self, block: Dataset) -> Searched:
        side = Side("dataset", block.name)
        catalogue, search = self.inputs.catalogues[block.name], self.searches[side]
        return Searched(
            name=block.name,
            catalogue=self.sources[side].unit,
            attributes=list(catalogue.levels),
            missing=catalogue.missing,
            search=search,
            predicted=self.probing.predicted(block, search.shards),
        )

    def _method_reading(self, place: int, searched: Searched) -> Reading:
        entry, encoder = self.settings.methods[place], self.inputs.text_encoder
        key, needs = None if encoder is None else dict(encoder.key), self.inputs.method_needs[place]
        variants = variant_units(entry, needs, self.inputs.queries, key or {}, self.inputs.cache)
        return method_units(entry, needs, searched, self.probing, self.asked.unit, variants, key)

    def _compared_reference(
        self, searched: Searched, block: Dataset, position: int, reference: Reference, reads: Mapping[int, Reading]
    ) -> Compared:
        catalogue = self.inputs.catalogues[block.name]
        others = [other for name, other in self.inputs.catalogues.items() if name != block.name]
        with about("reference", position):
            compared = self.inputs.references.get(reference.name, catalogue)
            targets = self.inputs.targets.get(reference.name)
            levels, remarks = shared_levels(catalogue, reference, compared, block, others, position, targets)
        confusions = confusions_of(reference, block.name, self.inputs.confusions)
        probabilities = probabilities_of(block)
        levels = with_their_levels(levels, *confusions, probabilities)
        self.notes += remarks
        self.notes += (note for name, both in levels.items() for note in similar_levels(name, both))
        _check_groups(self.settings, levels)
        known = {name: tuple(of_attribute) for name, of_attribute in levels.items()}
        with about(*self.settings.dataset_key(self.settings.dataset.index(block)), "attributes"):
            errors = label_errors(
                catalogue,
                known,
                confusions,
                self.hand_labels[block.name],
                probabilities,
                self.reference_sources.likely(reference, searched, probabilities),
                reference.query_conditioned and reference.dataset is None,
                probes_of(block, reference, self.probing.fits, *self._predictions(searched, block, reference)),
            )
        return Compared(
            searched=searched,
            levels=known,
            sources=self.reference_sources.of(reference, searched, known),
            reads=reads,
            queries=self.asked.unit,
            size=_problem_size(self.settings, searched, catalogue.size),
            label_errors=errors,
        )

    def _predictions(
        self, searched: Searched, block: Dataset, reference: Reference
    ) -> tuple[OfPredictions, OfPredictions | None]:
        """What is known of predicted labels of a data set, and of a reference's own."""
        source, catalogue = self.sources[Side("dataset", block.name)], self.inputs.catalogues[block.name]
        own = self.probing.known_of(block, source, catalogue, searched.predicted)
        if reference.dataset is None:
            return own, None
        people, predicted = self.sources[Side("reference", reference.name)], self.reference_predicted[reference.name]
        known = self.inputs.references[reference.name]
        return own, self.probing.known_of(reference.dataset, people, known, predicted)

    def _tables_from_inputs(self, readings: Sequence[Reading]) -> Iterator[tuple[str, Callable[[], Tables]]]:
        """Tables of units that came with reading the inputs."""
        for one in self.sources.values():
            for unit, part in zip(one.parts, one.catalogue.parts):
                if part.whole is not None:
                    yield unit.key, partial(items_tables, part.whole, one.catalogue.missing)
        for reading in readings:
            for key, tokens in reading.tokens.items():
                yield key, partial(tokens_tables, tokens)
        for name, lists in self.inputs.lists.items():
            side = Side("dataset", name)
            yield from list_tables(self.searches[side], self.inputs.catalogues[name], lists)
        for (reference, dataset), search in self.reference_lists.items():
            catalogue = self._labelling_dataset(reference, dataset).catalogue
            yield from list_tables(search, catalogue, self.inputs.reference_lists[reference][dataset])
        given = given_tables(self.inputs, self.asked.unit)
        if given is not None:
            yield self.asked.unit.key, given


def _problem_size(settings: Audit, searched: Searched, items: int) -> ProblemSize:
    """What solving costs depends on; lists that an engine showed have no vectors."""
    shards = searched.search.shards
    return ProblemSize(
        items=min(settings.prefilter.top, items),
        width=shards[0].width if shards else 0,
        people=sum(shard.rows for shard in shards),
    )


def _check_groups(settings: Audit, levels: Mapping[str, Sequence[str]]) -> None:
    """A group that a method protects is one of those that data set and reference have."""
    names = Encoding(levels={name: tuple(of_attribute) for name, of_attribute in levels.items()}).names
    for place, entry in enumerate(settings.methods):
        try:
            arrays_of(entry.name).check_groups(entry.extras, names)
        except InputError as error:
            raise BadSetting(str(error), "methods", place, entry.name, "group") from None
