"""What a problem may be made of, checked: k, names of columns, attributes, ids, and positions in its pool."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Required, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mprlib.arrays import FloatArray, IntArray, expect_length, finite
from mprlib.errors import InputError, shown
from mprlib.frames import matching
from mprlib.frames.columns import is_missing
from mprlib.label_error import LabelError
from mprlib.level_names import level_name
from mprlib.reference import Reference
from mprlib.selection import Selection
from mprlib.spelling import numbered

# Bytes of what ids are compared by, and the ids up to which a set of them takes less time than loading the compiler.
WORD, FEW_IDS = 4, 100_000


class Given(TypedDict, total=False):
    """What a problem may be made of: lists and arrays, and frames for labels and reference."""

    scores: Required[ArrayLike]
    labels: Required[Any]
    reference: Required[Any]
    k: Required[int]
    reference_weights: ArrayLike | None
    attributes: Mapping[str, Sequence[int | str]] | None
    embeddings: ArrayLike | None
    query: ArrayLike | None
    item_ids: ArrayLike | None
    label_names: Sequence[str] | None
    reference_size: float | None
    label_error: LabelError | Mapping[str, Any] | None


def checked_k(k: Any, n: int) -> int:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise InputError(f"k is {shown(k)}: a whole number is expected")
    if not 1 <= k <= n:
        raise InputError(f"k is {shown(int(k))}: it must lie between 1 and the pool's {numbered(n, 'item')}")
    return int(k)


def matchable(reference: Any) -> Any:
    """What the columns of a reference can be matched by."""
    if not isinstance(reference, Reference):
        return reference
    return None if reference.label_names is None else matching.Names(reference.label_names)


def divided(weights: FloatArray | None, rows: int) -> FloatArray:
    divided: FloatArray = np.full(rows, 1.0 / rows) if weights is None else weights / weights.sum()
    divided.flags.writeable = False
    return divided


def checked_names(names: Sequence[str] | None, width: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"label {column}" for column in range(width))
    names = matching.names_of("label_names", names)
    if len(names) != width:
        raise InputError(f"label_names has {numbered(len(names), 'name')}, labels has {numbered(width, 'column')}")
    if len(set(names)) != width:
        raise InputError("label_names repeats a name: each column needs its own")
    return names


def columns_by_attribute(
    attributes: Mapping[str, Sequence[int | str]] | None, names: tuple[str, ...]
) -> dict[str, tuple[int, ...]]:
    checked: dict[str, tuple[int, ...]] = {}
    owner: dict[int, str] = {}
    given = {} if attributes is None or (isinstance(attributes, Sequence) and not attributes) else attributes
    if not isinstance(given, Mapping):
        raise InputError(
            f"attributes is a {type(attributes).__name__}: a mapping of names to columns is expected, as in "
            "{'sex': [0, 1]}; frames with columns of levels go to Problem.from_frames"
        )
    for name, columns in given.items():
        if str(name) in checked:
            raise InputError(f"attributes has {str(name)!r} twice")
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise InputError(f"attributes[{name!r}] is {columns!r}: a list of columns is expected")
        if isinstance(columns, np.ndarray) and columns.ndim == 0:
            raise InputError(f"attributes[{name!r}] is {columns!r}: a list of columns is expected")
        places = tuple(_position(name, column, names) for column in columns)
        if not places:
            raise InputError(f"attributes[{name!r}] has no columns")
        for column in places:
            if column in owner:
                raise InputError(f"attributes[{name!r}] claims column {column}, which {owner[column]!r} has already")
            owner[column] = str(name)
        checked[str(name)] = places
    for column in range(len(names)):
        if column not in owner:
            if names[column] in checked:
                raise InputError(
                    f"attributes has {names[column]!r}, which is also the name of column {column} outside it"
                )
            checked[names[column]] = (column,)
    return checked


def _position(attribute: Any, column: Any, names: tuple[str, ...]) -> int:
    """A column given by its position or its name."""
    if isinstance(column, str):
        if column not in names:
            level = level_name(str(attribute), column)
            hint = f"; did you mean {level!r}?" if level in names else ""
            raise InputError(
                f"attributes[{attribute!r}] names the column {column!r}: labels has {', '.join(names)}{hint}"
            )
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
        raise InputError(f"attributes[{attribute!r}] holds {column!r}: positions or names of columns are expected")
    if not 0 <= column < len(names):
        raise InputError(f"attributes[{attribute!r}] names column {column}, labels has columns 0 to {len(names) - 1}")
    return int(column)


def checked_ids(ids: ArrayLike | None, n: int) -> NDArray[Any] | None:
    if ids is None:
        return None
    try:
        array = np.asarray(ids)
    except ValueError as error:
        raise InputError(f"item_ids cannot be read as a list of ids: {error}") from None
    if array.shape != (n,):
        raise InputError(f"item_ids has shape {array.shape}, ({n},) expected: one id per item")
    if array.dtype.kind not in "iuUS":
        absent = next((place for place, one in enumerate(array.tolist()) if is_missing(one)), None)
        if absent is not None:
            raise InputError(f"item_ids has no value for item {absent}: each item needs an id of its own")
        array = np.array(matching.names_of("item_ids", array.tolist()))
    if not _surely_differ(array) and len(set(array.tolist())) != n:
        distinct, counts = np.unique(array, return_counts=True)
        raise InputError(f"item_ids repeats {str(distinct[counts > 1][0])!r}: ids must be distinct")
    array = array.copy()
    array.flags.writeable = False
    return array


def _surely_differ(ids: NDArray[Any]) -> bool:
    """Whether the bytes of ids all differ: then the ids do. Texts are slow to sort."""
    is_slow = ids.size <= FEW_IDS and "numba" not in sys.modules
    if is_slow or ids.dtype.itemsize % WORD or not ids.dtype.itemsize:
        return False
    from mprlib.frames.text_kernel import are_distinct

    return are_distinct(np.ascontiguousarray(ids).view(np.uint32).reshape(ids.size, -1))


def checked_vectors(embeddings: Any, query: Any, n: int) -> tuple[FloatArray | None, FloatArray | None]:
    """Vectors of n items and of the query, as wide as each other, where they are given."""
    if embeddings is not None:
        embeddings = finite("embeddings", embeddings, ndim=2, dtype=None)
        expect_length("embeddings", embeddings, n, "labels has that many rows")
    if query is not None:
        query = finite("query", query, ndim=1, dtype=None)
        if embeddings is not None:
            expect_length("query", query, embeddings.shape[1], "embeddings has that many columns")
    return embeddings, query


def distinct_positions(items: Any, n: int) -> IntArray:
    """A selection, or its items, as distinct positions in a pool of n.

    Raises:  InputError when it is empty, repeats an item or leaves the pool.
    """
    if isinstance(items, Selection):
        if not items.items.size:
            raise InputError(f"items is a selection without items: {items.message or items.status}")
        items = items.items
    try:
        array = np.asarray(items)
    except ValueError as error:
        raise InputError(f"items cannot be read as positions in the pool: {error}") from None
    if array.ndim != 1 or array.size == 0:
        raise InputError("items is empty or not one-dimensional: a list of positions in the pool is expected")
    if array.dtype.kind not in "iu":
        raise InputError(f"items has dtype {array.dtype}: whole positions in the pool are expected")
    rising = np.sort(array)
    if rising[0] < 0 or rising[-1] >= n:
        outside = array[(array < 0) | (array >= n)][0]
        raise InputError(f"items holds {outside}, outside the pool's positions 0 to {n - 1}")
    if (rising[1:] == rising[:-1]).any():
        raise InputError("items repeats a position: each item can be returned once")
    return array.astype(np.intp)
