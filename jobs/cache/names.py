"""Names of a cache's files: when each was written, and, of an index, what it holds."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pyarrow as pa

from ..store import Store

INDEX, ROWS = ".index", ".rows"
# Hexadecimal digits of an index's own SHA-256 in its name.
NAME_DIGITS = 32
STAMP = "%Y%m%dT%H%M%S%fZ"


def now() -> str:
    """The moment, as names of files begin with it: in the order of time, and the same on every store."""
    return f"{datetime.now(UTC):{STAMP}}"


def moment_of(name: str) -> datetime:
    """When a file was named, by the writer's clock.

    Raises:  ValueError for a name that no cache has given.
    """
    stamp = name.rpartition("/")[2].partition("-")[0]
    return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)


def is_index(name: str) -> bool:
    """Whether a file is named as indexes are: others in a cache's folders are left alone."""
    try:
        moment_of(name)
    except ValueError:
        return False
    return name.endswith(INDEX)


def is_as_written(name: str, content: bytes | memoryview | pa.Buffer) -> bool:
    """Whether an index holds what its name says."""
    return hashlib.sha256(content).hexdigest()[:NAME_DIGITS] == name.rpartition("-")[2].removesuffix(INDEX)


def is_beside(name: str, data_file: str) -> bool:
    """Whether the data that an index names are in its own folder: a cleaning removes them, wherever they are."""
    folder, _, own = name.rpartition("/")
    return data_file.rpartition("/")[0] == folder and own != data_file.rpartition("/")[2] and data_file.endswith(ROWS)


def is_foreign_index(store: Store, name: str) -> bool:
    """Whether an index that cannot be opened is what was written, so that another version of this package wrote it."""
    try:
        return is_as_written(name, store.read(name))
    except OSError:
        return False
