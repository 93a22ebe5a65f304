"""Who called the library: warnings name that line."""

from __future__ import annotations

import inspect


def frames_of_the_library() -> int:
    """Calls between the function that asks and whoever called the library."""
    frame, count = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
        frame, count = frame.f_back, count + 1
    return count - 1
