"""Counts, times, sizes, names and other people's texts in words: "12,000 queries", "3 min", "1.2 GB"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

# How alike a wrong name and a known one must be to be taken for a slip (1: equal); half the letters in order are.
LEAST_LIKENESS = 0.5
# Characters of another package's message that one sentence can hold.
LONGEST_REASON = 300
CUT = " ... "
# Names that a sentence gives as examples of many.
MOST_EXAMPLES = 3


def numbered(count: int, noun: str, plural: str | None = None) -> str:
    """The count and its noun; plural where an s does not make it."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Seconds as a reader says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def bytes_of(count: float) -> str:
    """A size in decimal units, as disks are sold: "512 bytes", "1.5 kB", "700 MB", "1.2 GB", "4,000 TB"."""
    if round(count) < 1000:
        return numbered(round(count), "byte")
    for unit in ("kB", "MB", "GB", "TB"):  # noqa: B007 - the last one is said below
        count /= 1000
        # What would be printed as 1,000 belongs to the next unit.
        if round(count) < 1000:
            break
    return f"{count:,.0f} {unit}" if count >= 99.95 else f"{count:.1f}".removesuffix(".0") + f" {unit}"


def closest(name: str, known: Iterable[str], likeness: float = LEAST_LIKENESS) -> str | None:
    """The known name that was probably meant; None where none is like it."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=likeness)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to write instead of an unknown name: the one that was probably meant, or else all that are known."""
    names = list(known)
    close = closest(name, names)
    return f"did you mean {close!r}?" if close else f"known are {', '.join(names)}"


def shortened(given: object, most: int = LONGEST_REASON) -> str:
    """A text, or an exception's, on one line of at most `most` characters: what is too long loses its middle."""
    text = " ".join(str(given).split())
    if len(text) <= most:
        return text
    kept = max(0, most - len(CUT))
    return text[: kept - kept // 2] + CUT[:most] + text[len(text) - kept // 2 :]


def first_line(text: str) -> str:
    """The first line of a message, which states what its other lines explain."""
    return text.strip().partition("\n")[0].strip()


def examples(names: Sequence[str]) -> str:
    """The first of some names in quotes, and how many more there are."""
    more = f" and {len(names) - MOST_EXAMPLES:,} more" if len(names) > MOST_EXAMPLES else ""
    return ", ".join(f"{name!r:.80}" for name in names[:MOST_EXAMPLES]) + more
