"""Time and memory of auditing what an engine showed: `python -m tests.benchmarks.result_lists [--queries N] [--k K]`.

A TREC run of 1,000 queries with 1,000 items each, of 200,000 items with three attributes; what was shown, and 20 points
of mopr under two classes. Prints a row a stage: units, seconds of processors, and the wall time of the whole.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

ITEMS = 200_000
DEPTH = 1_000
CONFIG = """\
name: result lists
results: {{kind: trec, path: run.txt}}
dataset: {{name: people, path: people.parquet, id: id, attributes: {{gender: {{}}, race: {{}}, age: {{}}}}}}
k: [{k}]
function_classes: [linear, groups]
methods: [as_shown, {{mopr: {{points: 20, targets: [linear]}}}}]
runtime: {{workers: 2}}
"""


def write(folder: Path, queries: int, k: int, seed: int = 0) -> Path:
    """The run, its labels and the configuration; what is shown first leans to one gender, by the query."""
    generator = np.random.default_rng(seed)
    gender, race, age = (generator.integers(0, levels, ITEMS) for levels in (2, 5, 4))
    pd.DataFrame(
        {
            "id": [f"d{number}" for number in range(ITEMS)],
            "gender": np.array(["woman", "man"])[gender],
            "race": np.array(list("ABCDE"))[race],
            "age": np.array(["under 30", "30 to 44", "45 to 59", "60 and over"])[age],
        }
    ).to_parquet(folder / "people.parquet")
    with (folder / "run.txt").open("w", encoding="utf-8") as file:
        for query in range(queries):
            items = generator.choice(ITEMS, DEPTH, replace=False)
            scores = generator.random(DEPTH) + generator.normal(0, 0.3) * gender[items]
            for rank, at in enumerate(np.argsort(-scores), start=1):
                file.write(f"q{query} Q0 d{items[at]} {rank} {scores[at]:.6f} engine\n")
    path = folder / "audit.yaml"
    path.write_text(CONFIG.format(k=k), encoding="utf-8")
    return path


def main() -> None:
    """Write, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--k", type=int, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = write(folder, given.queries, given.k)
        command = [sys.executable, "-m", "jobs", "run", str(config), "--output", str(folder / "run"), "--json"]
        started = time.perf_counter()
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - started
        units, processors = Counter[str](), Counter[str]()
        for receipt in (folder / "run/receipts").rglob("*.json"):
            found = json.loads(receipt.read_text(encoding="utf-8"))
            units[found["stage"]] += 1
            processors[found["stage"]] += found["cpu_seconds"]
        print(f"{'stage':<12}{'units':>8}{'CPU seconds':>14}")
        for stage, count in units.items():
            print(f"{stage:<12}{count:>8}{processors[stage]:>14.1f}")
        summary = json.loads(ended.stdout.splitlines()[-1])
        print(f"{given.queries:,} queries x {DEPTH:,} items of {ITEMS:,}, k = {given.k}: {seconds:.0f} s of wall time")
        print(f"{summary['computed']:,} units computed, {summary['failed']} failed")


if __name__ == "__main__":
    main()
