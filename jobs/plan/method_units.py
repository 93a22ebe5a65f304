"""Units that some methods ask for besides a query's pool: texts embedded, columns sorted, tokens put before queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..cache.place import CachePlace
from ..config.entries import MethodEntry
from ..methods import MethodNeeds, arrays_of
from ..methods.named_arrays import QUERY
from ..queries import Query
from ..stages.catalogue import Catalogue
from ..stages.debiased import Debiased
from ..stages.embed import Embed
from ..stages.information import Information
from ..stages.order import Order
from ..stages.queries import Queries
from ..stages.solve import MethodUnits
from ..stages.texts import Texts
from ..stages.tokens import Tokens
from ..stages.unit import Unit
from ..words import numbered
from .probe_units import Probing
from .search_units import Search

# Units that share the columns of one data set and attribute: enough for the cores of one machine.
INFORMATION_PARTS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Searched:
    """A data set as its methods' units need it: its catalogue's unit, its search, and keys of predicted labels.

    missing is what an item without a value of an attribute is called.
    """

    name: str
    catalogue: Catalogue
    attributes: Sequence[str]
    missing: str
    search: Search
    predicted: Mapping[str, tuple[str, ...]]

    @property
    def shards(self) -> Sequence[Embed]:
        """The units of its vectors."""
        return self.search.shards


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What one method reads in one data set: the units' keys as its solve units hold them, the units, the unit of each
    query's variants, and by the key of the unit that holds them the tokens which have been read."""

    keys: MethodUnits = field(default_factory=MethodUnits)
    units: Sequence[Unit] = ()
    variants: Mapping[Query, Texts] = field(default_factory=dict)
    tokens: Mapping[str, np.ndarray] = field(default_factory=dict)


def method_units(
    entry: MethodEntry,
    needs: MethodNeeds,
    searched: Searched,
    probing: Probing,
    queries: Queries,
    variants: Mapping[Query, Texts],
    encoder: Mapping[str, Any] | None,
) -> Reading:
    """The units that a method asks for in one data set. encoder: the key of the one that embeds texts."""
    title = f"{numbered(len(needs.texts), 'text')} of {entry.name}"
    texts = Texts(title=title, texts=needs.texts, encoder=encoder or {}, cache=queries.cache) if needs.texts else None
    parts = _probe_information(probing, needs.columns_by) or _information_units(searched, needs.columns_about)
    order = _order_unit(parts) if parts else None
    tokens = None if needs.tokens is None else Tokens.of(needs.tokens, entry.name)
    # Where no query is asked, nothing is embedded: the vectors behind the tokens have been read.
    debiased = _debiased_unit(tokens, queries, encoder or {}) if tokens is not None and queries.prompts else None
    keys = MethodUnits(
        texts=_key_of(texts),
        order=_key_of(order),
        tokens=_key_of(tokens),
        probe_labels={probe: probing.labels_of(probe, searched.shards) for probe in needs.probes},
        debiased=_key_of(debiased),
    )
    made = [unit for unit in (tokens, texts, debiased, *variants.values(), *parts, order) if unit is not None]
    known = {} if tokens is None or needs.tokens is None else {tokens.key: needs.tokens}
    return Reading(keys=keys, units=made, variants=variants, tokens=known)


def variant_units(
    entry: MethodEntry,
    needs: MethodNeeds,
    queries: Sequence[Query],
    encoder: Mapping[str, Any],
    cache: CachePlace | None,
) -> dict[Query, Texts]:
    """The unit of each query's variants: one each, so that a new query asks for its own alone."""
    return {
        query: Texts(
            title=f"{query.text}: variants of {entry.name}",
            texts=tuple(text.replace(QUERY, query.text) for text in needs.variants),
            encoder=encoder,
            cache=cache,
        )
        for query in (queries if needs.variants else ())
    }


def in_key(entry: MethodEntry) -> MethodEntry:
    """A method without the paths of its files: what these hold is in the keys of the units that read them."""
    return entry.model_copy(update={"extras": arrays_of(entry.name).in_key(entry.extras)})


def _key_of(unit: Unit | None) -> str | None:
    return None if unit is None else unit.key


def _debiased_unit(tokens: Tokens, queries: Queries, encoder: Mapping[str, Any]) -> Debiased:
    title = f"{numbered(len(queries.prompts), 'query', 'queries')} behind {tokens.title}"
    return Debiased(title=title, prompts=queries.prompts, tokens=tokens.key, encoder=encoder)


def _information_units(searched: Searched, asked: Sequence[str] | None) -> list[Information]:
    if asked is None:
        return []
    attributes = tuple(asked or searched.attributes)
    whole = Information(
        title=f"{searched.catalogue.title}: {' and '.join(attributes)}",
        catalogue=searched.catalogue.key,
        vectors=tuple(shard.key for shard in searched.shards),
        attributes=attributes,
        part=0,
        parts=INFORMATION_PARTS,
        predicted={name: keys for name, keys in searched.predicted.items() if name in attributes},
    )
    return _in_parts(whole)


def _probe_information(probing: Probing, probe: str | None) -> list[Information]:
    """The same of the labelled data set that a probe learns from, about what it learns."""
    if probe is None:
        return []
    fit = probing.fits[probe]
    whole = Information(
        title=f"items that teach {fit.title}",
        catalogue=fit.catalogue,
        vectors=fit.vectors,
        attributes=(fit.attribute,),
        part=0,
        parts=INFORMATION_PARTS,
    )
    return _in_parts(whole)


def _in_parts(whole: Information) -> list[Information]:
    """The units of all parts of the columns."""
    return [
        replace(whole, title=f"{whole.title}, part {part + 1} of {INFORMATION_PARTS}", part=part)
        for part in range(INFORMATION_PARTS)
    ]


def _order_unit(information: Sequence[Information]) -> Order:
    title = information[0].title.rpartition(", part ")[0]
    return Order(title=f"{title}: columns", information=tuple(part.key for part in information))
