"""Repeats tests beside busy processes and counts what fails: python -m tests.repeat --runs 10

By default the tests that signal and kill a run at many moments. Prints a row per run, then the failures by test; ends
with 1 where there is any.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
TESTS = ["tests/jobs/test_interrupts.py", "tests/chaos"]
BUSY = "while True: pass"


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes that each keep a CPU busy."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def run_once(tests: list[str], log: Path) -> tuple[int, list[str]]:
    """Number of tests that ran, and the names of those that failed; what they print is appended to the log."""
    with tempfile.TemporaryDirectory() as folder, log.open("a", encoding="utf-8") as stream:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "", f"--junit-xml={report}", *tests]
        subprocess.run(command, cwd=ROOT, stdout=stream, stderr=subprocess.STDOUT, check=False)
        if not report.exists():
            return 0, ["pytest itself"]
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return len(cases), [f"{case.get('classname')}::{case.get('name')}" for case in failed] or (
        [] if cases else ["nothing was collected"]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("tests", nargs="*", default=TESTS, help="what pytest is to run")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--busy", type=int, default=6, help="processes that each keep a CPU busy meanwhile")
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir()) / f"repeat-{os.getpid()}.log")
    given = parser.parse_args()
    failures: Counter[str] = Counter()
    print(f"{given.runs} runs of {' '.join(given.tests)} beside {given.busy} busy processes; output in {given.log}")
    print(f"{'run':>4}{'tests':>7}{'failed':>8}{'seconds':>9}", flush=True)
    with load(given.busy):
        for number in range(1, given.runs + 1):
            started = time.monotonic()
            tests, failed = run_once(given.tests, given.log)
            failures.update(failed)
            print(f"{number:>4}{tests:>7}{len(failed):>8}{time.monotonic() - started:>9.0f}", flush=True)
    for name, count in failures.most_common():
        print(f"failed {count} times: {name}")
    print("no failure" if not failures else f"{failures.total()} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
