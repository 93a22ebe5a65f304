"""Built-in lists of queries, by name."""

from __future__ import annotations

from pathlib import Path

from ..words import did_you_mean

FOLDER = Path(__file__).parent
# One query per line, sorted; lines that begin with # name a list's source.
NAMED = {Path(name).stem: name for name in ("ten.txt", "forty-five.txt", "occupations.txt")}


def path_of(name: str) -> Path:
    """The file of a named list.

    Raises:  ValueError for an unknown name, with the closest known one.
    """
    if name in NAMED:
        return FOLDER / NAMED[name]
    raise ValueError(f"unknown list of queries {name!r}; {did_you_mean(name, NAMED)}")
