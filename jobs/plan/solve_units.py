"""Units that solve: one query, one method and one class to constrain, compared with one reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from mprlib import registry

from ..config.audit import Audit
from ..config.checks import ALL
from ..config.entries import ClassEntry, MethodEntry
from ..methods import arrays_of
from ..queries import Query
from ..stages.label_errors import LabelErrors
from ..stages.queries import Queries
from ..stages.reference import ReferenceSource
from ..stages.solve import ProblemSize, Solve
from .method_units import Reading, Searched, in_key


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """A data set beside a reference: its search, the levels of both, where the reference is from by query, and what
    each method reads, by its place in the configuration. queries: the unit of those whose vectors are at hand.
    label_errors: how far the labels of both can be trusted."""

    searched: Searched
    levels: Mapping[str, tuple[str, ...]]
    sources: Mapping[Query, ReferenceSource]
    reads: Mapping[int, Reading]
    queries: Queries
    size: ProblemSize
    label_errors: LabelErrors


def method_targets(settings: Audit) -> Iterator[tuple[int, ClassEntry | None]]:
    """Each method's place once, or once for each class that it is to constrain."""
    for place, entry in enumerate(settings.methods):
        if not registry.METHODS[entry.name].is_constrained:
            yield place, None
            continue
        for target in settings.function_classes:
            is_possible = registry.METHODS[entry.name].takes(target.name)
            if target.display in entry.targets if entry.targets is not None else is_possible:
                yield place, target


def reads_vectors(method: MethodEntry) -> bool:
    """Whether a method, or its arrays, looks at the vectors of the pool's items."""
    return registry.METHODS[method.name].needs_embeddings or arrays_of(method.name).needs_embeddings(method.extras)


def solve_units(settings: Audit, compared: Compared) -> Iterator[Solve]:
    """The units of all queries, k, methods and classes to constrain.

    An engine's list that is shorter than k is not measured at it; in one of just k items nothing can be chosen.
    """
    is_list = settings.results is not None
    for query in compared.sources:
        if query not in compared.searched.search.pools:
            # Of what was shown nothing is labelled.
            continue
        size = compared.searched.search.pools[query].top
        for k in (size if one == ALL else one for one in settings.k):
            for place, target in method_targets(settings):
                if not is_list or 0 < k < size or (0 < k == size and target is None):
                    yield _solve_unit(settings, compared, query, k, place, target)


def _solve_unit(
    settings: Audit, compared: Compared, query: Query, k: int, place: int, target: ClassEntry | None
) -> Solve:
    searched, method, reads = compared.searched, settings.methods[place], compared.reads[place]
    pool, reference = searched.search.pools[query], compared.sources[query]
    sees_vectors = any(entry.over == "embedding" for entry in settings.function_classes)
    is_embedded = query.prompt in compared.queries.prompts
    aimed = f" for {target.display}" if target else ""
    where = [searched.name, *([reference.name] if len(settings.reference) > 1 else []), query.text]
    where += [f"k = {k}"] if len(settings.k) > 1 else []
    return Solve(
        title=": ".join([*where, f"{method.display}{aimed}"]),
        dataset=searched.name,
        catalogue=pool.catalogue,
        reference=reference,
        reference_vectors=searched.search.vectors if sees_vectors else (),
        levels=compared.levels,
        missing=searched.missing,
        pool=pool.key,
        query=query.text,
        prompt=query.prompt,
        k=k,
        method=in_key(method),
        target=target,
        function_classes=settings.function_classes,
        attention=settings.attention,
        group_attributes=settings.report.group_attributes,
        seed=settings.seed,
        predicted=searched.predicted,
        label_errors=compared.label_errors,
        asked=replace(reads.keys, variants=reads.variants[query].key if reads.variants else None),
        vectors=searched.search.vectors if sees_vectors or reads_vectors(method) else (),
        size=compared.size,
        are_draws=settings.results is not None and settings.results.draws and arrays_of(method.name).needs_list,
        queries=compared.queries.key if is_embedded and registry.METHODS[method.name].needs_query else None,
    )
