"""An engine's lists beside a data set: which of its items were shown for each query, and which have no labels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..config.audit import Audit
from ..config.checks import ALL
from ..datasets.catalogue import Catalogue
from ..errors import BadSetting, UsageError
from ..images import Reason
from ..lists.ranking import Shown
from ..queries import Query
from ..store.chunks import in_one
from ..store.schema import SKIPPED_ITEMS
from ..words import examples, numbered

# Ids that a sentence names as examples.
NAMED = 3


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class QueryList:
    """One query's items in the engine's order.

    Shapes:  rows (n,) of the catalogue; similarities and places (n,).
    """

    rows: np.ndarray
    similarities: np.ndarray
    places: np.ndarray

    @property
    def content(self) -> str:
        """SHA-256 of the list, given the catalogue."""
        parts = (self.rows.astype(np.int64), self.similarities.astype(np.float64), self.places.astype(np.float64))
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Listed:
    """The lists of all queries, of items that the catalogue has. remarks are sentences for the reader of the run."""

    of_query: Mapping[str, QueryList]
    unlabelled: pa.Array
    remarks: tuple[str, ...]

    def has(self, query: Query) -> bool:
        """Whether some labelled item was shown for it."""
        return query.text in self.of_query and bool(self.of_query[query.text].rows.size)


def listed(shown: Shown, catalogue: Catalogue, *, is_own: bool) -> Listed:
    """The lists without items that the catalogue lacks. is_own: the catalogue is made of the list.

    Raises:  UsageError where it lacks all of them.
    """
    row_of_item = pc.index_in(shown.items, value_set=in_one(catalogue.items["item_id"]))
    rows = row_of_item.fill_null(-1).to_numpy()
    unlabelled = shown.items.filter(pa.array(rows < 0))
    if len(unlabelled) == len(shown.items):
        raise UsageError(
            f"dataset {catalogue.name} has none of the items of {shown.path}, such as {shown.items[0].as_py()!r:.80}; "
            f"its ids are like {catalogue.items['item_id'][0].as_py()!r:.80}"
        )
    codes = rows[shown.codes]
    lists = {}
    for query, start, stop in zip(shown.queries, shown.starts, shown.starts[1:]):
        kept = start + np.flatnonzero(codes[start:stop] >= 0)
        lists[query] = QueryList(rows=codes[kept], similarities=shown.similarities[kept], places=shown.places[kept])
    return Listed(
        of_query=lists,
        unlabelled=unlabelled,
        remarks=(*shown.remarks, *(() if is_own else _label_remarks(shown, catalogue, rows, unlabelled))),
    )


def left_out(found: Listed) -> pa.Table:
    """The items that were shown and have no labels, as a table of skipped items."""
    count = len(found.unlabelled)
    reason, detail = pa.repeat(str(Reason.NO_LABEL), count), pa.repeat("shown, and not in the data set", count)
    return pa.table({"item_id": found.unlabelled, "reason": reason, "detail": detail}).cast(SKIPPED_ITEMS)


def expect_depths(settings: Audit, queries: Sequence[Query], lists: Mapping[str, Listed]) -> tuple[str, ...]:
    """Sentences on queries whose lists are shorter than a k.

    Raises:  UsageError for a k that is longer than every list.
    """
    return tuple(remark for name, found in lists.items() for remark in _depth_remarks(settings, queries, name, found))


def _depth_remarks(settings: Audit, queries: Sequence[Query], name: str, found: Listed) -> Iterator[str]:
    sizes = {query.text: found.of_query[query.text].rows.size for query in queries}
    empty = [query for query, size in sizes.items() if not size]
    if empty:
        yield f"dataset {name}: {numbered(len(empty), 'query', 'queries')} with no labelled item: {examples(empty)}"
    for k in settings.k:
        short = [query for query, size in sizes.items() if k != ALL and 0 < size < k]
        if len(short) + len(empty) == len(sizes):
            longest = max(sizes.values())
            raise BadSetting(f"k is {k}, but the longest list has {longest} labelled items: k must not be larger", "k")
        if short:
            which = ", ".join(f"{query!r:.80} has {sizes[query]}" for query in short[:NAMED])
            more = f" and {len(short) - NAMED:,} more" if len(short) > NAMED else ""
            yield (
                f"dataset {name}: {numbered(len(short), 'query', 'queries')} of {len(sizes):,} "
                f"{'has' if len(short) == 1 else 'have'} fewer than {k} labelled items, and "
                f"{'is' if len(short) == 1 else 'are'} not measured at k = {k}: {which}{more}"
            )
        full = [query for query, size in sizes.items() if size and (k in (ALL, size))]
        if full:
            yield (
                f"dataset {name}, k = {k}: {numbered(len(full), 'list')} of {len(sizes):,} "
                f"{'holds' if len(full) == 1 else 'hold'} no more than "
                "the items that are measured: nothing else could be chosen, so that nothing is repaired there"
            )


def missing_remarks(name: str, lists: Mapping[str, Listed], queries: Sequence[Query]) -> Iterator[str]:
    """Sentences on queries that the list of a reference lacks, or has no labelled item for.

    Raises:  UsageError where it has none of them.
    """
    for found in lists.values():
        yield from found.remarks
        without = [query.text for query in queries if not found.has(query)]
        if len(without) == len(queries):
            known = next(iter(found.of_query))
            raise UsageError(
                f"it shows nothing for the queries of the audit, such as {without[0]!r:.80}; it has {known!r:.80}"
            )
        if without:
            yield (
                f"reference {name}: {numbered(len(without), 'query', 'queries')} of {len(queries):,} without a list, "
                f"not compared with it: {examples(without)}"
            )


def _label_remarks(shown: Shown, catalogue: Catalogue, rows: np.ndarray, unlabelled: pa.Array) -> Iterator[str]:
    if len(unlabelled):
        yield (
            f"results {shown.path}: {len(unlabelled):,} of {len(shown.items):,} items that were shown are not in "
            f"dataset {catalogue.name}, and are left out: {examples(unlabelled.to_pylist())}"
        )
    is_shown = np.zeros(catalogue.size, dtype=bool)
    is_shown[rows[rows >= 0]] = True
    if not is_shown.all():
        others = catalogue.items["item_id"].take(pa.array(np.flatnonzero(~is_shown)[: NAMED + 1])).to_pylist()
        count = int((~is_shown).sum())
        more = f" and {count - NAMED:,} more" if count > NAMED else ""
        yield (
            f"dataset {catalogue.name}: {count:,} of {catalogue.size:,} items are in no list: "
            f"{', '.join(f'{one!r:.80}' for one in others[:NAMED])}{more}"
        )
