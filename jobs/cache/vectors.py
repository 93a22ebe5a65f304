"""An encoder that embeds only what the cache lacks, and leaves there what it embeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from ..encoders import Encoder, ImageEncoder
from ..encoders.encoded import EncodedImages
from ..images.errors import ImageError
from ..images.limits import ImageLimits
from ..store.keys import digest
from ..words import numbered
from .keys import keys_of_texts
from .pictures import CONTENT, Pictures
from .place import CachePlace
from .space import Space
from .spaces import space_of

VECTORS = "vectors"
TEXT, IMAGE = "text", "image"
Found = TypeVar("Found")


def vectors_folder(column: str, encoder: Mapping[str, Any], version: int, limits: Mapping[str, Any] | None) -> str:
    """Where vectors are kept that this encoder makes of such a column.

    encoder: its key, with its weights and precision; version: of the code that embeds; limits: of pictures, since what
    one limit lets through another does not.
    """
    return f"{VECTORS}/{digest([version, column, dict(encoder), limits])}"


class RememberingEncoder:
    """An encoder (`ImageEncoder`) before which the cache is asked. The model is loaded where something is missing.

    reused: texts or pictures whose vectors were in the cache. fault: a sentence on what is wrong with the cache, or
    empty; the vectors are then made without it.
    """

    def __init__(
        self,
        loaded: Callable[[], Encoder | None],
        place: CachePlace,
        *,
        encoder: Mapping[str, Any],
        version: int,
        told_by: str = CONTENT,
    ) -> None:
        self._loaded, self._place = loaded, place
        self._key, self._version, self._told_by = dict(encoder), version, told_by
        self.reused = 0
        self.fault = ""

    def close(self) -> None:
        """The encoder is its owner's to close."""

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (n, d) float32 of the texts."""
        keys = keys_of_texts(texts)
        space = self._space(TEXT, None)
        is_found, known = self._find(space, keys)
        missing = np.flatnonzero(~is_found)
        if not missing.size and len(texts):
            return known
        made = self._encoder.encode([texts[place] for place in missing.tolist()])
        self._add(space, keys[missing], made, TEXT, None)
        return _in_asked_order(is_found, known, made)

    def encode_images(self, root: str, locators: Sequence[str | None], limits: ImageLimits) -> EncodedImages:
        """Vectors of the pictures that can be read, and why the others cannot."""
        asked = limits.model_dump(mode="json")
        pictures = self._without_failing(lambda: Pictures(self._place, root, limits, self._told_by))
        keys, has_key = self._keys(pictures, locators)
        space = self._space(IMAGE, asked)
        is_found = np.zeros(len(locators), dtype=bool)
        is_found[has_key], known = self._find(space, keys[has_key])
        missing = np.flatnonzero(~is_found)
        if not missing.size and len(locators):
            return EncodedImages(vectors=known, positions=np.arange(len(locators)), faults={})
        encoder = cast(ImageEncoder, self._encoder)
        made = encoder.encode_images(root, [locators[place] for place in missing.tolist()], limits)
        places = missing[made.positions]
        if pictures is not None:
            # What was embedded was read after its key: a file that has changed since has a key of other bytes.
            read = self._without_failing(lambda: pictures.read([locators[place] for place in places.tolist()]))
            if read is not None:
                same, is_same = read
                is_same = is_same & has_key[places] & (same == keys[places]).all(axis=1)
                self._add(space, keys[places[is_same]], made.vectors[is_same], IMAGE, asked)
        return _with_known(is_found, known, missing, made)

    @cached_property
    def _encoder(self) -> Encoder:
        encoder = self._loaded()
        assert encoder is not None
        return encoder

    def _space(self, column: str, limits: Mapping[str, Any] | None) -> Space | None:
        folder = vectors_folder(column, self._key, self._version, limits)
        return self._without_failing(lambda: space_of(self._place, folder))

    def _keys(self, pictures: Pictures | None, locators: Sequence[str | None]) -> tuple[np.ndarray, np.ndarray]:
        found = None if pictures is None else self._without_failing(lambda: pictures.keys(locators))
        return found or (np.zeros((len(locators), 2), dtype="<u8"), np.zeros(len(locators), dtype=bool))

    def _find(self, space: Space | None, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        def take() -> tuple[np.ndarray, np.ndarray]:
            assert space is not None
            space.refresh()
            before = space.damaged_rows
            found = space.take(keys)
            if space.damaged_rows > before:
                damaged = numbered(space.damaged_rows - before, "vector")
                self.fault = f"{damaged} in {space.folder} are not what was written, and are made anew"
            return found

        found = None if space is None else self._without_failing(take)
        is_found, known = found or (np.zeros(len(keys), dtype=bool), np.empty((0, 0), dtype=np.float32))
        self.reused += int(is_found.sum())
        return is_found, known

    def _add(
        self, space: Space | None, keys: np.ndarray, made: np.ndarray, column: str, limits: Mapping[str, Any] | None
    ) -> None:
        about = {"column": column, "encoder": self._key, "image_limits": limits, "version": self._version}
        if space is not None:
            self._without_failing(lambda: space.add(keys, made, about))

    def _without_failing(self, act: Callable[[], Found]) -> Found | None:
        """What an act on the cache gives; None where it fails, which costs time and must not cost a unit."""
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - every file system has errors of its own
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            self.fault = f"it cannot be used now, and the run goes on without it: {reason}"
            return None


def _in_asked_order(is_found: np.ndarray, known: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Vectors in the order in which they were asked for."""
    vectors = np.empty((len(is_found), made.shape[1]), dtype=np.float32)
    vectors[~is_found] = made
    if is_found.any():
        vectors[is_found] = known
    return vectors


def _with_known(is_found: np.ndarray, known: np.ndarray, missing: np.ndarray, made: EncodedImages) -> EncodedImages:
    """Vectors of all pictures that have one, in the order in which they were asked for."""
    places = missing[made.positions]
    has_vector = is_found.copy()
    has_vector[places] = True
    vectors = known if not places.size and is_found.any() else made.vectors
    if places.size and is_found.any():
        order = np.argsort(np.concatenate([np.flatnonzero(is_found), places]))
        vectors = np.concatenate([known, made.vectors])[order]
    faults: dict[int, ImageError] = {int(missing[at]): fault for at, fault in made.faults.items()}
    return EncodedImages(vectors=vectors, positions=np.flatnonzero(has_vector), faults=faults)
