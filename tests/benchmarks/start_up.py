"""What commands cost before they do anything: python -m tests.benchmarks.start_up

CPU seconds (user and system, children included) of `import mprlib`, of `mpr-audit --help`, of each command's `--help`,
and of `mpr-audit status` on a run of 100 units: the least of five, with the files in memory and compiled to bytecode
as pip compiles them.
Bars: 0.25 s for the library, 0.35 s for help, 0.6 s for status.
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
LIBRARY_SECONDS, HELP_SECONDS, STATUS_SECONDS = 0.25, 0.35, 0.6


def cpu_seconds(*arguments: str) -> float:
    """The least CPU time of some runs of a command."""
    return min(once([*module_command("__main__"), *arguments]) for _ in range(TIMES))


def once(command: list[str], variables: dict[str, str] | None = None) -> float:
    """The CPU time of one process, with the variables that show it this checkout, or with these alone."""
    if variables is None:
        variables = {**environment(), "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "mprlib-bytecode")}
        # An environment may keep Python from writing bytecode, so that each process would compile everything anew.
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table; exit with 1 where a bar is missed."""
    names = [name.replace("_", "-") for name in command_names()]
    with tempfile.TemporaryDirectory() as folder:
        run = str(small_run.write(Path(folder) / "run"))
        calls = [(["--help"], HELP_SECONDS), *(([name, "--help"], HELP_SECONDS) for name in names)]
        calls.append((["status", run], STATUS_SECONDS))
        library = min(once([sys.executable, "-c", "import mprlib"]) for _ in range(TIMES))
        print(f"{'':<24}{'CPU s':>8}{'bar':>8}")
        print(f"{'import mprlib':<24}{library:>8.2f}{LIBRARY_SECONDS:>8.2f}")
        missed = library > LIBRARY_SECONDS
        for arguments, bar in calls:
            seconds = cpu_seconds(*arguments)
            missed |= seconds > bar
            print(f"{' '.join(arguments).replace(run, 'RUN'):<24}{seconds:>8.2f}{bar:>8.2f}")
    sys.exit(int(missed))


if __name__ == "__main__":
    main()
