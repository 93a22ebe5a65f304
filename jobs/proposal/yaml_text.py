"""Pieces of a commented YAML file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

# What stands without quotes and is read as the same text.
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*( [A-Za-z0-9_.-]+)*")
RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def quoted(text: str) -> str:
    """A text as YAML."""
    is_plain = PLAIN.fullmatch(text) is not None and text.lower() not in RESERVED
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def path_of(text: str) -> str:
    """A path as YAML."""
    return text if re.fullmatch(r"[A-Za-z0-9_./-]+", text) else json.dumps(text, ensure_ascii=False)


def with_comment(line: str, comment: str = "") -> str:
    """A line and what is to be said of it."""
    return f"{line:<42}  # {comment}" if comment else line


def lines_of(*parts: str | Sequence[str]) -> str:
    """Lines and lists of lines as one text."""
    found: list[str] = []
    for part in parts:
        found += [part] if isinstance(part, str) else part
    return "\n".join(found) + "\n"
