"""Configurations with mistakes in them: `plan` ends with 0, 2 or 3, says why in one line, and soon."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from jobs.cli import main
from tests.fuzz.mutations import mutated
from tests.jobs.conftest import people, settings, write_audit
from tests.jobs.datasets import layouts
from tests.pages import PAGES, ROOT, blocks

pytestmark = pytest.mark.slow

CASES = 1_000
BATCH = 50
LONGEST_SECONDS = 20
# Every method and class that a table with vectors allows, and settings of all kinds.
EVERYTHING = {
    "seed": 7,
    "reference": [
        {"name": "people", "kind": "population"},
        {"name": "even", "kind": "balanced", "size": 500},
        {"name": "stated", "kind": "shares", "shares": {"gender": {"female": 0.5, "male": 0.5}}},
    ],
    "encoder": {"kind": "precomputed", "column": "embedding", "text": {"kind": "sentence", "batch": 32}},
    "k": [5, 10],
    "function_classes": [
        "linear",
        {"tree": {"depth": 2, "signed": True}},
        {"forest": {"trees": 10, "seed": 3}},
        {"rkhs": {"kernel": "gaussian", "bandwidth": 0.5}},
        {"groups": {"max_attributes": 1, "over": ["gender"]}},
    ],
    "methods": [
        "top_k",
        {"mopr": {"points": 4, "targets": ["linear"]}},
        {"mopr_integer": {"values": [0.1], "nodes": 100}},
        {"mopr_paper": {"points": 2, "programme": "reduced", "targets": ["linear"]}},
        {"mmr": {"values": [0.0, 0.5], "spread": "nearest"}},
        {"pbm": {"points": 2, "attributes": ["gender"], "seed": 1}},
        {"clip_clip": {"values": [1, 3]}},
        {"paths": {"trade_off": 0.2, "dimensions": 3}},
        {"apportionment": {"rule": "dhondt"}},
        {"dpp": {"weight": 1.5}},
        {"fair_top_k": {"group": "gender=female", "significance": 0.2}},
    ],
    "report": {"group_attributes": 2, "minimum_share": 0.05},
    "runtime": {"workers": 1, "max_failures": 3, "unit_seconds": 60.5},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data that the configurations name, so that most of them can be planned."""
    found = tmp_path_factory.mktemp("fuzz")
    write_audit(found)
    table = people().rename(columns={"person": "person_id"}).assign(title="chef", department="kitchen")
    for name in ("staff", "volunteers"):
        table.to_parquet(found / f"{name}.parquet")
    layouts.write_fairface(found / "fairface", 300)
    (found / "data").mkdir()
    (found / "data" / "fairface").symlink_to(found / "fairface")
    layouts.write_celeba(found / "celeba", 160)
    layouts.write_utkface(found / "utkface", 160)
    layouts.write_occupations(found / "occupations", 60)
    vectors = np.random.default_rng(0).standard_normal((2, 8)).astype(np.float32)
    pd.DataFrame({"query": ["nurse", "chef"], "vector": list(vectors)}).to_parquet(found / "queries.parquet")
    (found / "runs").mkdir()
    return found


def originals() -> list[str]:
    """Real configurations: those that are shipped, those of the documentation, and two of the tests."""
    shipped = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "jobs" / "configs").glob("*.yaml"))]
    shipped = [text.replace("../data/census.parquet", str(ROOT / "jobs/data/census.parquet")) for text in shipped]
    documented = [text for page in PAGES for text in blocks(page, "yaml") if "dataset:" in text and "queries:" in text]
    written = [yaml.safe_dump(one, sort_keys=False) for one in (settings(), settings(**EVERYTHING))]
    return [*shipped, *documented, *written * 6]


def complaint(path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> str:
    """What is wrong with how `plan` ends on a file; empty where nothing is."""
    path.write_bytes(content)
    started = time.perf_counter()
    code = main(["plan", str(path)])
    seconds = time.perf_counter() - started
    said = capsys.readouterr().err
    if code not in (0, 2, 3) or "Traceback" in said:
        return f"exit code {code}: {said[-2000:]}"
    if code == 2 and (said.count("\n") != 1 or not said.startswith("mpr-audit: ")):
        return f"not one line: {said[:2000]}"
    return f"{seconds:.0f} s" if seconds > LONGEST_SECONDS else ""


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_a_mistake_is_one_line(folder, first, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    texts = originals()
    wrong = {}
    for seed in range(first, first + BATCH):
        content = mutated(texts[seed % len(texts)], seed)
        found = complaint(folder / "audit.yaml", content, capsys)
        if found:
            wrong[seed] = (content[:2000], found)
    assert not wrong
