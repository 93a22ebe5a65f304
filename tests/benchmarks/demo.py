"""The demo's running time, first and second run, and what its environment weighs.

`python -m tests.benchmarks.demo`; limits: 240 s, 15 s, 2,500 MB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEMO = Path(__file__).resolve().parents[2] / "jobs" / "configs" / "demo.yaml"


def run(output: str) -> tuple[float, dict]:
    """Seconds of wall time from the command line's start to its end, and its counts."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "jobs", "run", str(DEMO), "--output", output, "--json"]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - started, json.loads(ended.stdout.strip().splitlines()[-1])


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as output:
        rows = [("first run", 240.0, *run(output)), ("second run", 15.0, *run(output))]
    print(f"{'':<12}{'limit s':>10}{'seconds':>10}{'computed':>10}{'cached':>8}{'failed':>8}")
    for name, limit, seconds, counts in rows:
        print(
            f"{name:<12}{limit:>10.0f}{seconds:>10.1f}{counts['computed']:>10}{counts['cached']:>8}{counts['failed']:>8}"
        )
    weight = sum(
        path.stat().st_size for path in Path(sys.prefix).rglob("*") if path.is_file() and not path.is_symlink()
    )
    print(f"environment {weight / 1e6:,.0f} MB (limit 2,500 MB)")


if __name__ == "__main__":
    main()
