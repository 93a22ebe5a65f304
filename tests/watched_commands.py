"""Commands of the program, watched from outside: seconds, memory, and what a run's folder says of its stages."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil

LOOK_SECONDS = 0.1
# Events of a run's log that begin something which comes after all stages.
AFTER_STAGES = ("run_collecting", "run_reporting", "run_done")


@dataclass(frozen=True, slots=True)
class Look:
    """What processes held at a moment, less what is shared with files, in MB: the command's own, the largest of its
    workers, and all together."""

    moment: float
    driver: float
    worker: float
    together: float


@dataclass(slots=True)
class Command:
    """How a command went: seconds by the clock and of processors (of itself and of the processes that it waited for;
    all_cpu_seconds, of all that were seen below it, up to the last look at each), looks at its memory, the object that
    it printed last, and the most bytes that a folder held meanwhile."""

    seconds: float
    cpu_seconds: float
    all_cpu_seconds: float
    looks: list[Look]
    said: dict[str, Any] = field(default_factory=dict)
    folder_bytes: int = 0

    def peak(self, of: str, start: float = 0.0, stop: float = float("inf")) -> float:
        """The most that `driver`, `worker` or all `together` held between two moments."""
        return max((float(getattr(one, of)) for one in self.looks if start <= one.moment <= stop), default=0.0)


def watched(*arguments: str, folder: Path | None = None) -> Command:
    """A command of the program, until it has ended. folder: whose bytes are looked at."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said, tempfile.TemporaryFile("w+") as complaints:
        started, cpu_started = time.perf_counter(), _children_seconds()
        command = [sys.executable, "-m", "jobs", *arguments, "--json"]
        process = psutil.Popen(command, stdout=said, stderr=complaints)
        looks, folder_bytes, used = [], 0, dict[psutil.Process, float]()
        while process.poll() is None:
            looks.append(_look(process))
            used |= _processor_seconds(process)
            folder_bytes = max(folder_bytes, 0 if folder is None else disk_bytes(folder))
            time.sleep(LOOK_SECONDS)
        seconds = time.perf_counter() - started
        said.seek(0)
        complaints.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}: {complaints.read()[-2000:]}")
        return Command(
            seconds=seconds,
            cpu_seconds=_children_seconds() - cpu_started,
            all_cpu_seconds=sum(used.values()),
            looks=looks,
            said=json.loads(_last_object(said.read())),
            folder_bytes=folder_bytes,
        )


def _children_seconds() -> float:
    """Processor seconds of the processes that were waited for, and of those that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _last_object(text: str) -> str:
    """`plan` prints one object over several lines, `run` one on its last line."""
    return text if text.lstrip().startswith("{\n") else text.strip().splitlines()[-1]


def _look(process: psutil.Popen) -> Look:
    """What the processes hold; one that ends meanwhile holds nothing."""
    driver = worker = together = 0.0
    for one in _processes(process):
        try:
            memory, name = one.memory_info(), one.name()
        except psutil.Error:
            continue
        megabytes = (memory.rss - memory.shared) / 1e6
        together += megabytes
        if one.pid == process.pid:
            driver = megabytes
        elif name.startswith(("ray::", "python")):
            worker = max(worker, megabytes)
    return Look(time.time(), driver, worker, together)


def _processor_seconds(process: psutil.Popen) -> dict[psutil.Process, float]:
    """What each process has used until now; a number that is used again is another process."""
    used = {}
    for one in _processes(process):
        with suppress(psutil.Error):
            times = one.cpu_times()
            used[psutil.Process(one.pid)] = times.user + times.system
    return used


def _processes(process: psutil.Popen) -> Iterator[psutil.Process]:
    yield process
    try:
        yield from process.children(recursive=True)
    except psutil.Error:
        return


@dataclass(slots=True)
class StageCost:
    """Units of a stage, their seconds by the clock and of processors, and bytes that they left."""

    units: int = 0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0


def stage_costs(output: Path) -> dict[str, StageCost]:
    """What a finished run took, by stage."""
    found: dict[str, StageCost] = defaultdict(StageCost)
    for path in (output / "receipts").rglob("*.json"):
        receipt = json.loads(path.read_text(encoding="utf-8"))
        one = found[receipt["stage"]]
        one.units += 1
        one.wall_seconds += receipt["seconds"]
        one.cpu_seconds += receipt["cpu_seconds"]
    return dict(found)


def stage_moments(output: Path) -> dict[str, tuple[float, float]]:
    """When each stage of a finished run began and ended."""
    [log] = (output / "logs").glob("*.jsonl")
    began: list[tuple[str, float]] = []
    for line in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        if line["event"] == "stage_started" or line["event"] in AFTER_STAGES:
            name = line.get("stage", line["event"].removeprefix("run_"))
            began.append((name, datetime.fromisoformat(line["time"]).timestamp()))
    return {name: (start, stop) for (name, start), (_, stop) in pairwise(began)}


def disk_bytes(folder: Path) -> int:
    """Bytes of all files below a folder; one that goes meanwhile has none."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(parent, name)).st_size
    return total


def bytes_by_table(output: Path) -> dict[str, tuple[int, int, int]]:
    """Files, their bytes, and bytes of the disk blocks that hold them, by folder; of units, by stage and table."""
    found: dict[str, tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    for path in output.rglob("*"):
        if not path.is_file():
            continue
        folder, *rest = path.relative_to(output).parts
        name = f"{folder}/{rest[0]}/{rest[-1].split('.')[0]}" if folder == "units" else folder
        files, size, blocks = found[name]
        state = path.stat()
        found[name] = files + 1, size + state.st_size, blocks + state.st_blocks * 512
    return dict(sorted(found.items(), key=lambda one: -one[1][2]))


def print_bytes(output: Path) -> None:
    """What a run's folder holds, the largest first."""
    print(f"{'on disk':<32}{'files':>8}{'MB':>9}{'MB of blocks':>14}")
    for name, (files, size, blocks) in bytes_by_table(output).items():
        print(f"{name:<32}{files:>8}{size / 1e6:>9.2f}{blocks / 1e6:>14.2f}")
