"""Whom the selections of each query are compared with, as what solving reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..config.audit import Audit
from ..config.population import Reference
from ..queries import Query
from ..stages.reference import ReferenceSource
from .inputs import Inputs
from .method_units import Searched
from .reference_units import People, ReferenceUnits
from .search_units import Embedded, Search
from .sources import Side


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class ReferenceSources:
    """References of one plan. lists: what other engines showed, by reference and audited data set; predicted: units of
    labels of references' own data sets, by the reference's name; units: cells and references, made as they are
    asked for."""

    settings: Audit
    inputs: Inputs
    sources: Mapping[Side, Embedded]
    searches: Mapping[Side, Search]
    lists: Mapping[tuple[str, str], Search]
    predicted: Mapping[str, Mapping[str, tuple[str, ...]]]
    units: ReferenceUnits

    def of(
        self, reference: Reference, searched: Searched, levels: Mapping[str, tuple[str, ...]]
    ) -> dict[Query, ReferenceSource]:
        """What the solver needs of a reference, by query: its cells, those of the query's shares, or its own people."""
        name, queries = reference.name, self.inputs.queries
        predicted = self.predicted.get(name, searched.predicted)
        if reference.query_conditioned:
            side = Side("reference", name)
            pools = (self.searches[side] if reference.kind == "dataset" else searched.search).pools
            return {query: ReferenceSource(name=name, pool=pools[query].key, predicted=predicted) for query in queries}
        if reference.results is not None:
            pools = self.lists[name, searched.name].pools
            own = {query: pool.key for query, pool in pools.items()}
            return {query: ReferenceSource(name=name, pool=key, predicted=predicted) for query, key in own.items()}
        targets = self.inputs.targets.get(name)
        if targets is not None:
            stated = {query: targets[query.text] for query in queries if query.text in targets}
            return {
                query: ReferenceSource(
                    name=name,
                    units=self.units.stated(
                        f"{name}: {query.text}",
                        reference.kind,
                        levels,
                        searched.missing,
                        target.shares,
                        reference.size if target.size is None else target.size,
                    ),
                )
                for query, target in stated.items()
            }
        units = self._of_all_queries(reference, searched, levels, predicted)
        return dict.fromkeys(queries, ReferenceSource(name=name, units=units))

    def _of_all_queries(
        self,
        reference: Reference,
        searched: Searched,
        levels: Mapping[str, tuple[str, ...]],
        predicted: Mapping[str, tuple[str, ...]],
    ) -> dict[str, str]:
        """Keys of the units of a reference that is the same for all queries."""
        units = self.units
        if reference.kind in ("balanced", "shares"):
            shares, size = reference.shares, reference.size
            return units.stated(reference.name, reference.kind, levels, searched.missing, shares, size)
        is_own = reference.kind == "dataset"
        side = Side("reference", reference.name) if is_own else Side("dataset", searched.name)
        return units.counted(reference.name, self._people(side, predicted), levels, searched.missing)

    def likely(
        self, reference: Reference, searched: Searched, probabilities: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        """Keys of the units that count what probabilities say of the items, where a reference's people are of the same
        data set, and not of each pool."""
        is_stated = reference.kind in ("balanced", "shares")
        if is_stated or reference.dataset is not None or reference.query_conditioned or not probabilities:
            return ()
        return self.units.likely_of(self._people(Side("dataset", searched.name), searched.predicted), probabilities)

    def _people(self, side: Side, predicted: Mapping[str, tuple[str, ...]]) -> People:
        source = self.sources[side]
        return People(
            name=source.catalogue.name, catalogue=source.unit.key, size=source.catalogue.size, predicted=predicted
        )
