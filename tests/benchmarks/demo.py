"""The demo's running time, first and second run, and what its environment weighs.

`python -m tests.benchmarks.demo`; limits: 240 s, 15 s, 2,500 MB. Seconds are by the clock and of processors, of all
processes; a first run on a machine compiles as well, and other work beside it makes it take longer by the clock alone.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.watched_commands import watched

DEMO = Path(__file__).resolve().parents[2] / "jobs" / "configs" / "demo.yaml"


def main() -> None:
    """Print the table."""
    print(f"{'':<12}{'limit s':>10}{'seconds':>10}{'cpu s':>10}{'computed':>10}{'cached':>8}{'failed':>8}")
    with tempfile.TemporaryDirectory() as output:
        for name, limit in (("first run", 240.0), ("second run", 15.0)):
            ended = watched("run", str(DEMO), "--output", output)
            counts = "".join(
                f"{ended.said[name]:>{width}}" for name, width in (("computed", 10), ("cached", 8), ("failed", 8))
            )
            print(f"{name:<12}{limit:>10.0f}{ended.seconds:>10.1f}{ended.all_cpu_seconds:>10.1f}{counts}", flush=True)
    weight = sum(
        path.stat().st_size for path in Path(sys.prefix).rglob("*") if path.is_file() and not path.is_symlink()
    )
    print(f"environment {weight / 1e6:,.0f} MB (limit 2,500 MB)")


if __name__ == "__main__":
    main()
