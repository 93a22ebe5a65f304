"""Damaged and odd data files through `mpr-audit plan`, some through the stages that read them: one line each."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest
import yaml

from jobs.audit import prepare
from jobs.cli import main
from jobs.config.file import read_config
from jobs.stages.execute import commit, execute
from jobs.store import Store
from tests.fuzz import damage, data_sets

pytestmark = pytest.mark.system

CASES_EACH = 400
# Cases tried without --full, of which some can be planned and some not; and the least share of either among all.
LEAST_CASES, LEAST_SHARE = 80, 0.05
# Of the audits that can be planned, one in so many also computes its vectors.
EMBEDDED_ONE_IN = 4
# Longer, and a person wonders whether the command still does anything.
LONGEST_SECONDS = 20.0


def write_case(folder: Path, kind: str, seed: int) -> Path:
    """A configuration whose data set, and perhaps queries, were damaged by that seed."""
    random = Random(f"{kind} {seed}")
    block = data_sets.WRITERS[kind](folder / "data", random)
    found = sorted(path for path in (folder / "data").rglob("*") if path.is_file()) or sorted(folder.glob("data.*"))
    has_vectors = kind == "clip_retrieval" or (kind in ("json_lines", "parquet") and random.random() < 0.5)
    if has_vectors:
        encoder, queries = {"kind": "precomputed"}, {"vectors": "queries.parquet"}
        data_sets.write_query_vectors(folder / "queries.parquet", random)
        found.append(folder / "queries.parquet")
    else:
        encoder, queries = {"kind": "sentence"}, {"file": "queries.txt"}
        block["text"] = "{sex}, {age}"
        data_sets.write_queries(folder / "queries.txt", random)
        found.append(folder / "queries.txt")
    for _ in range(random.choice([0, 0, 1, 1, 1, 2])):
        file = random.choice([*found[:-1] * 4, found[-1]])
        change = random.choice(damage.TO_TEXT if file.suffix in (".csv", ".jsonl", ".txt") else damage.TO_BYTES)
        file.write_bytes(change(file.read_bytes(), random))
    block["missing"] = random.choice(["level", "drop"])
    settings = {"dataset": block, "encoder": encoder, "queries": queries, "k": 1, "shard_items": 10}
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", data_sets.WRITERS)
def test_whatever_a_file_holds_is_planned_or_refused_in_a_line(kind, tmp_path, capsys, cases):
    codes = []
    for seed in range(max(LEAST_CASES, cases(CASES_EACH))):
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = write_case(folder, kind, seed)
        started = time.monotonic()
        code = main(["plan", str(path)])
        seconds = time.monotonic() - started
        said = capsys.readouterr().err
        assert code in (0, 2), (kind, seed, said)
        assert len(said.splitlines()) == (1 if code else 0), (kind, seed, said)
        assert "Traceback" not in said
        assert seconds < LONGEST_SECONDS, (kind, seed, seconds)
        codes.append(code)
        if code == 0 and seed % EMBEDDED_ONE_IN == 0:
            compute_vectors(path)
    # The damage is neither always fatal nor never.
    least = LEAST_SHARE if len(codes) == CASES_EACH else 0.0
    assert least < codes.count(0) / len(codes) < 1 - least, codes.count(0)


def compute_vectors(path: Path) -> None:
    """The catalogues written, and the vectors that items have already; a unit that fails says so in a sentence."""
    _, plan = prepare(read_config(path))
    store = Store(str(path.parent / "run"))
    for unit in plan.units:
        if unit.stage == "items":
            commit(unit, store, plan.made[unit.key](), 0.0)
        elif unit.stage == "embed" and unit.column in ("vector", "vector_row"):
            message = execute(unit, store, lambda: None).message
            assert "Traceback" not in message
            assert not message or "vector" in message, message
