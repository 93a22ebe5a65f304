"""Why an item has no picture: a closed list, so that reasons can be counted."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from ..words import shortened


class Reason(StrEnum):
    """What a `skipped` table says of an item."""

    NO_IMAGE = "no image named"
    MISSING = "missing file"
    UNREADABLE = "unreadable file"
    NOT_REGULAR = "not a regular file"
    OUTSIDE = "outside the root"
    EMPTY = "empty file"
    TOO_LARGE = "too many bytes"
    NOT_AN_IMAGE = "not an image"
    TRUNCATED = "truncated"
    DAMAGED = "damaged"
    TOO_MANY_PIXELS = "too many pixels"
    TOO_SMALL = "too small"
    TOO_LONG = "too long and narrow"
    UNSUPPORTED = "unsupported pixels"
    NOT_FINITE = "vector is not finite"
    NO_DIRECTION = "vector is zero"
    BAD_NAME = "malformed name"
    BAD_LABEL = "malformed label"
    REPEATED = "repeated name"
    NO_LABEL = "no label"
    BAD_ARCHIVE = "damaged archive"
    CRASHED = "decoder crashed"


class ImageError(Exception):
    """A picture that cannot be had: a reason of the list, and a detail for people."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason = reason
        self.detail = shortened(detail, LONGEST_DETAIL)

    def __reduce__(self) -> tuple[Any, ...]:
        return ImageError, (self.reason, self.detail)


# Characters of a detail: messages of decoders may repeat what a file holds.
LONGEST_DETAIL = 300
