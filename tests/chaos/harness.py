"""A two-node cluster of this machine, audits on it in processes of their own, and kills at chosen moments.

Only what was started here is killed, by its handle or as a descendant of such a handle.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pandas as pd
import psutil
from ray.cluster_utils import Cluster

from jobs.report.part import DescribedCases

OBJECT_STORE_BYTES = 80 * 1024 * 1024
# A dead node is noticed after about five seconds instead of fifteen.
HEALTH = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 10_000,
    "health_check_failure_threshold": 5,
}
# Columns that differ between two runs of the same audit.
VARYING = ["run_id", "solve_seconds"]
PATIENCE_SECONDS = 300


class TwoNodes:
    """A head with one CPU and a second node with one, which can be killed and replaced."""

    def __init__(self) -> None:
        asked = {"num_cpus": 1, "object_store_memory": OBJECT_STORE_BYTES}
        head = asked | {"include_dashboard": False, "_system_config": HEALTH}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self._asked = asked
        self._second = self._cluster.add_node(**asked)
        self.address = self._cluster.address

    def close(self) -> None:
        self._cluster.shutdown()

    def workers(self, title: str) -> list[psutil.Process]:
        """Worker processes of both nodes whose title, which says what they run, begins so."""
        found = []
        for node in (self._cluster.head_node, self._second):
            for process in _tree(node):
                with suppress(psutil.Error):
                    if "".join(process.cmdline()).startswith(title):
                        found.append(process)
        return found

    def kill_second(self) -> None:
        """The machine is gone: its raylet and every worker of it."""
        for process in reversed(_tree(self._second)):
            with suppress(psutil.Error):
                process.kill()

    def replace_second(self) -> None:
        """Another machine in its place."""
        with suppress(Exception):
            self._cluster.remove_node(self._second, allow_graceful=False)
        self._second = self._cluster.add_node(**self._asked)


def _tree(node) -> list[psutil.Process]:
    found = []
    for info in node.all_processes.get("raylet", []):
        with suppress(psutil.Error):
            raylet = psutil.Process(info.process.pid)
            found += [raylet, *raylet.children(recursive=True)]
    return found


class Audit:
    """One audit's folder, run as often as it takes."""

    def __init__(self, config: Path, output: Path, cluster: TwoNodes) -> None:
        self.config, self.output, self.cluster = config, output, cluster

    def start(self) -> subprocess.Popen:
        """A run in a process of its own."""
        command = [sys.executable, "-m", "jobs", "run", str(self.config), "--output", str(self.output), "--json"]
        return subprocess.Popen(
            [*command, "--set", f"runtime.address={self.cluster.address}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )

    def finish(self, process: subprocess.Popen) -> dict:
        """Wait for a run that nobody disturbs any more; its summary."""
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, (process.returncode, err[-3000:])
        return json.loads(out.strip().splitlines()[-1])

    def receipts(self) -> dict[str, int]:
        """When each finished unit of the plan was committed, by its receipt; what reports keep is no part of it."""
        found = {}
        for path in (self.output / "receipts").rglob("*.json"):
            if path.parent.name == DescribedCases.stage:
                continue
            with suppress(FileNotFoundError):
                found[path.name] = path.stat().st_mtime_ns
        return found

    def tables(self) -> list[pd.DataFrame]:
        """Results, groups and items, sorted, without what may vary."""
        results = pd.read_parquet(self.output / "results").drop(columns=VARYING)
        key = ["dataset", "reference", "query", "k", "method", "parameter_value", "target_class", "function_class"]
        groups = pd.read_parquet(self.output / "groups")
        items = pd.read_parquet(self.output / "items")
        return [
            results.sort_values(key, ignore_index=True),
            groups.sort_values([*key[:-1], "group"], ignore_index=True),
            items.sort_values(["dataset", "item_id"], ignore_index=True),
        ]

    def logged(self, event: str) -> list[str]:
        """Keys of the units that such an event was logged of, over all runs."""
        keys = []
        for path in sorted((self.output / "logs").glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):  # a line that was cut when its process was killed
                    entry = json.loads(line)
                    if entry["event"] == event:
                        keys.append(entry["unit"])
        return keys


def moments(process: subprocess.Popen) -> Iterator[None]:
    """Again and again while a run goes on."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None:
        assert time.monotonic() < deadline, "the run never came to the moment of its kill"
        yield
        time.sleep(0.01)


def when(process: subprocess.Popen, is_time: Callable[[], bool], kill: Callable[[], None]) -> bool:
    """Kill at that moment; False when the run was over before it."""
    for _ in moments(process):
        if is_time():
            kill()
            return True
    return False


def kill_driver(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def kill_worker(cluster: TwoNodes, title: str, chance: random.Random) -> bool:
    """One of the workers that run something so called; False when there is none now."""
    found = cluster.workers(title)
    if found:
        with suppress(psutil.NoSuchProcess):
            chance.choice(found).kill()
            return True
    return False
