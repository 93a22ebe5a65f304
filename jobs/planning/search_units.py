"""Units that find every query's best items of one data set: embed, search, merge, score again, pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jobs.config.audit import Audit
from jobs.datasets import Catalogue
from jobs.datasets.block import Dataset
from jobs.datasets.catalogue import has_images
from jobs.encoders import EncoderSource
from jobs.planning.units import STAGE_VERSIONS, Unit, unit
from jobs.queries import Query

# Stages between vectors and pools: a pool is named by what it holds, and by the code that found it.
SEARCH_STAGES = ("prefilter", "merge", "rescore")
# Tables of candidates that one merge reads: so many rows of one query are in its memory.
MERGED_TABLES = 8
# Numbers in a vector where the data set does not say: common encoders give 384 to 768.
ASSUMED_WIDTH = 512
BYTES_PER_NUMBER = {"float32": 4, "float16": 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded:
    """A data set whose items get vectors: its settings and catalogue, the catalogue's unit, and what embeds the
    items, which is None where they have their vectors."""

    block: Dataset
    catalogue: Catalogue
    unit: Unit
    encoder: EncoderSource | None

    @property
    def reads(self) -> str:
        """The column that is embedded; pictures win over texts where the encoder sees both."""
        if self.encoder is None:
            return "vector" if self.catalogue.vector_files is None else "vector_row"
        return "image" if self.encoder.reads_images and has_images(self.catalogue) else "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """shards hold vectors; parts search neighbouring shards; merges are a tree over the parts, level by level;
    scored has one unit a part."""

    shards: list[Unit]
    parts: list[Unit]
    merges: list[Unit]
    scored: list[Unit]
    pools: dict[Query, Unit]


def search_units(
    settings: Audit,
    asked: Sequence[Query],
    embedded: Embedded,
    queries: Unit,
    told: Mapping[Query, Any],
    with_vectors: bool,
) -> Search:
    """The search of a data set for all queries at once. told: what decides each query's vector."""
    catalogue, source = embedded.catalogue, embedded.unit
    shards = embed_units(settings, embedded)
    groups = list(_neighbours(settings, catalogue, shards))
    prompts = [query.prompt for query in asked]
    parts = [_part_unit(settings, group, queries, prompts) for group in groups]
    merges = list(_merge_units(settings, catalogue.name, parts, prompts))
    root = merges[-1] if merges else parts[0]
    scored = [_rescore_unit(settings, group, part, source, queries, root) for group, part in zip(groups, parts)]
    pools = {
        query: _pool_unit(settings, catalogue.name, source, shards, scored, queries, query, told[query], with_vectors)
        for query in asked
    }
    return Search(shards=shards, parts=parts, merges=merges, scored=scored, pools=pools)


def vector_width(catalogue: Catalogue) -> int:
    """Numbers in a vector, as far as that is known before items are embedded."""
    return catalogue.vector_width or ASSUMED_WIDTH


def embed_units(settings: Audit, embedded: Embedded) -> list[Unit]:
    """The shards of a data set, in order.

    A key names what is embedded, not the labels beside it nor the place of its files: another bin or attribute,
    or a folder that has moved, leaves the vectors as they are.
    """
    encoder, catalogue = embedded.encoder, embedded.catalogue
    content = {
        "items": catalogue.content_of(embedded.reads),
        "encoder": settings.encoder.model_dump(mode="json", exclude={"text"}) if encoder is None else encoder.key,
        "reads": embedded.reads,
        "storage": settings.prefilter.storage,
    }
    place: dict = {"catalogue": embedded.unit.key}
    if embedded.reads == "vector_row":
        # How rows of parts in different numbers are brought together; other columns do not depend on it.
        content["numbers"] = "widest"
    if embedded.reads == "image":
        content["limits"] = embedded.block.image_limits.model_dump(mode="json")
        place["root"] = catalogue.root
    units = []
    for start, stop in catalogue.shards(settings.shard_items):
        title = f"{catalogue.name} items {start} to {stop - 1}"
        named = unit("embed", title, content | {"start": start, "stop": stop}, needs=(embedded.unit.key,))
        if embedded.reads == "vector_row":
            place["files"] = catalogue.vector_files_of(start, stop).to_json()
        units.append(replace(named, spec=named.spec | place))
    return units


def _neighbours(settings: Audit, catalogue: Catalogue, shards: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Runs of neighbouring shards whose vectors fit the memory of one search task; at least one each."""
    vector_bytes = vector_width(catalogue) * BYTES_PER_NUMBER[settings.prefilter.storage]
    most = settings.prefilter.shard_megabytes * 1e6 / vector_bytes
    group: list[Unit] = []
    for shard in shards:
        if group and shard.spec["stop"] - group[0].spec["start"] > most:
            yield group
            group = []
        group.append(shard)
    yield group


def _part_unit(settings: Audit, group: Sequence[Unit], queries: Unit, prompts: list[str]) -> Unit:
    spec = {
        "vectors": [shard.key for shard in group],
        "start": group[0].spec["start"],
        "queries": queries.key,
        "prompts": prompts,
        "top": settings.prefilter.top,
        "backend": settings.prefilter.backend,
        "storage": settings.prefilter.storage,
    }
    title = f"{group[0].title.rpartition(' to ')[0]} to {group[-1].spec['stop'] - 1}"
    return unit("prefilter", title, spec, needs=(*spec["vectors"], queries.key))


def _merge_units(settings: Audit, name: str, tables: Sequence[Unit], prompts: list[str]) -> Iterator[Unit]:
    """A tree of merges over the tables; the last unit is its root. None where there is one table."""
    while len(tables) > 1:
        merged = []
        for start in range(0, len(tables), MERGED_TABLES):
            few = tables[start : start + MERGED_TABLES]
            if len(few) == 1:
                merged += few
                continue
            spec = {
                "found": [[one.stage, one.key] for one in few],
                "prompts": prompts,
                "top": settings.prefilter.top,
            }
            merged.append(unit("merge", f"{name}: {len(few)} tables", spec, needs=tuple(one.key for one in few)))
            yield merged[-1]
        tables = merged


def _rescore_unit(settings: Audit, group: Sequence[Unit], part: Unit, source: Unit, queries: Unit, root: Unit) -> Unit:
    spec = {
        "catalogue": source.key,
        "found": [root.stage, root.key],
        "queries": queries.key,
        "prompts": part.spec["prompts"],
        "start": part.spec["start"],
        "storage": settings.prefilter.storage,
        "top": settings.prefilter.top,
        "vectors": [shard.key for shard in group],
    }
    return unit("rescore", part.title, spec, needs=(source.key, root.key, queries.key, *spec["vectors"]))


def _pool_unit(
    settings: Audit,
    name: str,
    source: Unit,
    shards: Sequence[Unit],
    scored: Sequence[Unit],
    queries: Unit,
    query: Query,
    told: Any,
    with_vectors: bool,
) -> Unit:
    # The key names what decides the pool (vectors, query, depth), not the searches that find it:
    # a new query, another backend or sharding of the search leave the pools of the others as they are.
    content = {
        "catalogue": source.key,
        "vectors": [shard.key for shard in shards],
        "encoder": told,
        "search": [STAGE_VERSIONS[stage] for stage in SEARCH_STAGES],
        "prompt": query.prompt,
        "top": settings.prefilter.top,
        "with_vectors": with_vectors,
    }
    named = unit("pool", f"{name}: {query.text}", content)
    reads = {"scored": [part.key for part in scored]}
    return Unit(
        stage="pool",
        key=named.key,
        title=named.title,
        spec=content | reads,
        needs=(source.key, queries.key, *content["vectors"], *reads["scored"]),
    )
