"""Errors that the command line turns into one line and an exit code."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager


class UsageError(Exception):
    """Bad usage, configuration or input data: exit code 2, nothing was computed."""


class BadSetting(UsageError, ValueError):
    """A setting of the configuration that cannot be used; `key` is its path: ("methods", 2, "mmr", "spread").

    The reader of the file puts its line before the message (`jobs.config.file.ConfigFile.placing`).
    """

    def __init__(self, message: str, *key: str | int) -> None:
        super().__init__(": ".join([*([".".join(map(str, key))] if key else []), message]))
        self.message = message
        self.key = key

    def __reduce__(self) -> tuple[type[BadSetting], tuple[str | int, ...]]:
        return type(self), (self.message, *self.key)


@contextmanager
def about(*key: str | int) -> Iterator[None]:
    """Errors within this context are reported for the setting at that key, unless they already name a setting.

    Also errors of the system on opening files, such as too long names or missing permissions.
    """
    try:
        yield
    except BadSetting:
        raise
    except UsageError as error:
        raise BadSetting(str(error), *key) from None
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        raise BadSetting(f"{named}{error.strerror or error}", *key) from None


@contextmanager
def said_of(what: str) -> Iterator[None]:
    """Put a name before the errors raised within this context: "dataset people: ...".

    Messages within it need not repeat the name.
    """
    try:
        yield
    except BadSetting as error:
        raise BadSetting(f"{what}: {error.message}", *error.key) from None
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None


class RunError(Exception):
    """A run that cannot continue: exit code 1, finished units are kept."""


class Stopped(Exception):
    """A run ended early because as many units failed as its settings allow: exit code 3."""


class Detached(Exception):
    """The job that was followed continues without this process: exit code 130."""


# A full disk, and a user's quota that is used up.
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}


def is_disk_full(error: BaseException) -> bool:
    """Whether the error is a full disk or quota."""
    return isinstance(error, OSError) and error.errno in DISK_FULL


def full_disk(output: str) -> str:
    """The message of a command whose output has no space left."""
    return f"no space left for output {output}: finished units are kept; make room, and the same command continues"


@contextmanager
def room_in(output: str) -> Iterator[None]:
    """Name the folder in errors that a full disk raises within this context.

    Raises:  RunError for a full disk.
    """
    try:
        yield
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise RunError(full_disk(output)) from None
