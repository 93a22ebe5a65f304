"""Ray's temporary folder: the usual one, where sockets fit into it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..errors import UsageError

# The longest path of a Unix socket in bytes, and that of Ray's longest one below its temporary folder.
SOCKET_BYTES = 107
LONGEST_SOCKET = "session_2000-01-01_00-00-00_000000_4194304/sockets/plasma_store"
# Where a temporary folder is short, by preference.
SHORT_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")
OWN = "ray"


def temporary_folder() -> str:
    """Where a local Ray keeps sockets and logs: in RAY_TMPDIR or TMPDIR, or a short folder where those do not do.

    Raises:  UsageError where none can be written.
    """
    usual = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or SHORT_FOLDERS[0]
    for base in (usual, *SHORT_FOLDERS):
        folder = Path(base).absolute() / OWN
        # Ray writes paths into messages of ASCII.
        is_fit = str(folder).isascii() and len(f"{folder}/{LONGEST_SOCKET}") <= SOCKET_BYTES
        if is_fit and _can_be_written(folder):
            return str(folder)
    room = SOCKET_BYTES - len(f"/{OWN}/{LONGEST_SOCKET}")
    raise UsageError(
        f"temporary folder {usual}: Ray needs one that can be written and whose path has at most {room} letters, all "
        "of them ASCII: set RAY_TMPDIR"
    )


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
