"""Each query's list in the engine's order, and the similarity of its items.

The order is that of the ranks where the list has them, else of the scores, else of the file. The similarity is what a
repair gives up:

- With scores it is the score, whose differences are the engine's own statement of what is lost.
- Without, an item at place p (from 1) has 1 / log2(1 + p), the discount of DCG (Jarvelin and Kekalainen 2002). It
  falls with the place and is positive, so that fractions of it mean something; the mean over a selection is then its
  discounted gain where all places are equally relevant. Places are ranks as they are in the list: whoever looked saw
  what is in a gap, such as an item that nobody labelled.

Worked example: ranks 0, 1, 3 are places 1, 2, 4, with similarities 1, 0.631 and 0.431.

>>> from jobs.lists.ranking import similarity_of
>>> similarity_of(np.array([1.0, 2.0, 4.0])).round(3).tolist()
[1.0, 0.631, 0.431]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..errors import UsageError
from ..words import numbered
from .entries import Entries


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Shown:
    """The lists of all queries, one after the other, each in the engine's order and without repetitions.

    Shapes:  queries (q,) texts in the order of the file; starts (q + 1,), where each one's list begins; items (d,) the
             distinct ids; codes (n,), positions in items; similarities and places (n,).
    """

    path: str
    queries: list[str]
    starts: np.ndarray
    items: pa.Array
    codes: np.ndarray
    similarities: np.ndarray
    places: np.ndarray
    remarks: tuple[str, ...]


def similarity_of(places: np.ndarray) -> np.ndarray:
    """1 / log2(1 + place): see above."""
    return np.asarray(1.0 / np.log2(1.0 + places))


def ranked(entries: Entries) -> Shown:
    """The lists in the engine's order.

    Raises:  UsageError for a negative rank, and for scores that rise with the rank.
    """
    asked, items = entries.queries.dictionary_encode(), entries.items.dictionary_encode()
    query, code = asked.indices.to_numpy(), items.indices.to_numpy()
    by_id = np.argsort(np.argsort(np.array(items.dictionary.to_pylist(), dtype=object)))[code]
    places = _engine_places(entries, query)
    order = np.lexsort((by_id, *([-entries.scores] if entries.scores is not None else []), places, query))
    kept, repeated = _first_sights(order, query, code)
    remarks = [*entries.remarks, *_order_remarks(entries), *_repetition_remarks(entries, order, repeated)]
    order = order[kept]
    if entries.ranks is not None:
        remarks += _tie_remarks(entries, order, query[order], places[order])
        remarks += _score_remarks(entries, order, query[order])
    numbers = places[order] if entries.ranks is not None else _places_within_query(query[order])
    return Shown(
        path=entries.path,
        queries=asked.dictionary.to_pylist(),
        starts=np.searchsorted(query[order], np.arange(len(asked.dictionary) + 1)),
        items=items.dictionary,
        codes=code[order],
        similarities=entries.scores[order] if entries.scores is not None else similarity_of(numbers),
        places=numbers,
        remarks=tuple(f"results {entries.path}: {remark}" for remark in remarks),
    )


def _engine_places(entries: Entries, query: np.ndarray) -> np.ndarray:
    """The engine's place (n,) of every row: of ranks from 1, equal where scores alone decide, else by the file."""
    if entries.ranks is None:
        return np.zeros(query.size) if entries.scores is not None else np.arange(query.size, dtype=float)
    negative = np.flatnonzero(entries.ranks < 0)
    if negative.size:
        row = int(negative[0])
        raise UsageError(
            f"rank: column {entries.columns['rank']!r} has {entries.ranks[row]:.15g} in {entries.place_of(row)}: ranks "
            "from 0 or from 1 are expected"
        )
    return np.asarray(entries.ranks + (entries.ranks.min() < 1))


def _first_sights(order: np.ndarray, query: np.ndarray, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of the order are an item's first in its query's list, and the others' positions in the order."""
    pairs = query[order].astype(np.int64) * (int(code.max()) + 1) + code[order]
    _, first = np.unique(pairs, return_index=True)
    is_first = np.zeros(order.size, dtype=bool)
    is_first[first] = True
    return is_first, np.flatnonzero(~is_first)


def _places_within_query(query: np.ndarray) -> np.ndarray:
    """1, 2, ... within each query's run of equal codes."""
    starts = np.searchsorted(query, query)
    return np.arange(query.size) - starts + 1.0


def _order_remarks(entries: Entries) -> Iterator[str]:
    if entries.ranks is None and entries.scores is None:
        yield "neither rank nor score is named: the order of the rows is taken for the engine's"
    if entries.scores is None:
        yield "without scores an item's similarity is 1 / log2(1 + place), the discount of DCG"


def _repetition_remarks(entries: Entries, order: np.ndarray, repeated: np.ndarray) -> Iterator[str]:
    if repeated.size:
        row = int(order[repeated].min())
        shows = "shows" if repeated.size == 1 else "show"
        yield (
            f"{numbered(repeated.size, 'row')} {shows} an item again for the same query, such as "
            f"{entries.items[row].as_py()!r:.80} in {entries.place_of(row)}: the first place counts"
        )


def _tie_remarks(entries: Entries, order: np.ndarray, query: np.ndarray, places: np.ndarray) -> Iterator[str]:
    is_tied = (query[1:] == query[:-1]) & (places[1:] == places[:-1])
    if is_tied.any():
        row = int(order[1:][is_tied].min())
        by = "by score, then by id" if entries.scores is not None else "by id"
        yield f"{numbered(int(is_tied.sum()), 'item')} share a rank with another, as in {entries.place_of(row)}: {by}"


def _score_remarks(entries: Entries, order: np.ndarray, query: np.ndarray) -> Iterator[str]:
    """A sentence where scores and ranks disagree.

    Raises:  UsageError where scores rise with the rank at most places: they are distances.
    """
    if entries.scores is None:
        return
    scores = entries.scores[order]
    steps = np.diff(scores)[query[1:] == query[:-1]]
    rising, falling = int((steps > 0).sum()), int((steps < 0).sum())
    if not rising:
        return
    step = int(np.flatnonzero((np.diff(scores) > 0) & (query[1:] == query[:-1]))[0])
    first, row = int(order[step]), int(order[step + 1])
    found = f"{scores[step + 1]:.6g} in {entries.place_of(row)} after {scores[step]:.6g} in row {first + 1}"
    if rising > falling:
        raise UsageError(
            f"score: column {entries.columns['score']!r} rises with the rank, {found}, and a similarity falls: leave "
            "score out, and the ranks give one"
        )
    yield (
        f"scores rise with the rank at {rising:,} of {steps.size:,} places, {found}: as_shown goes by rank, and top_k "
        "by score"
    )
