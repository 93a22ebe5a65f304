"""What an audit costs by the number of its items: what `plan` says, and what `plan` and `run` take.

    python -m tests.benchmarks.scale [--items 10000 1000000 10000000] [--width 64] [--queries 100] [--folder DIR]

Items have ids, two attributes, a weight and a given vector, in Parquet files of a million rows each; the reference is
the population, the methods are top_k and 20 points of `mopr` for the class linear, k = 50, on as many workers as there
are CPUs. `plan` is timed twice: the first one reads the data set, the second finds what the first remembered, in a
cache of this benchmark, which also remembers how fast a run was: the estimates of the first size are of a machine that
nobody has timed. Memory is what a process holds at most, less what is shared with files: the command's own, the largest
of its workers, and all processes together. After the time of each stage come what the second `plan` said and what the
run took.

Bars: 1,000,000 x 64, 100 queries: 45 s in all, driver 700 MB, each worker 600 MB; 10,000,000 x 32 in float16, 50
queries: `plan` 60 s and again 5 s, driver 1 GB; each stage's time an item within 10% from a million to ten.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from jobs.store.user_cache import VARIABLE

ROWS_PER_FILE = 1_000_000
# Rows that are made together.
ROWS_AT_ONCE = 100_000
SHARD_ITEMS = 100_000
# What was just written is read again, in case it changes once more within a step of the clock.
SETTLING_SECONDS = 3.0
LOOK_SECONDS = 0.1
SEED = 7
REGIONS = ["Africa", "Americas", "Asia", "Europe", "Oceania"]
BEFORE_SOLVING = ("items", "embed", "prefilter", "merge", "rescore", "pool")


@dataclass(slots=True)
class Peak:
    """The most memory that a command's own process and the largest of its workers held, in MB."""

    driver: float = 0.0
    worker: float = 0.0
    together: float = 0.0


@dataclass(slots=True)
class Command:
    """How a command went: seconds, memory, and the object that it printed last."""

    seconds: float
    peak: Peak
    said: dict[str, Any] = field(default_factory=dict)


def write_items(folder: Path, items: int, width: int, numbers: str) -> None:
    """Parquet files of people with given vectors of length 1, a part of them after the other."""
    folder.mkdir()
    generator = np.random.default_rng(SEED)
    for first in range(0, items, ROWS_PER_FILE):
        rows = min(ROWS_PER_FILE, items - first)
        with pq.ParquetWriter(folder / f"part-{first // ROWS_PER_FILE:04d}.parquet", _schema(width, numbers)) as writer:
            for start in range(first, first + rows, ROWS_AT_ONCE):
                writer.write_table(_people(generator, start, min(ROWS_AT_ONCE, first + rows - start), width, numbers))


def _schema(width: int, numbers: str) -> pa.Schema:
    vector = pa.list_(pa.float16() if numbers == "float16" else pa.float32(), width)
    fields = [("item_id", pa.string()), ("gender", pa.string()), ("region", pa.string()), ("weight", pa.float64())]
    return pa.schema([*fields, ("embedding", vector), ("remark", pa.string())])


def _people(generator: np.random.Generator, start: int, rows: int, width: int, numbers: str) -> pa.Table:
    gender, region = generator.integers(0, 2, rows), generator.integers(0, len(REGIONS), rows)
    vectors = generator.standard_normal((rows, width), dtype=np.float32)
    vectors[:, 0] += gender - 0.5
    vectors[:, 1] += 0.3 * region
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    flat = pa.array(vectors.astype(numbers).reshape(-1))
    columns = [
        pa.array([f"person {number:010d}" for number in range(start, start + rows)]),
        pa.array(["female", "male"]).take(pa.array(gender)),
        pa.array(REGIONS).take(pa.array(region)),
        pa.array(generator.uniform(0.5, 2.0, rows)),
        pa.FixedSizeListArray.from_arrays(flat, width),
        pa.array([f"a remark that nobody asks for, {number}" for number in range(start, start + rows)]),
    ]
    return pa.Table.from_arrays(columns, schema=_schema(width, numbers))


def write_audit(folder: Path, width: int, queries: int, numbers: str) -> Path:
    """The configuration of an audit of the items in `people`, beside it."""
    generator = np.random.default_rng(SEED + 1)
    vectors = generator.standard_normal((queries, width)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = pa.array([f"query {number}" for number in range(queries)])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), width)
    pq.write_table(pa.table({"query": names, "vector": column}), folder / "queries.parquet")
    settings = {
        "name": "scale",
        "dataset": {"path": "people", "weight": "weight", "attributes": {"gender": {}, "region": {}}},
        "encoder": {"kind": "precomputed", "column": "embedding"},
        "queries": {"vectors": "queries.parquet"},
        "prefilter": {"top": 10_000, "storage": numbers},
        "shard_items": SHARD_ITEMS,
        "k": [50],
        "function_classes": ["linear"],
        "methods": ["top_k", {"mopr": {"points": 20}}],
    }
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return path


def timed(*arguments: str) -> Command:
    """A command of the program, watched."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said, tempfile.TemporaryFile("w+") as complaints:
        started = time.perf_counter()
        command = [sys.executable, "-m", "jobs", *arguments, "--json"]
        process = psutil.Popen(command, stdout=said, stderr=complaints)
        peak = Peak()
        while process.poll() is None:
            _look(process, peak)
            time.sleep(LOOK_SECONDS)
        seconds = time.perf_counter() - started
        said.seek(0)
        complaints.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}: {complaints.read()[-2000:]}")
        return Command(seconds=seconds, peak=peak, said=json.loads(_last_object(said.read())))


def _last_object(text: str) -> str:
    """`plan` prints one object over several lines, `run` one on its last line."""
    return text if text.lstrip().startswith("{\n") else text.strip().splitlines()[-1]


def _look(process: psutil.Popen, peak: Peak) -> None:
    """Note what the processes hold; one that ends meanwhile holds nothing."""
    together = 0.0
    for one in _processes(process):
        try:
            memory, name = one.memory_info(), one.name()
        except psutil.Error:
            continue
        megabytes = (memory.rss - memory.shared) / 1e6
        together += megabytes
        if one.pid == process.pid:
            peak.driver = max(peak.driver, megabytes)
        elif name.startswith(("ray::", "python")):
            peak.worker = max(peak.worker, megabytes)
    peak.together = max(peak.together, together)


def _processes(process: psutil.Popen) -> Iterator[psutil.Process]:
    yield process
    try:
        yield from process.children(recursive=True)
    except psutil.Error:
        return


def stage_seconds(output: Path) -> dict[str, tuple[float, float, int]]:
    """Seconds of wall and of processor time, and units, by stage."""
    found: dict[str, tuple[float, float, int]] = {}
    for path in (output / "receipts").rglob("*.json"):
        receipt = json.loads(path.read_text(encoding="utf-8"))
        wall, cpu, units = found.get(receipt["stage"], (0.0, 0.0, 0))
        found[receipt["stage"]] = wall + receipt["seconds"], cpu + receipt["cpu_seconds"], units + 1
    return found


def disk_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(folder: Path, items: int, width: int, queries: int, numbers: str, *, runs: bool) -> None:
    """Print a block of the table for one size."""
    started = time.perf_counter()
    write_items(folder / "people", items, width, numbers)
    audit, output = write_audit(folder, width, queries, numbers), folder / "run"
    print(f"\n{items:,} x {width} {numbers}, {queries} queries; made in {time.perf_counter() - started:.0f} s")
    time.sleep(SETTLING_SECONDS)
    for name in ("plan", "plan again"):
        planned = timed("plan", str(audit), "--output", str(output))
        print(_line(name, planned))
    if not runs:
        return
    ended = timed("run", str(audit), "--output", str(output))
    print(_line("run", ended))
    for stage, (wall, cpu, units) in stage_seconds(output).items():
        each = f"{1e6 * cpu / items:10.3f} us an item" if stage in BEFORE_SOLVING else ""
        print(f"    {stage:12}{units:6} units {wall:9.1f} s {cpu:9.1f} s cpu {1e3 * cpu / units:9.1f} ms a unit{each}")
    said = planned.said["estimate"]
    taken = {"wall_seconds": ended.seconds, "memory_bytes": 1e6 * ended.peak.together, "disk_bytes": disk_bytes(output)}
    for name, value in taken.items():
        print(f"    {name:14} estimated {said[name]:16,.0f}  taken {value:16,.0f}  ratio {said[name] / value:6.2f}")


def _line(name: str, command: Command) -> str:
    peak = command.peak
    return (
        f"  {name:12}{command.seconds:8.1f} s   driver {peak.driver:7.0f} MB   worker {peak.worker:7.0f} MB   "
        f"together {peak.together:7.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--numbers", choices=["float32", "float16"], default="float32")
    parser.add_argument("--plan-only", action="store_true", help="do not run the audits")
    parser.add_argument("--folder", type=Path, help="where data and runs go; default: a temporary folder")
    chosen = parser.parse_args()
    # What a run of one size tells of this machine, the estimates of the next ones know.
    with tempfile.TemporaryDirectory() as cache:
        os.environ[VARIABLE] = cache
        _measure_all(chosen)


def _measure_all(chosen: argparse.Namespace) -> None:
    for items in chosen.items:
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            measure(Path(folder), items, chosen.width, chosen.queries, chosen.numbers, runs=not chosen.plan_only)


if __name__ == "__main__":
    main()
