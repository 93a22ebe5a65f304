"""A folder of a user's own files that are named as packages are, each of which ends whoever imports it."""

from __future__ import annotations

from pathlib import Path

# This program's own packages, what it is built on, and modules of Python's.
NAMES = ("jobs", "mprlib", "ray", "numpy", "pandas", "pyarrow", "yaml", "typer", "psutil", "types", "random", "string")


def write_users_files(folder: Path, names: tuple[str, ...] = NAMES) -> Path:
    """The folder, made and filled."""
    folder.mkdir()
    for name in names:
        (folder / f"{name}.py").write_text(f"raise SystemExit('the user has a file {name}.py')\n", encoding="utf-8")
    return folder
