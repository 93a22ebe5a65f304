"""Items and queries to unit vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.encoders import Encoder
from jobs.stages.vectors import shard_table, to_column, to_matrix
from jobs.store import Store, unit_file


def embed(spec: Mapping[str, Any], store: Store, encoder: Encoder | None) -> dict[str, pa.Table]:
    """Vectors of one shard of a catalogue, with their item ids in the same file.

    An encoder of None means that the catalogue holds the vectors; they are used as given, but for
    being stored in the configuration's dtype.
    Raises:  ValueError naming the item whose vector is not finite.
    """
    name, wanted = unit_file("catalogue", spec["catalogue"], "items"), "vector" if encoder is None else "text"
    shard = store.read_rows(name, spec["start"], spec["stop"], ["item_id", wanted])
    if encoder is None:
        vectors = to_matrix(shard["vector"])
    else:
        vectors = encoder.encode(shard["text"].to_pylist())
    return {"vectors": shard_table(shard["item_id"], vectors, spec["storage"])}


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
