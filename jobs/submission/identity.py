"""The id of a submission: the same audit in the same period has the same one, and Ray refuses it twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from ..config.audit import Audit
from ..store.keys import digest
from .defaults import PERIODS

# Letters of the audit's name in an id.
NAME_LENGTH = 40
DIGEST_LENGTH = 10


def period_of(period: str, moment: datetime | None = None) -> str:
    """The hour, day, week or month of a moment (default: now), in UTC."""
    return (moment or datetime.now(UTC)).astimezone(UTC).strftime(PERIODS[period])


def submission_id(
    settings: Audit, *, output: str, limit: int | None, files: Iterable[Path], period: str | None = None
) -> str:
    """Name, content and period of an audit.

    files: those that travel with it; their content counts, their place does not. How it runs (workers,
    address, cache) does not count either: two such submissions would write the same results.
    """
    content = [
        settings.model_dump(mode="json", exclude={"runtime", "cache"}),
        output,
        limit,
        sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in files),
    ]
    name = re.sub(r"[^a-z0-9]+", "-", settings.name.lower())[:NAME_LENGTH].strip("-") or "audit"
    parts = [name, digest(content)[:DIGEST_LENGTH], *([period] if period else [])]
    return "-".join(parts)
