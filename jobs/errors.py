"""Errors that the command line turns into one line and an exit code."""

from __future__ import annotations

import errno


class UsageError(Exception):
    """Bad usage, configuration or input data: exit code 2, nothing was computed."""


class BadSetting(UsageError, ValueError):
    """A setting of the configuration that cannot be used; `key` leads to it: ("methods", 2, "mmr", "spread").

    Whoever has the file adds its line (`jobs.config.file.ConfigFile.located`).
    """

    def __init__(self, message: str, *key: str | int) -> None:
        super().__init__(message)
        self.key = key


class RunError(Exception):
    """A run that must not go on: exit code 1, what is finished is kept."""


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
