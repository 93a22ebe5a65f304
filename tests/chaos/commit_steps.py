"""A run killed at each of its file operations: python -m tests.chaos.commit_steps

A process of its own, since it forks: each fork does the work and dies by SIGKILL just before its Nth operation (a file
opened for writing, a flush, a rename, a link, a removal, a new folder), for every N until it lives to the end. Then
the same work is done again, and must end as if nothing had happened. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from jobs import audit
from jobs.config.file import read_config
from jobs.report import publish
from jobs.results.manifest import is_sealed
from jobs.results.verify import verify
from jobs.run import lock
from jobs.run.progress import Silent
from jobs.stages.execute import execute
from jobs.store import TEMPORARY, Store, receipt_file, take_inventory, unit_file
from tests.jobs.units_in_process import run_units

OPERATIONS = ("replace", "link", "unlink", "fsync", "mkdir")


def die_at(step: int) -> None:
    """Let this process kill itself instead of its file operation number `step`."""
    count = 0

    def counted(operation: Callable[..., Any], counts: Callable[..., bool]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            if counts(*arguments, **options):
                count += 1
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)
            return operation(*arguments, **options)

        return run

    for name in OPERATIONS:
        setattr(os, name, counted(getattr(os, name), lambda *_, **__: True))
    io.open = counted(io.open, lambda _, mode="r", *__, **___: mode[0] in "wax")


def steps_of(work: Callable[[Store], Any], before: Path, check: Callable[[Store, int], None], every: int = 1) -> int:
    """Kill the work at each step of a fresh copy, and check what the same work makes of it. Returns how many steps."""
    step = 1
    while True:
        folder = Path(tempfile.mkdtemp(dir=before.parent)) / "run"
        shutil.copytree(before, folder)
        store = Store(str(folder))
        child = os.fork()
        if child == 0:
            die_at(step)
            work(store)
            os._exit(0)
        is_through = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        check(store, step)
        shutil.rmtree(folder.parent)
        if is_through:
            return step - 1
        step += every


def rows(store: Store) -> pd.DataFrame:
    """Collected results, but for timings."""
    tables = [store.read_table(name).to_pandas() for name in store.list("results")]
    return pd.concat(tables).drop(columns=["run_id", "solve_seconds"]).reset_index(drop=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--real-report", action="store_true", help="draw the report each time, too")
    parser.add_argument("--every", type=int, default=1, help="only every so many steps of the run")
    given = parser.parse_args()
    lock.SETTLE_SECONDS = 0.01
    if not given.real_report:
        publish.build = lambda _: {"index.html": b"a page", "figures/curve.svg": b"a curve"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan, store = run_units(folder)
        config = read_config(folder / "audit.yaml")
        print(json.dumps({"unit": _unit(plan, store), "run": _run(config, store, given.every)}))


def _unit(plan: Any, store: Store) -> int:
    """One unit's commit, from nothing."""
    solve = plan.stages["solve"][0]
    names = [unit_file("solve", solve.key, table) for table in ("results", "groups")]
    expected = [store.read_table(name).drop_columns(_timings(name)) for name in names]
    before = Path(store.root).with_name("before unit")
    shutil.copytree(store.root, before)
    shutil.rmtree(before / "units" / "solve" / solve.key)
    (before / receipt_file("solve", solve.key)).unlink()

    def check(left: Store, step: int) -> None:
        found = take_inventory(left, [("solve", solve.key)])
        assert not found.damaged, f"step {step} of a unit left a receipt without its files"
        assert execute(solve, left).receipt is not None
        for name, table in zip(names, expected):
            assert left.read_table(name).drop_columns(_timings(name)).equals(table), f"step {step}: {name}"
        assert take_inventory(left, [("solve", solve.key)]).done

    return steps_of(lambda left: execute(solve, left), before, check)


def _timings(name: str) -> list[str]:
    return ["solve_seconds"] if "/results" in name else []


def _run(config: Any, store: Store, every: int) -> int:
    """A whole run over the results of an earlier, smaller one; all units are there, so that it needs no Ray."""
    audit.run(config, store.root, Silent(), limit=1)
    before = Path(store.root)
    undisturbed = shutil.copytree(before, before.with_name("undisturbed"))
    audit.run(config, str(undisturbed), Silent())
    expected = rows(Store(str(undisturbed)))
    assert len(expected) > len(rows(store)) > 0

    def check(left: Store, step: int) -> None:
        if is_sealed(left):
            faults = verify(left, sample=0).faults
            assert not faults, f"step {step} left a seal on what does not hold: {faults}"
        summary = audit.run(config, left.root, Silent())
        assert summary.counts["computed"] == 0, f"step {step} lost units"
        pd.testing.assert_frame_equal(rows(left), expected)
        assert is_sealed(left) and not verify(left, sample=0).faults, f"step {step}"
        leftovers = [name for name in left.entries("") if TEMPORARY in name]
        assert not leftovers, f"step {step} left {leftovers}"

    return steps_of(lambda left: audit.run(config, left.root, Silent()), before, check, every)


if __name__ == "__main__":
    main()
