"""The folder in which this user's commands remember what costs time to find out again; nothing is lost without it."""

from __future__ import annotations

import os
from pathlib import Path

# Names the folder; by default it is mpr-audit in XDG_CACHE_HOME, or in ~/.cache.
VARIABLE = "MPR_AUDIT_LOCAL_CACHE"


def user_cache() -> Path:
    """The folder, which may not be there yet."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mpr-audit"
