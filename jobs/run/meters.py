"""Prometheus metrics of an audit: units by how they ended, their seconds, and how many run now.

Ray puts `ray_` before the names and shows them at every node's metrics endpoint, a few seconds late.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

# Buckets of the units' seconds.
SECONDS_BOUNDARIES = [0.01, 0.1, 1, 10, 60, 600, 3600]
# Letters of a tag, which every sample repeats; a digest distinguishes longer ones.
LONGEST_TAG, DIGITS = 100, 8


class Meters:
    """The metrics; counter, gauge and histogram are what makes one of each kind, as Ray's classes do."""

    def __init__(
        self, audit: str, counter: Callable[..., Any], gauge: Callable[..., Any], histogram: Callable[..., Any]
    ) -> None:
        self._audit = {"audit": tag(audit)}
        self._units = counter(
            "mpr_audit_units",
            description="Units by how they ended: done, failed, retried.",
            tag_keys=("audit", "stage", "outcome"),
        )
        self._seconds = histogram(
            "mpr_audit_unit_seconds",
            description="Seconds of finished units.",
            boundaries=SECONDS_BOUNDARIES,
            tag_keys=("audit", "stage"),
        )
        self._running = gauge("mpr_audit_units_running", description="Units that run now.", tag_keys=("audit",))

    def ended(self, stage: str, outcome: str, seconds: float | None) -> None:
        """A unit is done, failed or was retried."""
        tags = self._audit | {"stage": stage}
        self._units.inc(1, tags | {"outcome": outcome})
        if seconds is not None:
            self._seconds.observe(seconds, tags)

    def in_flight(self, units: int) -> None:
        """Number of units that run now."""
        self._running.set(units, self._audit)


def tag(text: str) -> str:
    """A text as the value of a tag, which Ray wants in ASCII: other letters, and ends of lines, as their escapes."""
    escaped = text.encode("ascii", "backslashreplace").decode("ascii").replace("\n", "\\n").replace("\r", "\\r")
    if len(escaped) <= LONGEST_TAG:
        return escaped
    return f"{escaped[:LONGEST_TAG]}...{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:DIGITS]}"
