"""What a unit costs besides its work: python -m tests.benchmarks.units

20,000 units of a stage that writes a table of one row, through a whole run: plan, lock, Ray tasks, batches, log,
receipts; without fsync, and with fsync beside it; then the same run with everything done, and how long a real
audit of as many units takes to be planned.
Bars: 2 ms a unit without fsync on 2 cores, 200 MB more memory of the driver, 10 seconds with everything cached.
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

from jobs.audit import prepare
from jobs.config.file import read_config
from tests.jobs.conftest import write_audit
from tests.jobs.no_op import run


def planning(folder: Path, units: int) -> tuple[int, float]:
    """Units and seconds of planning a real audit: a pool and four times k, three methods each, for each query."""
    queries = [f"query {number}" for number in range(units // 13)]
    config = read_config(write_audit(folder, queries=queries, k=[5, 10, 15, 20], runtime={}))
    started = time.perf_counter()
    _, plan = prepare(config)
    return len(plan.units), time.perf_counter() - started


def _in_a_process_of_its_own(config: Path, output: Path, units: int, is_durable: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.units", "--units", str(units), "--config", str(config)]
    command += ["--output", str(output), *(["--durable"] if is_durable else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--units", type=int, default=20_000)
    parser.add_argument("--config", type=Path, help="run once with these, and print JSON")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--durable", action="store_true")
    given = parser.parse_args()
    if given.config:
        print(json.dumps(run(given.config, given.output, given.units, given.durable)))
        return
    print(f"{'run':<34}{'computed':>9}{'cached':>8}{'seconds':>9}{'ms a unit':>11}{'driver, MB':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = write_audit(folder, runtime={})
        for what, output, is_durable in (
            ("without fsync", "quick", False),
            ("with fsync", "durable", True),
            ("everything done", "durable", True),
        ):
            found = _in_a_process_of_its_own(config, folder / output, given.units, is_durable)
            print(
                f"{what:<34}{found['computed']:>9,}{found['cached']:>8,}{found['seconds']:>9.1f}"
                f"{1000 * found['seconds'] / given.units:>11.2f}{found['grown_bytes'] / 1e6:>12.0f}",
                flush=True,
            )
        units, seconds = planning(folder, given.units)
        print(f"{'planning a real audit':<34}{units:>9,}{'':>8}{seconds:>9.1f}{1000 * seconds / units:>11.2f}")


if __name__ == "__main__":
    main()
