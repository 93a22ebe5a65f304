"""Where a known data set's files are: its layouts as they are handed out, and one sentence when none is there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import UsageError
from ..images.archive import leads_out
from ..images.reading import split_locator

# Missing pictures that an error names.
SHOWN = 2


def find_file(root: Path, names: Sequence[str], what: str) -> Path:
    """The first of these files that is there.

    Raises:  UsageError naming what is missing and where it was looked for.
    """
    return _find(root, [name for name in names if (root / name).is_file()], names, what)


def find_folder(root: Path, names: Sequence[str], what: str) -> Path:
    """The first of these folders that is there.

    Raises:  UsageError naming what is missing and where it was looked for.
    """
    return _find(root, [name for name in names if (root / name).is_dir()], names, what)


def _find(root: Path, found: Sequence[str], names: Sequence[str], what: str) -> Path:
    if found:
        return root / found[0]
    raise UsageError(f"{root} lacks {what}: {' or '.join(names)} is expected there")


def expect_some(root: Path, locators: Iterable[str | None]) -> None:
    """A single missing picture is skipped; where all are missing, the folder is the wrong one.

    Raises:  UsageError naming the folder and a picture that it lacks.
    """
    missing: list[str] = []
    for locator in locators:
        path = split_locator(locator)[0] if locator else None
        if path is not None and (leads_out(path) or os.path.lexists(root / path)):
            return
        if locator and len(missing) < SHOWN:
            missing.append(locator)
    named = f", such as {' and '.join(missing)}" if missing else ""
    raise UsageError(f"{root} holds none of the pictures that the labels name{named}")
