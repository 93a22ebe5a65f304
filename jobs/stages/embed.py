"""Items to unit vectors; items whose pictures cannot be read to a list with reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa

from ..datasets.vector_files import VectorFiles
from ..encoders import Encoder, ImageEncoder
from ..images import Reason
from ..images.limits import ImageLimits
from ..store import Store
from ..store.schema import SKIPPED_ITEMS
from .items import ITEMS, Items
from .unit import Cost, EncodingUnit, Tables, outside_key, reads
from .vectors import BYTES_PER_NUMBER, EXTENT, LARGEST_LENGTH, Shard, shard_table, to_matrix

# Mapped, not decoded: searches read vectors again and again.
VECTORS, SKIPPED = "vectors.arrow", "skipped"
# Columns of items that are embedded, and seconds of one core for an item: a text of twenty words through the
# sentence encoder, a picture through ViT-B/32 on a CPU; for an item with a vector that is there already, and for a
# number of that.
TEXT, IMAGE, VECTOR, VECTOR_ROW = "text", "image", "vector", "vector_row"
SECONDS_PER_ITEM = {TEXT: 0.005, IMAGE: 0.1}
SECONDS_PER_GIVEN, SECONDS_PER_NUMBER = 0.3e-6, 20e-9
# Copies of a shard's vectors that a worker holds while it writes them.
COPIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Embed(EncodingUnit):
    """The vectors of rows [start, stop) of a part of a catalogue, with their item ids in the same file.

    items is the hash of what is embedded of the part, column where it is: `image`, `text`, or `vector`, which is used
    as given but for being stored as float32 or float16, or `vector_row`, the place of such a vector in `files`, which
    are brought to the widest of their numbers. encoder: its key; limits: what a picture may cost; root: where
    pictures are kept; width: numbers of a vector, as far as that is known before; image_fingerprint: what may stand in
    for reading a picture again, where vectors are looked for in a cache.

    The key names what is embedded, not the labels beside it nor the place of its files: another bin or attribute, or
    a folder that has moved, leaves the vectors as they are. A unit fails for a vector or text of an item that gives
    nothing finite.
    """

    stage: ClassVar[str] = "embed"
    version: ClassVar[int] = 3
    seconds: ClassVar[float] = 0.02
    embeds_items: ClassVar[bool] = True
    numeric_code: ClassVar[tuple[str, ...]] = (
        "jobs.encoders",
        "jobs.images",
        "jobs.datasets.vector_files",
        "jobs.stages.vectors",
    )

    items: str
    column: str
    encoder: Mapping[str, Any]
    storage: str
    start: int
    stop: int
    limits: Mapping[str, Any] | None = None
    numbers: str | None = None
    part: str = reads(in_key=False)
    root: str | None = outside_key(None)
    files: Mapping[str, Any] | None = outside_key(None)
    width: int = outside_key()
    image_fingerprint: str = outside_key("content")

    @property
    def rows(self) -> int:
        """Items of the shard."""
        return self.stop - self.start

    @property
    def vector_bytes(self) -> int:
        """Bytes of one stored vector."""
        return self.width * BYTES_PER_NUMBER[self.storage]

    def encode(self, store: Store, encoder: Encoder | None) -> Tables:
        shard = store.read_rows(Items.file(self.part, ITEMS), self.start, self.stop, ["item_id", self.column])
        if self.column == IMAGE:
            return self._embed_images(shard, cast(ImageEncoder, encoder))
        if self.column == VECTOR_ROW:
            return self._copy_vectors(shard)
        if self.column == VECTOR:
            vectors = to_matrix(shard[VECTOR])
        else:
            vectors = cast(Encoder, encoder).encode(shard[TEXT].to_pylist())
        return {
            VECTORS: shard_table(shard["item_id"], vectors, self.storage),
            SKIPPED: SKIPPED_ITEMS.empty_table(),
        }

    def cost(self) -> Cost:
        return Cost(
            seconds=self.rows * SECONDS_PER_ITEM.get(self.column, SECONDS_PER_GIVEN + self.width * SECONDS_PER_NUMBER),
            memory_bytes=COPIES * self.rows * self.vector_bytes,
            disk_bytes=self.rows * self.vector_bytes,
        )

    def _embed_images(self, shard: pa.Table, encoder: ImageEncoder) -> Tables:
        limits, ids = ImageLimits(**(self.limits or {})), shard["item_id"]
        encoded = encoder.encode_images(str(self.root), shard[IMAGE].to_pylist(), limits)
        kept = ids.take(pa.array(encoded.positions))
        faults = [
            {"item_id": ids[position].as_py(), "reason": str(fault.reason), "detail": fault.detail}
            for position, fault in sorted(encoded.faults.items())
        ]
        return {
            VECTORS: shard_table(kept, encoded.vectors, self.storage, encoded.positions, shard.num_rows),
            SKIPPED: pa.Table.from_pylist(faults, schema=SKIPPED_ITEMS),
        }

    def _copy_vectors(self, shard: pa.Table) -> Tables:
        """Vectors of mapped files; nobody has looked at them before."""
        vectors = VectorFiles(**(self.files or {})).take(shard[VECTOR_ROW].to_numpy())
        with np.errstate(over="ignore"):
            vectors = vectors.astype(self.storage, copy=False)
        is_finite, has_direction = np.isfinite(vectors).all(axis=1), vectors.any(axis=1)
        places = np.flatnonzero(is_finite & has_direction)
        ids = shard["item_id"]
        faults = [
            {
                "item_id": ids[row].as_py(),
                "reason": str(Reason.NO_DIRECTION if is_finite[row] else Reason.NOT_FINITE),
                "detail": f"in {self.storage}",
            }
            for row in np.flatnonzero(~(is_finite & has_direction)).tolist()
        ]
        kept = ids.take(pa.array(places))
        return {
            VECTORS: shard_table(kept, vectors[places], self.storage, places, shard.num_rows),
            SKIPPED: pa.Table.from_pylist(faults, schema=SKIPPED_ITEMS),
        }


def open_shard(store: Store, key: str, width: int | None = None, storage: str | None = None) -> Shard:
    """The shard that a unit wrote.

    Raises:  ValueError naming the shard when its vectors have not that many numbers, or another dtype.
    """
    table = store.map_table(Embed.file(key, VECTORS))
    vectors = to_matrix(table["vector"])
    if width is not None and vectors.shape[1] != width:
        raise ValueError(f"shard {key}: item vectors have {vectors.shape[1]} numbers, query vectors {width}")
    if storage is not None and vectors.dtype != storage:
        raise ValueError(f"shard {key}: vectors are {vectors.dtype}, the configuration stores {storage}")
    return Shard(
        key=key,
        ids=table["item_id"],
        vectors=vectors,
        places=table["place"].to_numpy(),
        extent=int(table.schema.metadata[EXTENT]),
        largest_length=float(table.schema.metadata[LARGEST_LENGTH]),
    )
