"""Counts, times, sizes, names and errors as a sentence says them: "12,000 queries", "3 min", "did you mean 'tree'?"."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# How alike a wrong name and a known one must be to be taken for a slip (1: equal); half the letters in order are.
LEAST_LIKENESS = 0.5
# Characters of another package's message that one sentence can hold.
LONGEST_REASON = 300


def numbered(count: int, noun: str, plural: str | None = None) -> str:
    """The count and its noun; plural where an s does not make it."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Seconds as a reader says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def bytes_of(size_bytes: float) -> str:
    """A size in decimal units, as disks and files are sold: "812 MB", "1.2 GB"."""
    return f"{size_bytes / 1e9:,.1f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:,.0f} MB"


def closest(name: str, known: Iterable[str], likeness: float = LEAST_LIKENESS) -> str | None:
    """The known name that a wrong one was probably meant to be, if any is like it."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=likeness)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to write instead of an unknown name: the one that was probably meant, or else all that are known."""
    names = list(known)
    close = closest(name, names)
    return f"did you mean {close!r}?" if close else f"known are {', '.join(names)}"


def shortened(text: object, longest: int = LONGEST_REASON) -> str:
    """A message of another package, often an exception, as one line of a bounded length."""
    return " ".join(str(text).split())[:longest]
