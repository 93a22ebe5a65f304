"""Units that find every query's best items of one data set: embed, search, merge, score again, pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..cache.place import CachePlace
from ..config.audit import Audit
from ..datasets.block import Dataset
from ..datasets.catalogue import Catalogue, has_images
from ..datasets.part import Summary
from ..encoders.block import EncoderSource
from ..queries import Query
from ..stages import embed
from ..stages.candidates import Candidates
from ..stages.catalogue import Catalogue as CatalogueUnit
from ..stages.embed import Embed
from ..stages.items import Items
from ..stages.merge import Merge
from ..stages.pool import Pool
from ..stages.prefilter import Prefilter
from ..stages.queries import Queries
from ..stages.rescore import Rescore
from ..stages.vectors import BYTES_PER_NUMBER
from ..store.keys import digest

# Stages between vectors and pools: a pool is named by what it holds, and by the code that found it.
SEARCH_STAGES = (Prefilter, Merge, Rescore)
# Tables of candidates that one merge reads: the rows of one query from all of them are in its memory.
MERGED_TABLES = 8
# Numbers in a vector where the data set does not say: common encoders give 384 to 768.
ASSUMED_WIDTH = 512


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded:
    """A data set whose items get vectors: its settings and catalogue, the units of the catalogue and of its parts, and
    what embeds the items, which is None where they have their vectors; cache: where vectors were kept before."""

    block: Dataset
    catalogue: Catalogue
    unit: CatalogueUnit
    parts: tuple[Items, ...]
    encoder: EncoderSource | None
    cache: CachePlace | None = None

    @property
    def column(self) -> str:
        """The column that is embedded; pictures win over texts where the encoder sees both."""
        if self.encoder is None:
            return embed.VECTOR_ROW if self.catalogue.has_vector_files else embed.VECTOR
        return embed.IMAGE if self.encoder.reads_images and has_images(self.catalogue) else embed.TEXT

    @property
    def width(self) -> int:
        """Numbers in a vector, as far as that is known before items are embedded."""
        return self.catalogue.vector_width or ASSUMED_WIDTH


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedQueries:
    """Queries with their vectors: all of the audit, the unit that embeds those that are searched now, and what
    decides each query's vector. The pools of the other queries are there already."""

    queries: Sequence[Query]
    unit: Queries
    contents: Mapping[Query, Any]

    @property
    def is_searched(self) -> bool:
        """Whether any query is searched."""
        return bool(self.unit.prompts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """shards hold vectors, and vectors names them; parts search neighbouring shards; merges are a tree over the parts,
    level by level; scored has one unit a part."""

    shards: list[Embed]
    parts: list[Prefilter]
    merges: list[Merge]
    scored: list[Rescore]
    pools: dict[Query, Pool]
    vectors: tuple[str, ...]


def search_units(settings: Audit, asked: AskedQueries, embedded: Embedded) -> Search:
    """The search of a data set for all queries at once."""
    shards = embed_units(settings, embedded)
    parts, merges, scored = [], [], []
    if asked.is_searched:
        name, groups = embedded.catalogue.name, _neighbours(settings, embedded, shards)
        parts = [_part_unit(settings, name, group, asked.unit, embedded.width) for group in groups]
        merges = list(_merge_units(settings, embedded.catalogue.name, parts))
        root = Candidates.of([merges[-1] if merges else parts[0]])
        scored = [_rescore_unit(embedded, part, root) for part in parts]
    searched, vectors = set(asked.unit.prompts), tuple(shard.key for shard in shards)
    content = digest(vectors)
    pools = {
        query: Pool(
            title=f"{embedded.catalogue.name}: {query.text}",
            catalogue=embedded.unit.key,
            vectors=content,
            encoder=asked.contents[query],
            search=tuple(stage.version for stage in SEARCH_STAGES),
            prompt=query.prompt,
            top=settings.prefilter.top,
            scored=tuple(part.key for part in scored) if query.prompt in searched else (),
            with_weights=any(reference.query_conditioned for reference in settings.reference),
            items=embedded.catalogue.size,
        )
        for query in asked.queries
    }
    return Search(shards=shards, parts=parts, merges=merges, scored=scored, pools=pools, vectors=vectors)


def embed_units(settings: Audit, embedded: Embedded) -> list[Embed]:
    """The shards of a data set, in order; none is of two parts."""
    units: list[Embed] = []
    start = 0
    for unit, summary in zip(embedded.parts, embedded.catalogue.summaries):
        units += _embed_units(settings, embedded, unit, summary, start)
        start += summary.rows
    return units


def _embed_units(settings: Audit, embedded: Embedded, part: Items, summary: Summary, first: int) -> Iterator[Embed]:
    """The shards of a part whose first item is the data set's item `first`."""
    encoder, column = embedded.encoder, embedded.column
    is_image, is_row = column == embed.IMAGE, column == embed.VECTOR_ROW
    key = settings.searching[0].model_dump(mode="json", exclude={"text"}) if encoder is None else dict(encoder.key)
    limits = embedded.block.image_limits.model_dump(mode="json") if is_image else None
    for start, stop in summary.shards(settings.shard_items):
        yield Embed(
            title=f"{embedded.catalogue.name} items {first + start} to {first + stop - 1}",
            items=summary.contents[column],
            column=column,
            encoder=key,
            storage=settings.prefilter.storage,
            start=start,
            stop=stop,
            limits=limits,
            numbers="widest" if is_row else None,
            part=part.key,
            root=summary.root if is_image else None,
            files=summary.vector_files_of(start, stop).to_json() if is_row else None,
            width=embedded.width,
            cache=None if encoder is None else embedded.cache,
            image_fingerprint=embedded.block.image_fingerprint,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Neighbours:
    """Neighbouring shards that one task searches, the first at row `start` of the catalogue."""

    shards: Sequence[Embed]
    start: int

    @property
    def rows(self) -> int:
        return sum(shard.rows for shard in self.shards)


def _neighbours(settings: Audit, embedded: Embedded, shards: Sequence[Embed]) -> Iterator[_Neighbours]:
    """Runs of neighbouring shards whose vectors fit the memory of one search task; at least one each."""
    vector_bytes = embedded.width * BYTES_PER_NUMBER[settings.prefilter.storage]
    most = settings.prefilter.shard_megabytes * 1e6 / vector_bytes
    group: list[Embed] = []
    start = rows = 0
    for shard in shards:
        if group and rows + shard.rows > most:
            yield _Neighbours(shards=group, start=start)
            group, start, rows = [], start + rows, 0
        group.append(shard)
        rows += shard.rows
    yield _Neighbours(shards=group, start=start)


def _part_unit(settings: Audit, name: str, group: _Neighbours, queries: Queries, width: int) -> Prefilter:
    return Prefilter(
        title=f"{name} items {group.start} to {group.start + group.rows - 1}",
        vectors=tuple(shard.key for shard in group.shards),
        start=group.start,
        queries=queries.key,
        prompts=queries.prompts,
        top=settings.prefilter.top,
        backend=settings.prefilter.backend,
        storage=settings.prefilter.storage,
        rows=group.rows,
        width=width,
    )


def _merge_units(settings: Audit, name: str, parts: Sequence[Prefilter]) -> Iterator[Merge]:
    """A tree of merges over the parts; the last unit is its root. None where there is one part."""
    tables: Sequence[Prefilter | Merge] = parts
    while len(tables) > 1:
        merged: list[Prefilter | Merge] = []
        for start in range(0, len(tables), MERGED_TABLES):
            few = tables[start : start + MERGED_TABLES]
            if len(few) == 1:
                merged += few
                continue
            unit = Merge(
                title=f"{name}: {len(few)} tables",
                found=Candidates.of(few),
                prompts=parts[0].prompts,
                top=settings.prefilter.top,
            )
            merged.append(unit)
            yield unit
        tables = merged


def _rescore_unit(embedded: Embedded, part: Prefilter, root: Candidates) -> Rescore:
    size = embedded.catalogue.size
    return Rescore(
        title=part.title,
        catalogue=embedded.unit.key,
        found=root,
        queries=part.queries,
        prompts=part.prompts,
        start=part.start,
        storage=part.storage,
        top=part.top,
        vectors=part.vectors,
        # A query's best items are anywhere: a part has its share of them.
        expected_rows=part.rows * len(part.prompts) * min(part.top, size) / size,
        rows=part.rows,
        width=part.width,
    )
