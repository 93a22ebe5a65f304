"""`mpr-audit`, also `python -m jobs`: signals are handled from the first line on.

Exit codes: 0 all done, 1 failed, 2 bad usage or configuration (one line on standard error),
3 finished with failed units, 4 a comparison found a regression, 130 interrupted.
"""

from __future__ import annotations

import codecs
import io
import json
import shlex
import sys
from typing import Any, NoReturn

from .. import interruption

# How letters are printed that the output's encoding lacks.
ESCAPES = "mpr-audit-escapes"
KEPT = "interrupted; finished units are kept"


def entry() -> NoReturn:
    """The console script: `main`, then the end of the process."""
    # Texts of the data may hold any letter, and a terminal or a log may not know all.
    codecs.register_error(ESCAPES, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ESCAPES)
    interruption.end_process(main())


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments

    def work() -> int:
        # Imported in the thread that works, so that a signal is handled meanwhile.
        try:
            from .application import execute
        except ModuleNotFoundError as error:
            line = missing_package(error)
            if line is None:
                raise
            print(f"mpr-audit: {line}", file=sys.stderr)
            return interruption.USAGE
        return execute(arguments)

    def farewell(reason: str) -> None:
        if reason:
            print(f"mpr-audit: {reason}", file=sys.stderr)
        print(how_to_go_on(KEPT, arguments), file=sys.stderr)

    # A scheduler's SIGTERM ends a run as Ctrl-C does: finished units are kept.
    return interruption.supervised(work, farewell)


def how_to_go_on(what: str, arguments: list[str]) -> str:
    """The line that names the command which continues."""
    return f"mpr-audit: {what}, continue with: {shlex.join(['mpr-audit', *arguments])}"


def missing_package(error: ModuleNotFoundError) -> str | None:
    """The sentence for a package that is not there, as after `pip install mprlib`; None for a module of ours."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "mprlib", __package__.partition(".")[0]):
        return None
    return f"{package} is not installed: pip install 'mprlib[audit]' brings what an audit needs"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Letters that an encoding lacks, as JSON writes them: what is printed as JSON stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def __getattr__(name: str) -> Any:
    """`app`, the commands, which are imported when they are asked for."""
    if name == "app":
        from .application import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
