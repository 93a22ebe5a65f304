"""A file that is written in parts, counted and hashed on the way."""

from __future__ import annotations

import hashlib
from typing import IO


class HashedStream:
    """What is written to a file in parts, with its number of bytes and their SHA-256."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._sha256 = stream, hashlib.sha256()
        self.bytes, self.closed = 0, False

    def write(self, data: bytes | memoryview) -> int:
        """Append."""
        self._sha256.update(data)
        self.bytes += len(data)
        return self._stream.write(data)

    @property
    def sha256(self) -> str:
        """Of all that was written."""
        return self._sha256.hexdigest()
