"""What an audit costs by the number of its items: what `plan` says, and what `plan` and `run` take.

    python -m tests.benchmarks.scale [--items 10000 1000000 10000000] [--width 64] [--queries 100] [--folder DIR]
    python -m tests.benchmarks.scale --flat

Items have ids, two attributes, a weight and a given vector, in Parquet files of a million rows each; the reference is
the population, the methods are top_k and 20 points of `mopr` for the class linear, k = 50, on as many workers as there
are CPUs. `plan` is timed twice: the first one reads the data set, the second finds what the first remembered, in a
cache of this benchmark, which also remembers how fast a run was: the estimates of the first size are of a machine that
nobody has timed. Memory is what a process holds at most, less what is shared with files: the command's own, the largest
of its workers, and all processes together.

After all sizes come two tables. The first has processor time an item of everything before solving and that of a unit
that solves, and the most that a worker held meanwhile; ratios are to the smallest of the sizes from a million on, those
of a unit that solves to the smallest of all. The second has what `plan` said of time, memory and disk and what the run
took. `--flat` is both for 32 numbers in float16 and 50 queries. With --folder the data stay there for the next time.

Bars: 1,000,000 x 64, 100 queries: 45 s in all, driver 700 MB, each worker 600 MB; 10,000,000 x 32 in float16, 50
queries: `plan` 60 s and again 5 s, driver 1 GB; each stage's time an item within 10% from a million to ten; a unit that
solves at most 1.15 times what it takes at 10,000; estimates within a factor 1.5 from the second size on.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jobs.store.user_cache import VARIABLE
from tests.many_people import write_audit, write_people
from tests.watched_commands import Command, disk_bytes, print_bytes, stage_costs, stage_moments, watched

# What was just written is read again, in case it changes once more within a step of the clock.
SETTLING_SECONDS = 3.0
SOLVE, PLAN = "solve", "plan"
BEFORE_SOLVING = (PLAN, "items", "embed", "cells", "prefilter", "merge", "rescore", "pool")
FLAT_ITEMS, FLAT_WIDTH, FLAT_NUMBERS, FLAT_QUERIES = [10_000, 1_000_000, 10_000_000], 32, "float16", 50
FLAT_BAR, SOLVE_BAR, ESTIMATE_BAR = 1.1, 1.15, 1.5
# Of fewer items what each unit takes hides what an item does.
LARGE_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True)
class Measured:
    """One size: processor seconds, units and megabytes of the largest worker by stage; what was said and what was taken
    of seconds, bytes of memory and bytes of disk."""

    items: int
    cpu_seconds: dict[str, float]
    units: dict[str, int]
    worker: dict[str, float]
    said: dict[str, float]
    taken: dict[str, float]

    def cost(self, stage: str) -> float:
        """Microseconds an item, or milliseconds a unit that solves."""
        seconds = self.cpu_seconds.get(stage, 0.0)
        return 1e3 * seconds / self.units[stage] if stage == SOLVE else 1e6 * seconds / self.items


def measure(folder: Path, items: int, chosen: argparse.Namespace) -> Measured | None:
    """Print a block of one size, and return what it took; None where no audit is run."""
    people, started = folder / f"people-{items}-{chosen.width}-{chosen.numbers}", time.perf_counter()
    if not people.exists():
        write_people(people, items, chosen.width, chosen.numbers)
        time.sleep(SETTLING_SECONDS)
    print(f"\n{items:,} x {chosen.width} {chosen.numbers}, {chosen.queries} queries", end="; ")
    print(f"made in {time.perf_counter() - started:.0f} s")
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        audit = write_audit(Path(temporary), people, chosen.width, chosen.queries, chosen.numbers)
        output = Path(temporary, "run")
        first, again = (watched("plan", str(audit), "--output", str(output)) for _ in range(2))
        _show_command("plan", first)
        _show_command("plan again", again)
        if chosen.plan_only:
            return None
        ended = watched("run", str(audit), "--output", str(output), folder=output)
        _show_command("run", ended)
        print_bytes(output)
        return _measured(items, first, again, ended, output)


def _measured(items: int, first: Command, again: Command, ended: Command, output: Path) -> Measured:
    costs, moments = stage_costs(output), stage_moments(output)
    for stage, one in costs.items():
        print(f"    {stage:12}{one.units:6} units {one.wall_seconds:9.1f} s {one.cpu_seconds:9.1f} s cpu")
    said = again.said["estimate"]
    return Measured(
        items=items,
        cpu_seconds={PLAN: first.cpu_seconds} | {stage: one.cpu_seconds for stage, one in costs.items()},
        units={stage: one.units for stage, one in costs.items()},
        worker={PLAN: first.peak("worker")}
        | {stage: ended.peak("worker", *moments[stage]) for stage in costs if stage in moments},
        said={"time, s": said["wall_seconds"], "memory, MB": said["memory_bytes"] / 1e6}
        | {"disk, MB": said["disk_bytes"] / 1e6},
        taken={"time, s": ended.seconds, "memory, MB": ended.peak("together")}
        # The most that the folder takes: what searches leave for each other goes before the end.
        | {"disk, MB": max(ended.folder_bytes, disk_bytes(output)) / 1e6},
    )


def _show_command(name: str, command: Command) -> None:
    held = ", ".join(f"{of} {command.peak(of):.0f} MB" for of in ("driver", "worker", "together"))
    print(f"  {name:12}{command.seconds:8.1f} s {command.cpu_seconds:8.1f} s cpu   {held}", flush=True)


def show_flatness(found: Sequence[Measured]) -> None:
    """Time and memory of each stage by size."""
    print(f"\n{'':12}" + "".join(f"{one.items:>36,}" for one in found))
    print(f"{'us an item':12}" + f"{'cpu':>12}{'ratio':>8}{'worker, MB':>16}" * len(found))
    for stage in (*BEFORE_SOLVING, SOLVE):
        if any(stage in one.cpu_seconds for one in found):
            least, bar = (0, SOLVE_BAR) if stage == SOLVE else (LARGE_ITEMS, FLAT_BAR)
            base = next((one.cost(stage) for one in found if one.items >= least), 0.0)
            cells = (_flatness(one, stage, base if one.items >= least else 0.0, bar) for one in found)
            print(f"{'ms a unit' if stage == SOLVE else stage:12}" + "".join(cells))


def _flatness(one: Measured, stage: str, base: float, bar: float) -> str:
    cost = one.cost(stage)
    ratio = f"{cost / base:7.2f}{'!' if cost > bar * base else ' '}" if base else " " * 8
    return f"{cost:>12.3f}{ratio}{one.worker.get(stage, 0.0):>16.0f}"


def show_estimates(found: Sequence[Measured]) -> None:
    """What `plan` said and what a run took, by size."""
    print(f"\n{'said, taken, ratio':20}" + "".join(f"{name:>32}" for name in found[0].said))
    for one in found:
        line = f"{one.items:>16,}    "
        for name, said in one.said.items():
            taken = one.taken[name]
            is_off = not 1 / ESTIMATE_BAR <= said / taken <= ESTIMATE_BAR
            line += f"{said:>12.0f}{taken:>11.0f}{said / taken:>8.2f}{'!' if is_off else ' '}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--numbers", choices=["float32", "float16"], default="float32")
    parser.add_argument("--flat", action="store_true", help="the sizes, width and numbers of the second bar")
    parser.add_argument("--plan-only", action="store_true", help="do not run the audits")
    parser.add_argument("--folder", type=Path, help="where data and runs go; default: a temporary folder")
    chosen = parser.parse_args()
    if chosen.flat:
        chosen.items, chosen.width, chosen.numbers, chosen.queries = FLAT_ITEMS, FLAT_WIDTH, FLAT_NUMBERS, FLAT_QUERIES
    # What a run of one size tells of this machine, the estimates of the next ones know.
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as temporary:
        os.environ[VARIABLE] = cache
        folder = chosen.folder or Path(temporary)
        found = [one for items in chosen.items if (one := measure(folder, items, chosen)) is not None]
    if found:
        show_flatness(found)
        show_estimates(found)


if __name__ == "__main__":
    main()
