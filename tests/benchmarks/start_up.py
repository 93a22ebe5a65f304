"""What commands cost before they do anything: python -m tests.benchmarks.start_up

CPU seconds (user and system, children included) of `mpr-audit --help`, of each command's `--help`, and of
`mpr-audit status` on a run of 100 units: the least of five, with the files in memory.
Bars: 0.35 s for help, 0.6 s for status.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from jobs.cli.application import command_names
from jobs.own_code import environment, module_command
from tests.jobs.cli import small_run

TIMES = 5
HELP_SECONDS, STATUS_SECONDS = 0.35, 0.6


def cpu_seconds(*arguments: str) -> float:
    """The least CPU time of some runs of a command."""
    return min(_once(arguments) for _ in range(TIMES))


def _once(arguments: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*module_command("__main__"), *arguments], check=True, capture_output=True, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table; exit with 1 where a bar is missed."""
    names = [name.replace("_", "-") for name in command_names()]
    with tempfile.TemporaryDirectory() as folder:
        run = str(small_run.write(Path(folder) / "run"))
        calls = [(["--help"], HELP_SECONDS), *(([name, "--help"], HELP_SECONDS) for name in names)]
        calls.append((["status", run], STATUS_SECONDS))
        print(f"{'mpr-audit':<24}{'CPU s':>8}{'bar':>8}")
        missed = False
        for arguments, bar in calls:
            seconds = cpu_seconds(*arguments)
            missed |= seconds > bar
            print(f"{' '.join(arguments).replace(run, 'RUN'):<24}{seconds:>8.2f}{bar:>8.2f}")
    sys.exit(int(missed))


if __name__ == "__main__":
    main()
