"""What a model's package raises, as a user reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import UsageError
from ..words import shortened


def first_line(error: BaseException) -> str:
    """The kind of an error and its first line: those after it are lists of tensors or advice for programmers."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {shortened(lines[0])}" if lines else type(error).__name__


@contextmanager
def one_sentence(where: str) -> Iterator[None]:
    """What another package raises in here becomes one sentence that names the setting.

    Raises:  UsageError.
    """
    try:
        yield
    except UsageError:
        raise
    except Exception as error:  # packages of models and the hub raise everything
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(f"{where}: {shortened(lines[0])}") from error
