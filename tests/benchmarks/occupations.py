"""The occupations over the demo's people: seconds, memory and disk by stage, against their bars.

    python -m tests.benchmarks.occupations [--limit N] [--output DIR]

12,000 people of a census extract, every named occupation as a query, `top_k`, 50 points of `mopr` and 20 of `mmr`
under linear, saturated and groups, two workers. Memory is the largest resident set of the run's own process, without
its workers, and at the end of each stage; disk is what files take by the folder's listing. With --limit N the first N
queries are asked, and times, sizes and growth are also scaled to all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import yaml

from jobs.queries.lists import path_of
from tests.watched_commands import print_bytes

DEMO = Path(__file__).resolve().parents[2] / "jobs" / "configs" / "demo.yaml"
QUERIES = sum(
    bool(line.strip()) and not line.startswith("#")
    for line in path_of("occupations").read_text(encoding="utf-8").splitlines()
)
BARS = {"minutes": 3.5, "disk MB": 400.0, "driver MB": 800.0, "report s": 25.0, "solving CPU s": 120.0}
# Seconds between looks at the process.
LOOK_SECONDS = 0.1


def configuration(folder: Path) -> Path:
    """The demo with all occupations as queries."""
    settings = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    settings["dataset"]["path"] = str(DEMO.parent / settings["dataset"]["path"])
    settings["queries"] = {"named": "occupations", "prompt": settings["queries"]["prompt"]}
    settings["runtime"] = {"workers": 2}
    path = folder / "occupations.yaml"
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return path


def watched(*arguments: str) -> tuple[float, float, dict[float, float]]:
    """Seconds of a command, megabytes of its largest resident set, and of its set at moments."""
    started = time.time()
    process = psutil.Popen([sys.executable, "-m", "jobs", *arguments], stdout=subprocess.DEVNULL)
    seen: dict[float, float] = {}
    while process.poll() is None:
        try:
            seen[time.time()] = process.memory_info().rss / 1e6
        except psutil.Error:
            break
        time.sleep(LOOK_SECONDS)
    if process.wait():
        raise SystemExit(f"mpr-audit {arguments[0]} ended with {process.returncode}")
    return time.time() - started, max(seen.values(), default=0.0), seen


def stages(output: Path) -> dict[str, dict[str, float]]:
    """Units, wall seconds, CPU seconds and bytes by stage, for solving by method too."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for path in (output / "receipts").rglob("*.json"):
        receipt = json.loads(path.read_text(encoding="utf-8"))
        name = receipt["stage"]
        if name == "solve":
            name += f" {receipt['title'].rsplit(': ', 1)[-1]}"
        found[name]["units"] += 1
        found[name]["wall"] += receipt["seconds"]
        found[name]["cpu"] += receipt["cpu_seconds"]
        found[name]["bytes"] += sum(file["bytes"] for file in receipt["files"].values())
    return found


def moments(output: Path) -> dict[str, float]:
    """When the run entered what it does after its units, and when it ended."""
    [log] = (output / "logs").glob("*.jsonl")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return {
        line["event"].removeprefix("run_"): datetime.fromisoformat(line["time"]).timestamp()
        for line in lines
        if line["event"] in ("run_starting", "run_running", "run_collecting", "run_reporting", "run_done")
    }


def folders(output: Path) -> dict[str, float]:
    """Megabytes that files take by folder."""
    sizes: dict[str, float] = defaultdict(float)
    for path in output.rglob("*"):
        if path.is_file():
            sizes[path.relative_to(output).parts[0]] += path.stat().st_blocks * 512 / 1e6
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, help="ask the first N queries only")
    parser.add_argument("--output", type=Path, help="keep the run here; an empty folder")
    chosen = parser.parse_args()
    limit = ["--limit", str(chosen.limit)] if chosen.limit else []
    queries = min(chosen.limit or QUERIES, QUERIES)
    with tempfile.TemporaryDirectory() as temporary:
        output = chosen.output or Path(temporary) / "run"
        path = configuration(Path(temporary))
        wall, peak, seen = watched("run", str(path), "--output", str(output), *limit)
        found, at, disk = stages(output), moments(output), folders(output)
        _show_stages(found)
        print()
        print_bytes(output)
    print("\nthe run's own process")
    for name, end in (("running", "collecting"), ("collecting", "reporting"), ("reporting", "done")):
        inside = [size for moment, size in seen.items() if at[name] <= moment <= at[end]]
        print(f"  {name:<12}{at[end] - at[name]:>8.1f} s{max(inside, default=0.0):>8.0f} MB")
    report = at["done"] - at["reporting"]
    solving = sum(one["cpu"] for name, one in found.items() if name.startswith("solve"))
    _show_bars(queries, wall, peak, report, solving, sum(disk.values()), found)


def _show_stages(found: dict[str, dict[str, float]]) -> None:
    print(f"{'':<28}{'units':>7}{'wall s':>9}{'cpu s':>9}{'MB':>9}{'cpu ms a unit':>15}")
    for name, one in sorted(found.items()):
        numbers = one["units"], one["wall"], one["cpu"], one["bytes"] / 1e6, 1e3 * one["cpu"] / one["units"]
        print("{:<28}{:>7.0f}{:>9.1f}{:>9.1f}{:>9.2f}{:>15.0f}".format(name, *numbers))


def _show_bars(
    queries: int,
    wall: float,
    peak: float,
    report: float,
    solving: float,
    disk: float,
    found: dict[str, Any],
) -> None:
    """What was measured, what that comes to for all queries, and the bar."""
    times = QUERIES / queries
    embedding = sum(one["wall"] for name, one in found.items() if name == "embed") / 2
    embedded = sum(one["bytes"] for name, one in found.items() if name == "embed") / 1e6
    measured = {
        "minutes": (wall / 60, (embedding + (wall - embedding) * times) / 60),
        "disk MB": (disk, embedded + (disk - embedded) * times),
        "driver MB": (peak, peak),
        "report s": (report, report * times),
        "solving CPU s": (solving, solving * times),
    }
    print(f"\n{queries} of {QUERIES} queries{'':<8}{'measured':>10}{'for all':>10}{'bar':>8}")
    for name, (value, scaled) in measured.items():
        print(f"{name:<26}{value:>10.1f}{scaled:>10.1f}{BARS[name]:>8.1f}{'' if scaled <= BARS[name] else '  above'}")


if __name__ == "__main__":
    main()
