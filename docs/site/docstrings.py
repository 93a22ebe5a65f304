"""Docstrings as Markdown.

Paragraphs stay; blocks that are indented are shown as they are written, since they are formulas and tables; examples
become blocks of Python; the house's fields (`Shapes:`, `Returns:`, `Raises:`, `Source:`) become a list, and so do
arguments that are told of at the beginning of a line.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import groupby

FIELDS = ("Shape", "Shapes", "Returns", "Raises", "Source")
# A field, or an argument, perhaps with its shape: "sizes (L,): effective rows".
ENTRY = re.compile(r"^(?P<name>\w+)(?P<shape> \([^)]*\))?:\s+")
PROMPT = ">>>"
# What Markdown would read as mark-up, outside of code.
SPECIAL = re.compile(r"([*_\[\]<>$#|~])")


def markdown(text: str, arguments: Collection[str] = ()) -> str:
    """The docstring's Markdown; text is cleaned of its indentation (`inspect.cleandoc`)."""
    blocks = [
        list(lines) for is_text, lines in groupby(text.splitlines(), key=lambda line: bool(line.strip())) if is_text
    ]
    return "\n\n".join(part for block in blocks for part in _parts(block, arguments))


def _parts(block: list[str], arguments: Collection[str]) -> list[str]:
    """Markdown of lines without a blank one between them."""
    start = next((number for number, line in enumerate(block) if line.lstrip().startswith(PROMPT)), None)
    if start is not None:
        return [*(_parts(block[:start], arguments) if start else []), _fenced("pycon", block[start:])]
    entry = next((number for number, line in enumerate(block) if _entry(line, arguments)), None)
    if entry is not None:
        return [*(_parts(block[:entry], arguments) if entry else []), "\n".join(_entries(block[entry:], arguments))]
    if block[0].startswith(" ") or _is_table(block):
        return [_fenced("text", block)]
    return [" ".join(escaped(line.strip()) for line in block)]


def _is_table(block: list[str]) -> bool:
    """Whether columns are aligned in most lines: a term, blanks, its explanation."""
    return sum(bool(re.match(r"\S+( \S+)*  +\S", line) or line.startswith("  ")) for line in block) > len(block) / 2


def _entry(line: str, arguments: Collection[str]) -> re.Match[str] | None:
    """The beginning of a line that tells of a field or an argument."""
    found = ENTRY.match(line)
    return found if found and found["name"] in (*FIELDS, *arguments) else None


def _entries(lines: list[str], arguments: Collection[str]) -> list[str]:
    """A list of fields and arguments; an entry goes on in the lines below it, to the next one."""
    found: list[str] = []
    for line in lines:
        entry = _entry(line, arguments)
        if entry is None:
            found.append(f"  {escaped(line.strip())}")
            continue
        name = f"**{entry['name']}**" if entry["name"] in FIELDS else f"`{entry['name']}`"
        found.append(f"- {name}{escaped(entry['shape'] or '')}: {escaped(line[entry.end() :].strip())}")
    return found


def _fenced(language: str, lines: list[str]) -> str:
    least = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join([f"```{language}", *(line[least:] for line in lines), "```"])


def escaped(text: str) -> str:
    """Text that Markdown shows as it is; what is between backquotes is code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else SPECIAL.sub(r"\\\1", part) for part in parts)
