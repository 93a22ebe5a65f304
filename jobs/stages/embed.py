"""Items and queries to unit vectors; items whose pictures cannot be read to a list with reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.datasets.vector_files import VectorFiles
from jobs.encoders import Encoder, ImageEncoder
from jobs.images import Reason
from jobs.images.limits import ImageLimits
from jobs.stages.reading.vectors import shard_table, to_column, to_matrix
from jobs.store import Store, unit_file
from jobs.store.schema import SKIPPED_ITEMS


def embed(spec: Mapping[str, Any], store: Store, encoder: Encoder | None) -> dict[str, pa.Table]:
    """Vectors of one shard of a catalogue, with their item ids in the same file.

    spec's `reads` is the catalogue's column that is embedded: image, text, or vector, which is used as given
    but for being stored in the configuration's dtype, or vector_row, the place of such a vector in `files`. Items
    whose pictures cannot be read, or whose vectors in files are of no use, have no vector and stand in the table
    `skipped`; `root` and `limits` say where pictures lie and what they may cost.
    Raises:  ValueError naming the item whose vector or text gives nothing finite.
    """
    name, reads = unit_file("catalogue", spec["catalogue"], "items"), spec["reads"]
    shard = store.read_rows(name, spec["start"], spec["stop"], ["item_id", reads])
    if reads == "image":
        return _embed_images(spec, shard, encoder)
    if reads == "vector_row":
        return _copy_vectors(spec, shard)
    vectors = to_matrix(shard["vector"]) if reads == "vector" else encoder.encode(shard["text"].to_pylist())
    return {"vectors": shard_table(shard["item_id"], vectors, spec["storage"]), "skipped": SKIPPED_ITEMS.empty_table()}


def _embed_images(spec: Mapping[str, Any], shard: pa.Table, encoder: ImageEncoder) -> dict[str, pa.Table]:
    limits, ids = ImageLimits(**spec["limits"]), shard["item_id"]
    encoded = encoder.encode_images(spec["root"], shard["image"].to_pylist(), limits)
    kept = ids.take(pa.array(encoded.positions))
    faults = [
        {"item_id": ids[position].as_py(), "reason": str(fault.reason), "detail": fault.detail}
        for position, fault in sorted(encoded.faults.items())
    ]
    return {
        "vectors": shard_table(kept, encoded.vectors, spec["storage"], encoded.positions, shard.num_rows),
        "skipped": pa.Table.from_pylist(faults, schema=SKIPPED_ITEMS),
    }


def _copy_vectors(spec: Mapping[str, Any], shard: pa.Table) -> dict[str, pa.Table]:
    """Vectors that lie in mapped files; nobody has looked at them before."""
    vectors = VectorFiles(**spec["files"]).take(shard["vector_row"].to_numpy())
    with np.errstate(over="ignore"):
        vectors = vectors.astype(spec["storage"], copy=False)
    is_finite, has_direction = np.isfinite(vectors).all(axis=1), vectors.any(axis=1)
    places = np.flatnonzero(is_finite & has_direction)
    ids = shard["item_id"]
    faults = [
        {
            "item_id": ids[row].as_py(),
            "reason": str(Reason.NO_DIRECTION if is_finite[row] else Reason.NOT_FINITE),
            "detail": f"in {spec['storage']}",
        }
        for row in np.flatnonzero(~(is_finite & has_direction)).tolist()
    ]
    kept = ids.take(pa.array(places))
    return {
        "vectors": shard_table(kept, vectors[places], spec["storage"], places, shard.num_rows),
        "skipped": pa.Table.from_pylist(faults, schema=SKIPPED_ITEMS),
    }


def embed_queries(spec: Mapping[str, Any], store: Store, encoder: Encoder) -> dict[str, pa.Table]:
    """Vectors of the prompts, one a row, in the order of the queries."""
    return {"vectors": query_table(spec["prompts"], encoder.encode(list(spec["prompts"])))}


def embed_texts(spec: Mapping[str, Any], store: Store, encoder: Encoder) -> dict[str, pa.Table]:
    """Vectors of the texts that a method is told of, one a row, in their order."""
    vectors = encoder.encode(list(spec["texts"]))
    return {"vectors": pa.table({"text": pa.array(spec["texts"], pa.string()), "vector": to_column(vectors)})}


def embed_debiased(spec: Mapping[str, Any], store: Store, encoder: Encoder) -> dict[str, pa.Table]:
    """Vectors of the prompts behind a method's tokens, one a row, in the order of the queries.

    Raises:  ValueError for tokens that the encoder's text tower cannot read.
    """
    tokens = to_matrix(store.read_table(unit_file("tokens", spec["tokens"], "tokens"))["vector"])
    return {"vectors": query_table(spec["prompts"], encoder.encode_behind(list(spec["prompts"]), tokens))}


def query_table(prompts: list[str], vectors: np.ndarray) -> pa.Table:
    """What the queries stage writes."""
    return pa.table({"prompt": pa.array(prompts, pa.string()), "vector": to_column(vectors)})
