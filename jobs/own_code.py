"""Where other processes find this program's packages, whatever is in the folder where a command runs.

Python puts the current folder first for `python -m`, and Ray puts it first on its workers' path: a file
`jobs.py` or `numpy.py` of the user's would be imported in the place of what is installed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# This program's name: that of its folder in a checkout, and another where it is installed.
PACKAGE = __package__
# The folder that holds this program's packages.
ROOT = str(Path(__file__).resolve().parents[1])


def folders() -> list[str]:
    """Folders that another process must search first to find the same packages as this one.

    None for packages that are installed: there, whatever is beside them would come before Python's own modules.
    """
    return [] if Path(ROOT).name in ("site-packages", "dist-packages") else [ROOT]


def module_command(module: str) -> list[str]:
    """The command that runs a module, named from this program's package on, with `environment`."""
    return [sys.executable, "-P", "-m", f"{PACKAGE}.{module}"]


def environment(**changes: str) -> dict[str, str]:
    """This process's environment variables, with a path on which another Python finds the same packages."""
    path = [*folders(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return os.environ | {"PYTHONPATH": os.pathsep.join(path)} | changes


def forget_current_folder() -> None:
    """Remove the folder in which `python -m` was started from this process's path, unless it has the program."""
    first = Path(sys.path[0] or ".").resolve()
    if not sys.flags.safe_path and first == Path.cwd() and first != Path(ROOT):
        del sys.path[0]
