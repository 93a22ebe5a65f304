"""An audit every Monday through one cache: what the second week costs.

    python -m tests.benchmarks.weekly [ITEMS] [QUERIES] [KEYS]

Texts are of a name, a job and a town, embedded by the sentence encoder that ships in a package; units run one after
the other in one process (`executor: local`). The second week has 1% new, 1% removed and 1% changed texts and another
folder. Then, in further folders with the same cache: the rows reordered and renamed, a query more, a class more, a
method more. Last, a lookup of KEYS keys among as many. By default 200,000 texts, 10 queries (the added one is beside
100 of a tenth of the texts) and 10,000,000 keys: about half an hour of two quiet cores.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from jobs.store import Receipt, Store

VARYING = ["run_id", "unit", "solve_seconds"]
JOBS = ["nurse", "chef", "pilot", "judge", "writer", "physicist", "singer", "farmer", "painter", "banker"]
SYLLABLES = ["an", "bel", "co", "dra", "el", "fi", "gor", "ha", "is", "jo", "ka", "lu", "mi", "no", "pe", "ri", "sa"]
LOOKUP = """
import resource, sys, time
import numpy as np
from jobs.cache.space import Space
from jobs.store import Store
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
space = Space(Store(sys.argv[1]), "vectors/benchmark")
wall, cpu = time.perf_counter(), time.process_time()
space.refresh()
found = 0
for seed in range(8):
    keys = np.random.default_rng(seed).integers(0, 2**64, (int(sys.argv[2]) // 8, 2), dtype=np.uint64)
    found += int(space.holds(keys).sum())
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(f"{found:,} of {int(sys.argv[2]):,} keys found in {wall:.1f} s, {cpu:.1f} s of processor, {grown:.0f} MB")
"""


def people(count: int, seed: int = 0, first: int = 0) -> pd.DataFrame:
    """People with a text and two attributes."""
    generator = np.random.default_rng(seed)
    names = ["".join(row).capitalize() for row in generator.choice(SYLLABLES, (count, 4))]
    jobs, towns = generator.choice(JOBS, count), generator.choice(SYLLABLES, (count, 2))
    texts = [f"{name}, {job} of {''.join(town)}" for name, job, town in zip(names, jobs, towns)]
    return pd.DataFrame(
        {
            "person": [f"p{number:08d}" for number in range(first, first + count)],
            "about": texts,
            "job": jobs,
            "gender": generator.choice(["female", "male"], count),
            "age": generator.integers(18, 90, count),
        }
    )


def next_week(table: pd.DataFrame) -> pd.DataFrame:
    """1% removed, 1% changed, 1% new."""
    hundredth = max(len(table) // 100, 1)
    kept = table.iloc[hundredth:].copy()
    places = np.random.default_rng(1).choice(len(kept), hundredth, replace=False)
    kept.iloc[places, kept.columns.get_loc("about")] += ", changed"
    return pd.concat([kept, people(hundredth, seed=2, first=len(table))], ignore_index=True)


class Weeks:
    """Audits that share a cache, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def audit(self, name: str, table: pd.DataFrame, queries: list[str], **changes: Any) -> Path:
        """A configuration beside its table."""
        folder = self.folder / f"{name} data"
        folder.mkdir()
        table.to_parquet(folder / "people.parquet")
        raw = {
            "name": "weekly",
            "dataset": {
                "kind": "table",
                "path": "people.parquet",
                "id": "person",
                "text": "{about}",
                "relevance": "job",
                "attributes": {"gender": {}, "age": {"bins": [30, 60]}},
            },
            "encoder": {"kind": "sentence"},
            "queries": {"list": queries},
            "prefilter": {"top": 1000},
            "function_classes": ["linear"],
            "methods": ["top_k", {"mopr": {"points": 5, "targets": ["linear"]}}],
            "runtime": {"executor": "local"},
        }
        path = folder / "audit.yaml"
        path.write_text(yaml.safe_dump(raw | changes), encoding="utf-8")
        return path

    def run(self, name: str, audit: Path, *, is_cached: bool = True) -> dict[str, Any]:
        """A run, in a process of its own; prints what it cost."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        output = self.folder / name
        command = [sys.executable, "-m", "jobs", "run", str(audit), "--output", str(output), "--json"]
        cache = ["--set", f"cache={self.folder / 'cache'}"] if is_cached else []
        done = subprocess.run([*command, *cache], capture_output=True, text=True, check=True, env=self._environment())
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found["wall"] = time.perf_counter() - started
        found["cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found["stages"], found["reporting"] = self._logged(output)
        found["solving"], found["units"] = found["stages"].get("solve", 0.0), sum(found["stages"].values())
        print(
            f"{name:<28}{found['wall']:>8.1f}{found['cpu']:>8.1f}{found['solving']:>9.1f}"
            f"{found['items_embedded']:>11,}{found['items_reused']:>10,}"
            f"{found['queries_computed']:>8}{found['queries_reused']:>8}{found['computed']:>9,}",
            flush=True,
        )
        return found

    def rows(self, name: str) -> pd.DataFrame:
        """Results, but for what may vary."""
        store = Store(str(self.folder / name))
        tables = [store.read_table(table).to_pandas() for table in store.list("results")]
        return pd.concat(tables, ignore_index=True).drop(columns=VARYING)

    @staticmethod
    def _environment() -> dict[str, str]:
        return dict(os.environ) | {"OMP_NUM_THREADS": "1"}

    @staticmethod
    def _logged(output: Path) -> tuple[dict[str, float], float]:
        """Processor seconds of the units that were computed by stage, and the wall seconds of tables and report; copied
        units say what they took elsewhere, and do not count."""
        log = max((output / "logs").glob("*.jsonl"))
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        moments = {line["event"]: datetime.fromisoformat(line["time"]) for line in lines}
        done = {line["unit"]: line["stage"] for line in lines if line["event"] == "unit_done"}
        spent: dict[str, float] = defaultdict(float)
        for unit, stage in done.items():
            receipt = Receipt.parsed((output / "receipts" / stage / f"{unit}.json").read_bytes())
            spent[stage] += 0.0 if receipt is None else receipt.cpu_seconds
        reporting = (moments["run_done"] - moments["run_collecting"]).total_seconds()
        return dict(spent), reporting


def beyond_solving(found: dict[str, Any]) -> float:
    """Processor seconds of all but solving."""
    return float(found["cpu"] - found["solving"])


def print_stages(first: dict[str, Any], second: dict[str, Any]) -> None:
    """What each stage takes, and its part of what week 1 takes beyond solving: processor seconds."""
    whole = beyond_solving(first)
    took = [
        {stage: seconds for stage, seconds in one["stages"].items() if stage != "solve"}
        | {
            "tables and page (wall)": one["reporting"],
            "start, plan, all else": beyond_solving(one) - one["units"] + one["solving"] - one["reporting"],
        }
        for one in (first, second)
    ]
    for stage in sorted(took[0], key=lambda stage: -took[1].get(stage, 0.0)):
        before, now = took[0][stage], took[1].get(stage, 0.0)
        print(f"  {stage:<26}{before:>9.2f} s{now:>9.2f} s{now / whole:>8.2%} of week 1")


def weeks(folder: Path, items: int, queries: list[str]) -> None:
    """Week after week."""
    print(f"{items:,} texts, {len(queries)} queries; processor seconds of all, and of solving")
    heads = ("wall s", "cpu s", "solving", "embedded", "reused", "new q.", "kept q.", "computed")
    print(" " * 28 + "".join(head.rjust(width) for head, width in zip(heads, (8, 8, 9, 11, 10, 8, 8, 9))))
    audits, table = Weeks(folder), people(items)
    first = audits.run("week 1", audits.audit("week 1", table, queries))
    changed = next_week(table)
    path = audits.audit("week 2", changed, queries)
    second = audits.run("week 2", path)
    share = beyond_solving(second) / beyond_solving(first)
    print(f"  beyond solving, week 2 takes {share:.1%} of week 1; the bar is 5% at 200,000 texts")
    print_stages(first, second)
    new = len(set(changed["about"]) - set(table["about"]))
    print(f"  {new:,} texts are new or changed, {second['items_embedded']:,} were embedded")
    assert second["items_embedded"] == changed["about"].isin(set(changed["about"]) - set(table["about"])).sum()
    shuffled = changed.sample(frac=1, random_state=0).assign(
        person=[f"q{number:08d}" for number in range(len(changed))]
    )
    found = audits.run("reordered, renamed", audits.audit("renamed", shuffled, queries))
    assert found["items_embedded"] == 0
    audits.run("a class more", audits.audit("class", changed, queries, function_classes=["linear", "groups"]))
    methods = ["top_k", {"mopr": {"points": 5, "targets": ["linear"]}}, "dpp"]
    audits.run("a method more", audits.audit("method", changed, queries, methods=methods))


def without_cache(folder: Path, items: int, queries: list[str]) -> None:
    """The rows of a second week are those of a run that knows no cache."""
    audits, table = Weeks(folder), people(items)
    audits.run("small week 1", audits.audit("week 1", table, queries))
    path = audits.audit("week 2", next_week(table), queries)
    audits.run("small week 2", path)
    audits.run("the same without a cache", path, is_cached=False)
    is_same = audits.rows("small week 2").equals(audits.rows("the same without a cache"))
    print(f"  rows with and without a cache are {'equal to the bit' if is_same else 'DIFFERENT'}")
    assert is_same


def one_query_more(folder: Path, items: int) -> None:
    """A query beside a hundred."""
    audits, table = Weeks(folder), people(items)
    queries = [f"{job} of {town}" for job in JOBS for town in SYLLABLES[:10]]
    nothing = audits.run("one query, set-up", audits.audit("warm", people(200, seed=9), queries[:1]))
    first = audits.run("100 queries", audits.audit("100", table, queries))
    more = audits.run("101 queries", audits.audit("101", table, [*queries, "a retired sailor"]))
    share = (more["cpu"] - nothing["cpu"]) / (first["cpu"] - nothing["cpu"])
    print(f"  after set-up (a run of 200 texts), the query takes 1/{1 / max(share, 1e-9):.0f}; the bar is 1/50")
    print(f"  {'processor seconds':<28}{'set-up':>10}{'first run':>10}{'one more':>10}")
    runs = (nothing, first, more)
    for stage in dict.fromkeys(name for one in (first, more) for name in one["stages"]):
        print(f"  {stage:<28}" + "".join(f"{one['stages'].get(stage, 0.0):>10.2f}" for one in runs))
    others = (one["cpu"] - sum(one["stages"].values()) for one in runs)
    print(f"  {'start, plan, tables, page':<28}" + "".join(f"{seconds:>10.2f}" for seconds in others))
    print(f"  {'of them tables, page (wall)':<28}" + "".join(f"{one['reporting']:>10.2f}" for one in runs))


def lookup(folder: Path, keys: int) -> None:
    """Keys looked up among as many."""
    from jobs.cache.space import Space

    space = Space(Store(str(folder / "keys"), is_durable=False), "vectors/benchmark")
    for seed in range(8):
        own = np.random.default_rng(seed).integers(0, 2**64, (keys // 8, 2), dtype=np.uint64)
        space.add(own, np.zeros((len(own), 1), dtype=np.float32), {})
    command = [sys.executable, "-c", LOOKUP, space.store.root, str(keys)]
    print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), end="")
    print("; the bars are 20 s and 500 MB")


def main() -> None:
    given = [int(one) for one in sys.argv[1:]]
    items, queries, keys = (*given, *(200_000, 10, 10_000_000)[len(given) :])
    parts = [
        lambda folder: weeks(folder, items, JOBS[:queries]),
        lambda folder: without_cache(folder, max(items // 40, 500), JOBS[:2]),
        lambda folder: one_query_more(folder, max(items // 10, 500)),
        lambda folder: lookup(folder, keys),
    ]
    for part in parts:
        with tempfile.TemporaryDirectory() as name:
            part(Path(name))


if __name__ == "__main__":
    main()
