"""Words of messages: a count and its noun, and the known name that was probably meant by an unknown one."""

from __future__ import annotations

from collections.abc import Iterable


def numbered(count: int, noun: str) -> str:
    """The count and its noun: "1 item", "12,000 items"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def nearest(wanted: str, known: Iterable[str]) -> str | None:
    """The known name that is spelt most alike; None where none is near.

    >>> nearest("satturated", ["linear", "saturated"])
    'saturated'
    """
    # Only messages of errors ask for it, and it takes a while to load.
    from difflib import get_close_matches

    close = get_close_matches(wanted, list(known), n=1)
    return close[0] if close else None
