"""Counts and times in words ("1 unit", "2 units", "12,000 queries", "3 min"), and texts of others on one line."""

from __future__ import annotations


def numbered(count: int, noun: str, plural: str | None = None) -> str:
    """The count and its noun; plural where an s does not make it."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Seconds as a reader says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def one_line(text: str, most_letters: int | None = None) -> str:
    """A text without line breaks, cut where it is longer than that."""
    words = " ".join(text.split())
    return words if most_letters is None or len(words) <= most_letters else f"{words[:most_letters]}..."


def first_line(text: str, otherwise: str) -> str:
    """The first line of a text, or something else where it is blank."""
    return (text.strip().splitlines() or [otherwise])[0]
