"""Docstrings as Markdown.

Paragraphs stay; blocks that are indented are shown as they are written, since they are formulas and tables; examples
become blocks of Python; the house's fields (`Shapes:`, `Returns:`, `Raises:`, `Source:`) become a list.
"""

from __future__ import annotations

import re
from itertools import groupby

FIELD = re.compile(r"^(Shapes?|Returns|Raises|Source):\s+")
PROMPT = ">>>"
# What Markdown would read as mark-up, outside of code.
SPECIAL = re.compile(r"([*_\[\]<>$#|~])")


def markdown(text: str) -> str:
    """The docstring's Markdown; text is cleaned of its indentation (`inspect.cleandoc`)."""
    blocks = [
        list(lines) for is_text, lines in groupby(text.splitlines(), key=lambda line: bool(line.strip())) if is_text
    ]
    return "\n\n".join(part for block in blocks for part in _parts(block))


def _parts(block: list[str]) -> list[str]:
    """Markdown of lines without a blank one between them."""
    start = next((number for number, line in enumerate(block) if line.lstrip().startswith(PROMPT)), None)
    if start is not None:
        return [*(_parts(block[:start]) if start else []), _fenced("pycon", block[start:])]
    field = next((number for number, line in enumerate(block) if FIELD.match(line)), None)
    if field is not None:
        return [*(_parts(block[:field]) if field else []), "\n".join(_fields(block[field:]))]
    if block[0].startswith(" ") or _is_table(block):
        return [_fenced("text", block)]
    return [" ".join(escaped(line.strip()) for line in block)]


def _is_table(block: list[str]) -> bool:
    """Whether columns are aligned in most lines: a term, blanks, its explanation."""
    return sum(bool(re.match(r"\S+( \S+)*  +\S", line) or line.startswith("  ")) for line in block) > len(block) / 2


def _fields(lines: list[str]) -> list[str]:
    """One entry of a list a field; a field goes on in the lines indented below it, and then does the text."""
    found: list[str] = []
    for line in lines:
        field = FIELD.match(line)
        if field:
            found.append(f"- **{field[1]}**: {escaped(line[field.end() :].strip())}")
        else:
            found.append(f"  {escaped(line.strip())}")
    return found


def _fenced(language: str, lines: list[str]) -> str:
    least = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join([f"```{language}", *(line[least:] for line in lines), "```"])


def escaped(text: str) -> str:
    """Text that Markdown shows as it is; what is between backquotes is code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else SPECIAL.sub(r"\\\1", part) for part in parts)
