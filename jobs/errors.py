"""Errors that the command line turns into one line and an exit code."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager


class UsageError(Exception):
    """Bad usage, configuration or input data: exit code 2, nothing was computed."""


class BadSetting(UsageError, ValueError):
    """A setting of the configuration that cannot be used; `key` leads to it: ("methods", 2, "mmr", "spread").

    Whoever has the file puts its line before the message (`jobs.config.file.ConfigFile.placing`).
    """

    def __init__(self, message: str, *key: str | int) -> None:
        super().__init__(": ".join([*([".".join(map(str, key))] if key else []), message]))
        self.message = message
        self.key = key

    def __reduce__(self) -> tuple[type[BadSetting], tuple[str | int, ...]]:
        return type(self), (self.message, *self.key)


@contextmanager
def about(*key: str | int) -> Iterator[None]:
    """What is unusable in here is so for the setting at that key, if nothing nearer is named.

    A file that the system refuses (its name is too long, nobody may read it) is unusable like one that is not there.
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
    """Whatever is unusable in here is so of one thing, whose name comes first: "dataset people: ...".

    So that no message within repeats the name.
    """
    try:
        yield
    except BadSetting as error:
        raise BadSetting(f"{what}: {error.message}", *error.key) from None
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None


class RunError(Exception):
    """A run that must not go on: exit code 1, what is finished is kept."""


class Stopped(Exception):
    """A run ended early because as many units failed as its settings allow: exit code 3."""


class Detached(Exception):
    """What was followed goes on without us: exit code 130."""


# A disk without room, and a user who has used up what is granted.
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}


def is_disk_full(error: BaseException) -> bool:
    """Whether something could not be written for want of room."""
    return isinstance(error, OSError) and error.errno in DISK_FULL


def full_disk(output: str) -> str:
    """What a run says whose output has no room left."""
    return f"no space left for output {output}: finished units are kept; make room, and the same command continues"
