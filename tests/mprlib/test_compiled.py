"""The compiler is loaded by the first solve, not with the library."""

import subprocess
import sys

IMPORTED = "import sys, mprlib; sys.exit('numba' in sys.modules)"


def test_importing_the_library_does_not_load_the_compiler():
    assert subprocess.run([sys.executable, "-c", IMPORTED], check=False).returncode == 0
