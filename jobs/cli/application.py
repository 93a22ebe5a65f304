"""Every command in one application, and what its end says by the exit code."""

from __future__ import annotations

import sys
import traceback

import typer

from jobs.cli import KEPT, audits, clusters, how_to_go_on, prompts, results
from jobs.cli.clean import clean
from jobs.errors import Detached, RunError, UsageError
from jobs.interruption import FAILED, INTERRUPTED, USAGE

# Characters of a message about wrong input; what it is about is at its beginning or its end.
LONGEST_MESSAGE = 2_000

app = typer.Typer(
    name="mpr-audit",
    help="Audit retrieval for multi-group proportional representation, and what fairer retrieval costs.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(audits.plan)
app.command()(audits.run)
app.command()(audits.status)
app.command()(audits.report)
app.command()(clusters.submit)
app.command("doctor")(clusters.examine)
app.command()(results.compare)
app.command()(results.export)
app.command()(results.exhibits)
app.command()(results.verify)
app.command()(clean)
app.command()(prompts.train_prompt)
app.command()(prompts.convert_prompt)


def _expect_text(arguments: list[str]) -> None:
    """Refuse bytes that are no text: Ray and JSON could not write them down.

    Raises:  UsageError for the first such argument.
    """
    for argument in arguments:
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError:
            raise UsageError(f"{argument!r}: an argument in UTF-8 is expected") from None


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
    except audits.Stopped as error:
        print(how_to_go_on(str(error), arguments), file=sys.stderr)
        return audits.UNFINISHED
    except Detached as error:
        print(f"mpr-audit: {error}", file=sys.stderr)
        return INTERRUPTED
    except (typer.TyperException, UsageError) as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        print(f"mpr-audit: {_shortened(' '.join(message.split()))}", file=sys.stderr)
        return USAGE
    except RunError as error:
        print(f"mpr-audit: failed: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILED
    except Exception as error:  # noqa: BLE001 - the last place that can tell the user
        traceback.print_exc()
        print(f"mpr-audit: failed: {type(error).__name__}: {error}", file=sys.stderr)
        return FAILED


def _shortened(message: str) -> str:
    """A message that quotes a long text of the configuration or the data still is one that can be read."""
    kept = LONGEST_MESSAGE // 2
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:kept]} ... {message[-kept:]}"
