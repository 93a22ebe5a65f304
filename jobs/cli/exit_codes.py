"""Exit codes of commands beside 0; `jobs.interruption` has those of failures, bad usage and interruption."""

from __future__ import annotations

UNFINISHED = 3
REGRESSION = 4
