"""Configurations with mistakes in them: `plan` ends with 0, 2 or 3, says why in one line, and soon."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from jobs.cli import main
from jobs.config.file import read_config
from jobs.config.prompts import PromptTraining
from jobs.errors import UsageError
from tests.fuzz.mutations import NUMBERS, VALUES, mutated
from tests.jobs.conftest import people, settings, write_audit
from tests.jobs.datasets import layouts
from tests.pages import PAGES, ROOT, blocks

pytestmark = pytest.mark.system

CASES = 2_000
BATCH = 100
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
        {"det_const_sort": {"order": "fair"}},
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
    return complaint_of(["plan", str(path)], capsys)


def complaint_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The same of any command."""
    started = time.perf_counter()
    code = main(arguments)
    seconds = time.perf_counter() - started
    said = capsys.readouterr().err
    if code not in (0, 2, 3) or "Traceback" in said:
        return f"exit code {code}: {said[-2000:]}"
    if code == 2 and (said.count("\n") != 1 or not said.startswith("mpr-audit: ")):
        return f"not one line: {said[:2000]}"
    return f"{seconds:.0f} s" if seconds > LONGEST_SECONDS else ""


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_a_mistake_is_one_line(folder, first, capsys, monkeypatch, cases):
    monkeypatch.chdir(folder)
    texts = originals()
    wrong = {}
    for seed in range(first, first + cases(BATCH)):
        content = mutated(texts[seed % len(texts)], seed)
        found = complaint(folder / "audit.yaml", content, capsys)
        if found:
            wrong[seed] = (content[:2000], found)
    assert not wrong


# Keys of the command line that lead somewhere, nowhere, or into something that is no block.
KEYS = (
    *("seed", "name", "output", "k", "k.0", "k.7", "shard_items", "encoder", "encoder.kind", "encoder.text.batch"),
    *("dataset", "dataset.path", "dataset.id", "dataset.text", "dataset.attributes", "dataset.attributes.age.bins"),
    *("dataset.attributes.gender.order", "dataset.missing", "reference", "reference.0", "reference.2.shares.gender"),
    *("queries", "queries.vectors", "queries.list", "queries.prompt", "prefilter.top", "prefilter.storage", "methods"),
    *("methods.0", "methods.1.mopr.points", "methods.4.mmr.values.0", "methods.99", "function_classes.1.tree.depth"),
    *("report", "report.minimum_share.x", "runtime.unit_seconds", "probes.race.dataset", "nobody.knows.it", 'a."b.c"'),
    *("", ".", "a..b", "a b", "é", '"', "methods.-1", "k.1_0", "k.٣"),
)


@pytest.mark.parametrize("first", range(0, 200, BATCH))
def test_a_mistake_on_the_command_line_is_one_line(folder, first, capsys, monkeypatch, cases):
    monkeypatch.chdir(folder)
    (folder / "audit.yaml").write_text(yaml.safe_dump(settings(**EVERYTHING), sort_keys=False), encoding="utf-8")
    wrong = {}
    for seed in range(first, first + cases(BATCH)):
        dice = random.Random(seed)
        override = dice.choice(KEYS) + dice.choice(["=", "=", "=", "==", ":", ""]) + dice.choice([*VALUES, *NUMBERS])
        found = complaint_of(["plan", "audit.yaml", "--set", override], capsys)
        if found:
            wrong[override] = found
    assert not wrong


def test_a_mistake_in_a_training_is_one_line(folder):
    text = next(text for page in PAGES for text in blocks(page, "yaml") if "training:" in text)
    read_config(write(folder, text.encode()), (), PromptTraining)
    for seed in range(200):
        path = write(folder, mutated(text, seed))
        try:
            read_config(path, (), PromptTraining)
        except UsageError as error:
            assert str(path) in str(error) and "\n" not in str(error), seed


def write(folder: Path, content: bytes) -> Path:
    path = folder / "training.yaml"
    path.write_bytes(content)
    return path
