"""Lists of queries that come with the job, by name."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

FOLDER = Path(__file__).parent
# One query a line, sorted; lines that begin with # say where a list is from.
NAMED = {
    "ten": "ten.txt",
    "forty-five": "forty-five.txt",
    "occupations": "occupations.txt",
}


def path_of(name: str) -> Path:
    """The file of a named list.

    Raises:  ValueError for a name that is none, with the nearest that is one.
    """
    if name in NAMED:
        return FOLDER / NAMED[name]
    close = get_close_matches(name, NAMED, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(NAMED)}"
    raise ValueError(f"unknown list of queries {name!r}; {hint}")
