"""What a solve unit of the demo costs in a worker that has warmed up, by method.

    python -m tests.benchmarks.demo_units [--output DIR] [--passes N]

The demo is run into DIR first, which takes minutes once and seconds where it has been. Then all its solve units are
computed again in one process on one thread, query by query as a worker gets them: once to warm up, and N times more.
Milliseconds are of the processor, the median over all N times all queries: of a unit's tables, and of what encoding
and writing them takes beside that, without fsync.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from jobs.audit import prepare
from jobs.config.file import read_config
from jobs.stages.execute import commit
from jobs.stages.solve import Solve
from jobs.store import Store
from tests.benchmarks.demo import DEMO

BARS = {"top_k": 10.0, "mopr": 45.0}


def timed(unit: Solve, store: Store, written: Store) -> tuple[float, float]:
    """Milliseconds of the processor for a unit's tables, and for their files."""
    started = time.process_time()
    tables = unit.run(store)
    ran = time.process_time()
    commit(unit, written, tables, seconds=0.0)
    return 1e3 * (ran - started), 1e3 * (time.process_time() - ran)


def one_pass(units: list[Solve], store: Store) -> list[tuple[float, float]]:
    """Of each unit, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        written = Store(folder, is_durable=False)
        return [timed(unit, store, written) for unit in units]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="the demo's run, kept for the next time")
    parser.add_argument("--passes", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        output = chosen.output or Path(temporary) / "demo"
        command = [sys.executable, "-m", "jobs", "run", str(DEMO), "--output", str(output)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, plan = prepare(read_config(DEMO))
        store = Store(str(output))
        with threadpool_limits(limits=1):
            one_pass(plan.solved, store)
            passes = [one_pass(plan.solved, store) for _ in range(chosen.passes)]
    by_method = defaultdict(list)
    for found in passes:
        for unit, milliseconds in zip(plan.solved, found):
            by_method[unit.method.name].append(milliseconds)
    print(f"{'ms of processor a unit':<24}{'units':>7}{'computed':>10}{'bar':>6}{'written':>10}")
    for method, rows in by_method.items():
        computed, written = np.median(rows, axis=0)
        bar = BARS.get(method)
        verdict = "  above" if bar is not None and computed > bar else ""
        print(f"{method:<24}{len(rows) // chosen.passes:>7}{computed:>10.1f}{bar or '':>6}{written:>10.1f}{verdict}")


if __name__ == "__main__":
    main()
