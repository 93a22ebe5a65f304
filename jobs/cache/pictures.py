"""Keys of pictures by their bytes; which bytes a file holds is remembered by what a listing says of it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..images.errors import ImageError
from ..images.limits import ImageLimits
from ..images.reading import read_image, split_locator
from .keys import KEY_BYTES, content_key, from_bytes
from .place import CachePlace
from .spaces import space_of

FOLDER = "pictures"
# Files that are read at once: storage answers slowly, and hashing leaves other threads their turn.
READERS = 8
# A file that changed so shortly ago may change again without its time showing it: some clocks count whole seconds.
CLOCK_STEP_SECONDS = 2.0
# `image_fingerprint` by which every byte is read each time.
CONTENT = "content"


class Pictures:
    """Keys of the pictures below a root. told_by: as `image_fingerprint`, what may stand in for reading a file again:
    its name, its size and time of change too, or nothing."""

    def __init__(self, place: CachePlace, root: str, limits: ImageLimits, told_by: str) -> None:
        self._root, self._limits, self._told_by = root, limits, told_by
        self._known = space_of(place, f"{FOLDER}/{told_by}")

    def keys(self, locators: Sequence[str | None], *, is_reading: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Keys (n, 2) of the pictures, and which (n,) have one: not those that cannot be read.

        is_reading: whether files that nothing stands in for are read.
        """
        keys = np.zeros((len(locators), 2), dtype="<u8")
        is_known = np.zeros(len(locators), dtype=bool)
        stand_ins, has_one = self._stand_ins(locators)
        if has_one.any():
            self._known.refresh()
            is_found, found = self._known.take(stand_ins[has_one])
            places = np.flatnonzero(has_one)[is_found]
            if places.size:
                keys[places], is_known[places] = found, True
        if is_reading:
            unread = np.flatnonzero(~is_known)
            keys[unread], is_known[unread] = self.read([locators[place] for place in unread.tolist()])
            settled = unread[has_one[unread] & is_known[unread]]
            self._known.add(stand_ins[settled], keys[settled], {"keys of pictures by": self._told_by})
        return keys, is_known

    def read(self, locators: Sequence[str | None]) -> tuple[np.ndarray, np.ndarray]:
        """The same, of bytes that are read now."""
        with ThreadPoolExecutor(READERS) as threads:
            found = list(threads.map(self._key, locators))
        keys = from_bytes(b"".join(key or bytes(KEY_BYTES) for key in found))
        return keys, np.array([key is not None for key in found], dtype=bool)

    def _key(self, locator: str | None) -> bytes | None:
        try:
            return content_key(read_image(self._root, locator, self._limits))
        except ImageError:
            return None

    def _stand_ins(self, locators: Sequence[str | None]) -> tuple[np.ndarray, np.ndarray]:
        """Keys (n, 2) of what a listing says of the files, and which (n,) have one."""
        if self._told_by == CONTENT:
            return np.zeros((len(locators), 2), dtype="<u8"), np.zeros(len(locators), dtype=bool)
        before = time.time() - CLOCK_STEP_SECONDS
        states = [self._state(locator, before) for locator in locators]
        root = os.path.abspath(self._root)
        contents = [
            b"" if state is None else f"{root}\0{locator}\0{state}".encode("utf-8", "surrogateescape")
            for locator, state in zip(locators, states)
        ]
        keys = from_bytes(b"".join(map(content_key, contents)))
        return keys, np.array([state is not None for state in states], dtype=bool)

    def _state(self, locator: str | None, before: float) -> str | None:
        """What a listing says of a picture's file; None where that says nothing."""
        if not locator:
            return None
        if self._told_by == "names":
            return ""
        try:
            found = os.stat(os.path.join(self._root, split_locator(locator)[0]))
        except (OSError, ValueError):
            return None
        return f"{found.st_size} {found.st_mtime_ns}" if found.st_mtime < before else None
