"""`python -m jobs`."""

from jobs.cli import entry

entry()
