"""Numbers of things in words: "1 unit", "2 units", "12,000 queries"."""

from __future__ import annotations


def numbered(count: int, noun: str, plural: str | None = None) -> str:
    """The count and its noun; plural where an s does not make it."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
