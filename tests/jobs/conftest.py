"""A small audit with vectors of its own, run without Ray, and one local Ray for all tests that need it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from jobs.config.runtime import Runtime
from jobs.run.ray import Cluster
from tests.tiny_clip import write_tiny_clip

PEOPLE = 120
DIMENSION = 8


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Two workers; runs inside a test connect to it instead of starting their own."""
    # Workers have credentials of their own: those of the object store that some tests start.
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ.setdefault(name, "testing")
    with Cluster(Runtime(workers=2)) as started:
        yield started


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tiny open_clip model: its JSON configuration and its weights."""
    return write_tiny_clip(tmp_path_factory.mktemp("tiny clip"))


def people(seed: int = 0) -> pd.DataFrame:
    """People whose vectors lean to one side by gender, so that retrieval has something to hide."""
    generator = np.random.default_rng(seed)
    gender = generator.choice(["female", "male"], PEOPLE)
    vectors = generator.standard_normal((PEOPLE, DIMENSION))
    vectors[:, 0] += np.where(gender == "male", 1.5, -1.5)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return pd.DataFrame(
        {
            "person": [f"p{number:03d}" for number in range(PEOPLE)],
            "gender": gender,
            "age": generator.integers(18, 90, PEOPLE),
            "job": generator.choice(["nurse", "chef"], PEOPLE),
            "weight": generator.uniform(0.5, 2.0, PEOPLE),
            "embedding": list(vectors.astype(np.float32)),
        }
    )


def settings(**changes: Any) -> dict[str, Any]:
    """Raw settings of the small audit."""
    base: dict[str, Any] = {
        "name": "small",
        "dataset": {
            "kind": "table",
            "path": "people.parquet",
            "id": "person",
            "relevance": "job",
            "weight": "weight",
            "attributes": {"gender": {}, "age": {"bins": [30, 60]}},
        },
        "encoder": {"kind": "precomputed", "column": "embedding"},
        "queries": {"vectors": "queries.parquet"},
        "prefilter": {"top": 100},
        "shard_items": 50,
        "k": [10],
        "function_classes": ["linear", "groups"],
        "methods": ["top_k", {"mopr": {"points": 4, "targets": ["linear"]}}, {"mmr": {"values": [0.0, 0.5]}}],
        # Tests of Ray say `runtime={}`.
        "runtime": {"executor": "local"},
    }
    return base | changes


def write_audit(
    folder: Path, table: pd.DataFrame | None = None, queries: list[str] | None = None, **changes: Any
) -> Path:
    """The configuration file of a small audit whose inputs lie beside it."""
    queries = ["nurse", "chef"] if queries is None else queries
    (people() if table is None else table).to_parquet(folder / "people.parquet")
    vectors = np.random.default_rng(7).standard_normal((len(queries), DIMENSION))
    vectors[:, 0] += 2.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    pd.DataFrame({"query": queries, "vector": list(vectors.astype(np.float32))}).to_parquet(folder / "queries.parquet")
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(settings(**changes), sort_keys=False), encoding="utf-8")
    return path


@pytest.fixture
def audit_file(tmp_path: Path) -> Path:
    """The small audit, written."""
    return write_audit(tmp_path)
