"""Names of what is kept, made from its content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

# Hexadecimal digits of a unit's key: 80 bits, no collision among billions of units.
KEY_DIGITS = 20


def digest(value: Any) -> str:
    """A stable name of JSON values."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]
