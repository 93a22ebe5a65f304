"""What a run will embed, what it will take from elsewhere, and what is gone; and what a run came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..cache import last_run
from ..cache.pictures import FOLDER as PICTURES
from ..cache.place import CachePlace
from ..cache.space import Space
from ..cache.vectors import IMAGE, TEXT, vectors_folder
from ..datasets.catalogue import KnownPart
from ..stages.embed import VECTORS, Embed
from ..stages.pool import Pool
from ..store import Receipt
from .contents import content_keys
from .plan import Plan

# Why items are embedded.
NO_CACHE = "not in the output, and there is no cache"
NEW_ENCODER = "the cache has no vectors of this encoder"
NEW_CONTENT = "their content is new or has changed"
UNREAD = "their files are new or touched: run reads them, and embeds those that have changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bill:
    """Items that will be embedded, at most, and those whose vectors are there; contents of the last run with this cache
    that are gone, None where that is not known; queries that will be searched, and those whose pools are there.

    why: how many items are embedded for which reason.
    """

    items_to_embed: int
    items_reused: int
    items_gone: int | None
    queries_new: int
    queries_kept: int
    why: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self) | {"why": dict(self.why)}


def bill_of(plan: Plan, done: Collection[str], cache: CachePlace | None, audit: str) -> Bill:
    """The bill of what is not done. audit: its name, under which its last run has left word."""
    reused, why = 0, Counter[str]()
    parts = _parts(plan)
    gone: list[int | None] = []
    for dataset, shards in _by_dataset(plan).items():
        seen: list[np.ndarray] = []
        for shard in shards:
            if shard.key in done:
                reused += shard.rows
        if cache is None:
            why[NO_CACHE] += sum(shard.rows for shard in shards if shard.key not in done)
            continue
        for part, own in _by_part(shards, parts):
            keys, is_known = content_keys(part, own[0].column, cache)
            seen.append(keys[is_known])
            found = _look_up(own[0], cache, keys, is_known)
            for shard in own:
                if shard.key not in done:
                    rows = found[shard.start : shard.stop]
                    reused += int((rows == "").sum())
                    why.update(reason for reason in rows.tolist() if reason)
        gone.append(_items_gone(cache, audit, dataset, seen))
    new, kept = _queries(plan, done)
    return Bill(
        items_to_embed=sum(why.values()),
        items_reused=reused,
        items_gone=None if not gone or None in gone else sum(one or 0 for one in gone),
        queries_new=new,
        queries_kept=kept,
        why={reason: number for reason, number in why.items() if number},
    )


def note_contents(plan: Plan, cache: CachePlace, audit: str) -> None:
    """Leave word of what this run had, for the next plan."""
    parts, store = _parts(plan), cache.store()
    for dataset, shards in _by_dataset(plan).items():
        keys = [
            keys[is_known]
            for part, own in _by_part(shards, parts)
            for keys, is_known in [content_keys(part, own[0].column, cache)]
        ]
        last_run.write_contents(store, audit, dataset, np.concatenate(keys))


def spaces_of(plan: Plan) -> list[str]:
    """Folders of the cache in which this plan's vectors are, and keys of its pictures."""
    shards = list(_shards_to_embed(plan))
    pictures = {f"{PICTURES}/{shard.image_fingerprint}" for shard in shards if shard.column == IMAGE}
    return [*dict.fromkeys(map(_folder, shards)), *sorted(pictures)]


def counts_of(plan: Plan, done: Mapping[str, Receipt], computed: Collection[str]) -> dict[str, int]:
    """What a run came to: items embedded and reused, queries searched anew and those whose pools were there."""
    rows = {unit.key: done[unit.key].files[VECTORS].rows for unit in _shards_to_embed(plan) if unit.key in done}
    embedded = sum(count - done[key].reused for key, count in rows.items() if key in computed)
    pools = [unit for unit in plan.units if isinstance(unit, Pool) and unit.key in done]
    searched = {pool.prompt for pool in pools if pool.key in computed}
    return {
        "items_embedded": embedded,
        "items_reused": sum(rows.values()) - embedded,
        "queries_computed": len(searched),
        "queries_reused": len({pool.prompt for pool in pools} - searched),
    }


def _shards_to_embed(plan: Plan) -> Iterator[Embed]:
    """Shards that go through an encoder."""
    return (unit for unit in plan.units if isinstance(unit, Embed) and unit.column in (TEXT, IMAGE))


def _folder(shard: Embed) -> str:
    return vectors_folder(shard.column, shard.encoder, Embed.version, shard.limits)


def _parts(plan: Plan) -> dict[str, tuple[str, KnownPart]]:
    """The data set's name and the part, by the key of its items unit."""
    return {
        key: (catalogue.name, part)
        for unit, catalogue in plan.catalogues.items()
        for key, part in zip(plan.parts[unit], catalogue.parts)
    }


def _by_dataset(plan: Plan) -> dict[str, list[Embed]]:
    parts, found = _parts(plan), dict[str, list[Embed]]()
    for shard in _shards_to_embed(plan):
        found.setdefault(parts[shard.part][0], []).append(shard)
    return found


def _by_part(
    shards: list[Embed], parts: Mapping[str, tuple[str, KnownPart]]
) -> Iterator[tuple[KnownPart, list[Embed]]]:
    own: dict[str, list[Embed]] = {}
    for shard in shards:
        own.setdefault(shard.part, []).append(shard)
    return ((parts[key][1], of_part) for key, of_part in own.items())


def _look_up(shard: Embed, cache: CachePlace, keys: np.ndarray, is_known: np.ndarray) -> np.ndarray:
    """Why each row (n,) of a part is embedded; empty for those in the cache."""
    space = Space(cache.store(), _folder(shard))
    space.refresh()
    why = np.full(len(keys), NEW_CONTENT if space.segments else NEW_ENCODER, dtype=object)
    why[~is_known] = UNREAD
    held = np.flatnonzero(is_known)[space.holds(keys[is_known])]
    why[held] = ""
    return why


def _items_gone(cache: CachePlace, audit: str, dataset: str, seen: list[np.ndarray]) -> int | None:
    with suppress(OSError):
        return last_run.gone(cache.store(), audit, dataset, np.concatenate(seen))
    return None


def _queries(plan: Plan, done: Collection[str]) -> tuple[int, int]:
    pools = [unit for unit in plan.units if isinstance(unit, Pool)]
    new = {pool.prompt for pool in pools if pool.key not in done}
    return len(new), len({pool.prompt for pool in pools} - new)
