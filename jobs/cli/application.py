"""Every command in one application, and the exit code and last line for each way that one can end."""

from __future__ import annotations

import errno
import importlib
import pkgutil
import sys
import traceback
from typing import Annotated

import typer

from ..errors import Detached, RunError, Stopped, UsageError
from ..interruption import FAILED, INTERRUPTED, USAGE
from ..words import shortened
from . import KEPT, commands, how_to_go_on, missing_package
from .exit_codes import UNFINISHED

# Characters of a message about wrong input, which may quote a long text of the configuration or the data.
LONGEST_MESSAGE = 2_000
# Help shows an audit's own commands first, in the order of their use; the others follow by name.
SHOWN_FIRST = ("plan", "run", "status", "report")


def command_names() -> list[str]:
    """Names of the files in `jobs/cli/commands`, as help shows them."""
    names = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))
    return sorted(names, key=lambda name: SHOWN_FIRST.index(name) if name in SHOWN_FIRST else len(SHOWN_FIRST))


def application() -> typer.Typer:
    """The command line: each command's file has a function of its name."""
    app = typer.Typer(
        name="mpr-audit",
        no_args_is_help=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for name in command_names():
        command = importlib.import_module(f"{commands.__name__}.{name}")
        app.command(name.replace("_", "-"))(getattr(command, name))
    return app


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from mprlib import __version__

        print(f"mpr-audit {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Audit retrieval for multi-group proportional representation, and what fairer retrieval costs."""


# A disk, or whoever looks after it, refuses: nothing is wrong with the command, and a traceback would say no more.
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT)
# A folder where a file should be, or a file where a folder should be.
IN_THE_WAY = (errno.EISDIR, errno.ENOTDIR, errno.EEXIST)

app = application()


def execute(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        _expect_text(arguments)
        code = int(app(args=arguments, prog_name="mpr-audit", standalone_mode=False) or 0)
        if code == INTERRUPTED:  # typer swallows an interrupt and says so by the code alone
            raise KeyboardInterrupt
        return code
    except (KeyboardInterrupt, typer.Abort):
        print(how_to_go_on(KEPT, arguments), file=sys.stderr)
        return INTERRUPTED
    except Stopped as error:
        print(how_to_go_on(str(error), arguments), file=sys.stderr)
        return UNFINISHED
    except Exception as error:  # noqa: BLE001 - the last place that can tell the user
        return _failed(error)


def _failed(error: Exception) -> int:
    """Print an error as one line, an unexpected one with its traceback, and return its exit code."""
    match error:
        case Detached():
            code, line = INTERRUPTED, str(error)
        case typer.TyperException():
            code, line = USAGE, shortened(_named(error).format_message(), LONGEST_MESSAGE)
        case UsageError():
            code, line = USAGE, shortened(str(error), LONGEST_MESSAGE)
        case ModuleNotFoundError() if (missing := missing_package(error)) is not None:
            code, line = USAGE, missing
        case RunError():
            code, line = FAILED, f"failed: {' '.join(str(error).split())}"
        case OSError(errno=number) if number in REFUSED:
            where = f"{error.filename}: " if error.filename else ""
            code, line = FAILED, f"failed: {where}{error.strerror}"
        case OSError(errno=number, filename=str() as name) if number in IN_THE_WAY:
            code, line = FAILED, f"failed: {error.filename2 or name} is in the way ({error.strerror}): move it"
        case _:
            traceback.print_exception(error)
            code, line = FAILED, f"failed: {type(error).__name__}: {error}"
    print(f"mpr-audit: {line}", file=sys.stderr)
    return code


def _named(error: typer.TyperException) -> typer.TyperException:
    """The error of an option's value, in the words of a configuration's errors."""
    from pydantic import ValidationError

    from ..settings.places import expectation

    if isinstance(error, typer.BadParameter) and isinstance(error.__cause__, ValidationError):
        error.message = expectation(error.__cause__)
    return error


def _expect_text(arguments: list[str]) -> None:
    """Refuse bytes that are no text: Ray and JSON could not write them down.

    Raises:  UsageError for the first such argument.
    """
    for argument in arguments:
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError:
            raise UsageError(f"{argument!r}: an argument in UTF-8 is expected") from None
