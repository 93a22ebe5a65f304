"""Names of contents: 128 bits of what an encoder sees of an item, as two numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

# 128 bits: no two of a thousand billion items share a key.
KEY_BYTES = 16
# A key (n, 2) as two numbers, the first of which decides the order.
HALF = np.dtype("<u8")


def content_key(content: bytes) -> bytes:
    """The key of some bytes."""
    return hashlib.blake2b(content, digest_size=KEY_BYTES).digest()


def keys_of(contents: Iterable[bytes]) -> np.ndarray:
    """Keys (n, 2) of contents."""
    return from_bytes(b"".join(map(content_key, contents)))


def keys_of_texts(texts: Sequence[str]) -> np.ndarray:
    """Keys (n, 2) of texts."""
    return keys_of(text.encode() for text in texts)


def from_bytes(keys: bytes) -> np.ndarray:
    """Keys (n, 2) that were written one after the other."""
    return np.frombuffer(keys, dtype=HALF).reshape(-1, 2)


def ordered(keys: np.ndarray) -> np.ndarray:
    """Places (n,) of keys in their order; those of equal keys in the order of their places."""
    return np.lexsort((keys[:, 1], keys[:, 0]))


def first_of_each(keys: np.ndarray) -> np.ndarray:
    """Places, ascending, of the first of each distinct key."""
    order = ordered(keys)
    sorted_keys = keys[order]
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = (sorted_keys[1:] != sorted_keys[:-1]).any(axis=1)
    return np.sort(order[is_first])


def in_chunks(count: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` that make up `count`."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
