"""Errors that the command line turns into one line and an exit code."""


class UsageError(Exception):
    """Bad usage, configuration or input data: exit code 2, nothing was computed."""


class RunError(Exception):
    """A run that must not go on: exit code 1, what is finished is kept."""


class Detached(Exception):
    """What was followed goes on without us: exit code 130."""
