"""Python processes that cannot import some packages, as where these are not installed."""

from __future__ import annotations

import subprocess
import sys

# A finder before all others, which knows these packages and has none of them.
MISSING = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


def run(packages: list[str], script: str) -> subprocess.CompletedProcess[str]:
    """The script in a process without these packages."""
    code = MISSING.format(packages=packages) + script
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
