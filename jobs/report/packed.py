"""Values as compact text inside the page: JSON, deflated, in base64; whole numbers as digits in base 64.

No text of the data can close its element or become markup. Items and counts are digits of fixed width, for which JSON
lists would be thrice as long.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..analysis.wording import is_missing

DIGITS = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_", dtype=np.uint8)


def pack(value: Any) -> str:
    """JSON, deflated, in base64."""
    return as_text(deflated(value))


def deflated(value: Any) -> bytes:
    """JSON, deflated."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return zlib.compress(text.encode("utf-8", "replace"), level=6)


def as_text(content: bytes) -> str:
    """Bytes in base64."""
    return base64.b64encode(content).decode("ascii")


def digits(values: ArrayLike, width: int) -> str:
    """Whole numbers below 64**width in base 64, each `width` digits, most significant first."""
    values = np.asarray(values, dtype=np.int64)
    places = 64 ** np.arange(width - 1, -1, -1)
    return DIGITS[(values[:, None] // places) % 64].tobytes().decode("ascii")


def digits_for(largest: int) -> int:
    """Digits that a whole number takes in base 64."""
    width = 1
    while 64**width <= largest:
        width += 1
    return width


def rounded(value: Any) -> float | None:
    """Six significant digits: more than the page shows."""
    return None if is_missing(value) else float(f"{float(value):.6g}")


def rounded_values(values: Sequence[Any]) -> list[float | None]:
    """Each number rounded; those that repeat, once."""
    known = {value: rounded(value) for value in set(values) if not is_missing(value)}
    return [known.get(value) for value in values]
