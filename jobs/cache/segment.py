"""A segment: rows of numbers of one width, and an index that finds them by key.

Two files, neither of which ever changes:

- rows: the numbers, row after row, in the order in which they were written, which is about that of a catalogue, so that
  a shard of a later week reads neighbours;
- index: an Arrow file of sorted keys and the row of each, with a checksum of every block of rows. Its name holds the
  SHA-256 of its own bytes. It is written last: rows without an index do not count.
"""

from __future__ import annotations

import hashlib
import io
import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from ..store import Store
from ..store.chunks import in_one
from ..store.tables import arrow_file
from .keys import HALF, in_chunks, ordered
from .names import INDEX, NAME_DIGITS, ROWS, is_as_written, is_beside, now

# Bytes of rows under one checksum: what is read for a single row.
BLOCK_BYTES = 64 * 1024
CHECKSUM_BYTES = 8
# Neighbouring blocks that are read as one, and how many such reads an object store gets at once: 64 MB together.
BLOCKS_TOGETHER, RUNS_AT_ONCE = 64, 16
FACTS = b"segment"


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What an index says of its rows. replaces: segments that hold nothing else, by name."""

    rows_file: str
    count: int
    width: int
    numbers: str
    block_rows: int
    checksums: str
    replaces: Sequence[str] = ()

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.width * np.dtype(self.numbers).itemsize

    @property
    def bytes(self) -> int:
        """Bytes of all rows."""
        return self.count * self.row_bytes


def write_segment(
    store: Store, folder: str, keys: np.ndarray, chunks: Iterable[np.ndarray], *, replaces: Sequence[str] = ()
) -> str:
    """Put a segment in place; the name of its index.

    Shapes:  keys (n, 2), distinct; chunks of (some, width) rows, n of them in the order of the keys.
    """
    rows_file = f"{folder}/{now()}-{uuid.uuid4().hex}{ROWS}"
    sheet = _Sheet()
    with store.writing(rows_file) as stream:
        for data in sheet.blocks(chunks):
            stream.write(data)
    facts = Facts(
        rows_file=rows_file,
        count=sheet.count,
        width=sheet.width,
        numbers=sheet.numbers,
        block_rows=sheet.block_rows,
        checksums=b"".join(sheet.checksums).hex(),
        replaces=tuple(replaces),
    )
    index = _index_bytes(keys, facts)
    name = f"{folder}/{now()}-{hashlib.sha256(index).hexdigest()[:NAME_DIGITS]}{INDEX}"
    store.write(name, index)
    return name


class _Sheet:
    """Rows on their way into a file: their form, which the first chunk decides, and checksums of their blocks."""

    def __init__(self) -> None:
        self.count = self.width = 0
        self.block_rows = 1
        self.numbers = "float32"
        self.checksums: list[bytes] = []

    def blocks(self, chunks: Iterable[np.ndarray]) -> Iterator[bytes]:
        """The bytes of whole blocks, and of what is left at the end."""
        held = io.BytesIO()
        for chunk in chunks:
            if not self.count:
                self.width, self.numbers = chunk.shape[1], chunk.dtype.name
                self.block_rows = max(1, BLOCK_BYTES // max(1, self.width * chunk.dtype.itemsize))
            self.count += len(chunk)
            held.write(np.ascontiguousarray(chunk).tobytes())
            size = self.block_rows * self.width * chunk.dtype.itemsize
            whole = held.tell() // size * size
            if whole:
                data = held.getvalue()
                held = io.BytesIO()
                held.write(data[whole:])
                yield from self._with_checksums(data[:whole], size)
        if held.tell():
            yield from self._with_checksums(held.getvalue(), held.tell())

    def _with_checksums(self, data: bytes, size: int) -> Iterator[bytes]:
        for start in range(0, len(data), size):
            self.checksums.append(checksum(data[start : start + size]))
        yield data


def checksum(block: bytes | memoryview) -> bytes:
    """Of a block of rows."""
    return hashlib.blake2b(block, digest_size=CHECKSUM_BYTES).digest()


def _index_bytes(keys: np.ndarray, facts: Facts) -> memoryview:
    order = ordered(keys)
    columns = {"high": keys[order, 0], "low": keys[order, 1], "row": order.astype(np.uint32)}
    text = json.dumps({name: getattr(facts, name) for name in Facts.__slots__}, sort_keys=True)
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    return arrow_file(table.replace_schema_metadata({FACTS: text}))[0]


class Segment:
    """A segment, open for reading: its index is mapped, rows are read where they are asked for."""

    def __init__(self, store: Store, name: str, table: pa.Table, facts: Facts) -> None:
        self._store, self.name, self.facts = store, name, facts
        # Chunks of an index are one: it is one record batch.
        self._high, self._low, self._row = (in_one(table[column]).to_numpy() for column in ("high", "low", "row"))
        self._checksums = bytes.fromhex(facts.checksums)

    @property
    def keys(self) -> np.ndarray:
        """Keys (n, 2) in the order of the rows."""
        keys = np.empty((self.facts.count, 2), dtype=HALF)
        keys[self._row, 0], keys[self._row, 1] = self._high, self._low
        return keys

    def find(self, keys: np.ndarray) -> np.ndarray:
        """Rows (n,) of keys, -1 where there is none; fastest for keys in their order."""
        high, low = keys[:, 0], keys[:, 1]
        at = np.searchsorted(self._high, high)
        rows = np.full(len(keys), -1, dtype=np.int64)
        open_places = np.arange(len(keys))
        # Nearly always one step: two keys of a segment share 64 bits once in a million segments of a million keys.
        while open_places.size:
            open_places = open_places[at[open_places] < self._high.size]
            open_places = open_places[self._high[at[open_places]] == high[open_places]]
            is_found = self._low[at[open_places]] == low[open_places]
            rows[open_places[is_found]] = self._row[at[open_places[is_found]]]
            open_places = open_places[~is_found]
            at[open_places] += 1
        return rows

    def read(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows (n, width), ascending places (n,), and which (n,) are what was written; zeros stand for the others."""
        facts = self.facts
        blocks = np.unique(rows // facts.block_rows)
        values = np.zeros((len(rows), facts.width), dtype=facts.numbers)
        is_whole = np.zeros(len(rows), dtype=bool)
        for first, data in self._runs_of_blocks(blocks):
            start, known = first * facts.block_rows, np.frombuffer(data, dtype=facts.numbers)
            known = known[: known.size // facts.width * facts.width].reshape(-1, facts.width)
            good = self._good_blocks(first, data)
            low, high = np.searchsorted(rows, [start, start + len(good) * facts.block_rows])
            inside = rows[low:high] - start
            is_good = good[inside // facts.block_rows]
            values[low:high][is_good] = known[inside[is_good]]
            is_whole[low:high] = is_good
        return values, is_whole

    def damaged_blocks(self) -> int:
        """Blocks of rows that are not what was written; all of them are read."""
        blocks = np.arange(-(-self.facts.count // self.facts.block_rows))
        return sum(int((~self._good_blocks(first, data)).sum()) for first, data in self._runs_of_blocks(blocks))

    def _runs_of_blocks(self, blocks: np.ndarray) -> Iterator[tuple[int, bytes]]:
        """Neighbouring blocks together, by the first one; of what cannot be read nothing is whole."""
        edges = np.flatnonzero(np.diff(blocks) > 1) + 1
        runs = [run[some] for run in np.split(blocks, edges) for some in in_chunks(run.size, BLOCKS_TOGETHER)]
        size = self.facts.block_rows * self.facts.row_bytes
        for some in in_chunks(len(runs), RUNS_AT_ONCE):
            asked = [(int(run[0]) * size, min((int(run[-1]) + 1) * size, self.facts.bytes)) for run in runs[some]]
            found: Sequence[bytes]
            try:
                found = self._store.read_ranges(self.facts.rows_file, asked)
            except OSError:
                found = [b""] * len(asked)
            yield from zip((int(run[0]) for run in runs[some]), _whole_length(found, asked))

    def _good_blocks(self, first: int, data: bytes) -> np.ndarray:
        size = self.facts.block_rows * self.facts.row_bytes
        view = memoryview(data)
        return np.array(
            [
                checksum(view[start : start + size]) == self._checksum(first + number)
                for number, start in enumerate(range(0, len(data), size))
            ],
            dtype=bool,
        )

    def _checksum(self, block: int) -> bytes:
        return self._checksums[block * CHECKSUM_BYTES : (block + 1) * CHECKSUM_BYTES]


def _whole_length(found: Sequence[bytes], asked: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """What was read, filled up where a file ends too early: its last blocks are then found to be damaged."""
    return (data.ljust(stop - start, b"\0") for data, (start, stop) in zip(found, asked))


def open_segment(store: Store, name: str) -> Segment | None:
    """A segment by the name of its index; None for one that is gone, or is not what was written."""
    try:
        path = store.path(name) if store.is_local else store.node_copy(name)
        data = pa.py_buffer(store.read(name)) if path is None else pa.memory_map(str(path)).read_buffer()
        if not is_as_written(name, data):
            return None
        table = pyarrow.ipc.open_file(pa.BufferReader(data)).read_all()
        raw: dict[str, Any] = json.loads(table.schema.metadata[FACTS])
        facts = Facts(**raw)
        return Segment(store, name, table, facts) if is_beside(name, facts.rows_file) else None
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return None
