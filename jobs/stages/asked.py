"""Keys of what a process keeps for its next unit: the store's root and a key of the content."""

from __future__ import annotations

from typing import Generic, TypeVar

from ..store import Store

T = TypeVar("T")


class Asked(Generic[T]):
    """The argument of a function whose last results are kept: equal where the store and the key are. what: asked of
    it, which the key names."""

    def __init__(self, store: Store, key: str, what: T) -> None:
        self.store, self.what = store, what
        self._known_by = (str(store.root), key)

    def __hash__(self) -> int:
        return hash(self._known_by)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Asked) and self._known_by == other._known_by
