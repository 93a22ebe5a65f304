"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One line of the doctor's. advice: what to do, where something is wrong."""

    name: str
    level: Literal["ok", "warning", "problem"]
    found: str
    advice: str | None = None


def ok(name: str, found: str) -> Check:
    """Nothing to do."""
    return Check(name=name, level="ok", found=found)


def warning(name: str, found: str, advice: str) -> Check:
    """An audit runs, and somebody may wish it ran otherwise."""
    return Check(name=name, level="warning", found=found, advice=advice)


def problem(name: str, found: str, advice: str) -> Check:
    """An audit will not run, or not to its end."""
    return Check(name=name, level="problem", found=found, advice=advice)
