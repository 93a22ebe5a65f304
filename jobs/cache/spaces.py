"""Spaces that this thread has open: an index is read and checked once, however many units look into it."""

from __future__ import annotations

import threading

from .place import CachePlace
from .space import Space

# Spaces that are kept open: an encoder's vectors, keys of pictures, and those of a second encoder of texts.
MOST_OPEN = 8


class _Opened(threading.local):
    def __init__(self) -> None:
        self.spaces: dict[tuple[str, str], Space] = {}


_opened = _Opened()


def space_of(place: CachePlace, folder: str) -> Space:
    """The space of a folder, as it was when it was last refreshed.

    Raises:  UsageError for a cache that cannot be reached.
    """
    key = place.address, folder
    if key not in _opened.spaces:
        if len(_opened.spaces) >= MOST_OPEN:
            _opened.spaces.clear()
        _opened.spaces[key] = Space(place.store(), folder)
    return _opened.spaces[key]
