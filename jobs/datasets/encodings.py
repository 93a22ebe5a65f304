"""Text files: UTF-8, with or without a byte-order mark; anything else is named, not guessed at."""

from __future__ import annotations

import codecs
from pathlib import Path

# A mark at the start that says how the text is written. The longer ones begin as the shorter ones do.
OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
LONGEST_MARK = max(map(len, OTHER_MARKS))
UTF8 = "utf-8-sig"
NUL_FAULT = "it holds NUL characters: UTF-8 text is expected, which UTF-16 and binary files are not"


def other_mark(start: bytes) -> str | None:
    """What is wrong with a file that begins with these bytes, if they say that it is no UTF-8."""
    found = next((name for mark, name in OTHER_MARKS.items() if start.startswith(mark)), None)
    return None if found is None else f"it is {found} text, and UTF-8 is expected: save it as UTF-8"


def lines_of(path: Path) -> list[str]:
    """The lines of a text file; only line feeds and carriage returns end one.

    Raises:  OSError; ValueError, a sentence without the file's name, for what is no UTF-8 text.
    """
    content = path.read_bytes()
    fault = other_mark(content) or (NUL_FAULT if b"\0" in content else None)
    if fault is not None:
        raise ValueError(fault)
    try:
        text = content.decode(UTF8)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line} is not UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
