"""Keys of what an encoder sees of each item, part by part: what a cache knows vectors by."""

from __future__ import annotations

import uuid
from contextlib import suppress

import numpy as np

from ..cache.keys import keys_of_texts
from ..cache.pictures import CONTENT, Pictures
from ..cache.place import CachePlace
from ..cache.vectors import IMAGE, TEXT
from ..datasets.catalogue import KnownPart
from ..datasets.known_parts import cache_folder, part_key
from ..images.limits import ImageLimits

Keys = tuple[np.ndarray, np.ndarray]


def content_keys(part: KnownPart, column: str, place: CachePlace) -> Keys:
    """Keys (n, 2) of a part's texts or pictures, and which (n,) are known without reading pictures."""
    if column == TEXT:
        keys = _text_keys(part)
        return keys, np.ones(len(keys), dtype=bool)
    block, items = part.reader.block, part.read().items
    limits = ImageLimits(**block.image_limits.model_dump(mode="json"))
    told_by = block.image_fingerprint
    pictures = Pictures(place, str(part.summary.root), limits, told_by)
    # Where every byte is read at each start, these are as well.
    return pictures.keys(items[IMAGE].to_pylist(), is_reading=told_by == CONTENT)


def _text_keys(part: KnownPart) -> np.ndarray:
    """Of a part of files these are remembered beside its summary: the next plan reads no text again."""
    if part.place is None:
        return keys_of_texts(part.read().items[TEXT].to_pylist())
    file = cache_folder() / f"{part_key(part.reader.settings(), part.place)}.contents.npy"
    with suppress(OSError, ValueError):
        known: np.ndarray = np.load(file, mmap_mode="r", allow_pickle=False)
        if known.shape == (part.summary.rows, 2):
            return known
    keys = keys_of_texts(part.read().items[TEXT].to_pylist())
    with suppress(OSError):
        written = file.with_name(f"{uuid.uuid4().hex}.tmp")
        with written.open("wb") as stream:
            np.save(stream, keys, allow_pickle=False)
        written.replace(file)
    return keys
