"""What commands cost before they do anything: python -m tests.benchmarks.start_up

CPU seconds (user and system, children included) of `import mprlib`, of `mpr-audit --help`, of each command's `--help`,
and of `mpr-audit status` on a run of 100 units: the least of five, with the files in memory and compiled to bytecode
as pip compiles them.
Bars: 0.25 s for the library, 0.35 s for help, 0.6 s for status.

`--first-calls` prints CPU seconds of processes that solve, on a machine that has compiled nothing yet, and again when
it has: 50 requests of a service for the 20 best of 1,000 within chance, and within an MPR of 0.05; a sweep of `mopr`;
and `mprlib.warm_up`, which compiles everything. With names of rows after it, these alone.
Bars: 30 s for requests of `groups` and `linear`, 70 s for everything.
"""

from __future__ import annotations

import argparse
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

ANSWERS = """
from tests.benchmarks import rerank
reference = rerank.population()
for one in rerank.requests(50):
    rerank.answer(one, reference, {!r}, {!r})
"""
SWEEP = """
import mprlib
from tests.benchmarks import rerank
one = next(rerank.requests(1))
problem = mprlib.Problem.from_frames(
    {{**one.labels, "score": one.scores}}, rerank.people(20_000, 5.0, rerank.np.random.default_rng(1)), score="score",
    attributes=list(one.labels), k=20,
)
mprlib.sweep(problem, "mopr", function_class={!r})
"""
# Programs, and the seconds that each may take where nothing is compiled.
FIRST_CALLS = {
    "rerank groups": (ANSWERS.format("groups", "chance"), 30.0),
    "rerank groups, 0.05": (ANSWERS.format("groups", 0.05), 30.0),
    "rerank linear": (ANSWERS.format("linear", "chance"), 30.0),
    "rerank linear, 0.05": (ANSWERS.format("linear", 0.05), 30.0),
    "sweep groups": (SWEEP.format("groups"), 70.0),
    "sweep linear": (SWEEP.format("linear"), 70.0),
    "warm_up": ("from mprlib.warm_up import warm_up; warm_up()", 70.0),
}


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


def first_calls(names: list[str]) -> bool:
    """Print what programs take before and after compiling; whether a bar is missed."""
    print(f"{'':<24}{'first s':>8}{'later s':>8}{'bar':>8}")
    missed = False
    for name in names:
        program, bar = FIRST_CALLS[name]
        with tempfile.TemporaryDirectory() as folder:
            variables = {**environment(), "XDG_CACHE_HOME": folder, "NUMBA_CACHE_DIR": "", "OMP_NUM_THREADS": "1"}
            first, later = (once([sys.executable, "-c", program], variables) for _ in range(2))
        missed |= first > bar
        print(f"{name:<24}{first:>8.1f}{later:>8.1f}{bar:>8.1f}", flush=True)
    return missed


def commands() -> bool:
    """Print what importing the library, help and status take; whether a bar is missed."""
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
    return missed


def main() -> None:
    """Print the table; exit with 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-calls", nargs="*", choices=FIRST_CALLS, help="what compiling takes: some minutes")
    asked = parser.parse_args().first_calls
    sys.exit(int(commands() if asked is None else first_calls(asked or list(FIRST_CALLS))))


if __name__ == "__main__":
    main()
