"""What installing the library costs: python -m tests.benchmarks.install

Builds the wheel, makes a virtual environment and installs the wheel with what it requires from the package index, as
`pip install mprlib` does: seconds (the second time too, from pip's cache), megabytes on disk and the largest packages
among them, and the CPU seconds of `import mprlib` there. Bars: 20 s, 400 MB, 0.25 s. It needs a package index.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.start_up import once
from tests.install import wheel as wheels

INSTALL_SECONDS, MEGABYTES, IMPORT_SECONDS = 20.0, 400.0, 0.25
TIMES = 5
# So many packages are named beside their sizes.
LARGEST = 6


def installed(folder: Path, wheel: Path) -> float:
    """Seconds to install the wheel into a new environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    started = time.perf_counter()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", str(wheel)], check=True)
    return time.perf_counter() - started


def megabytes(path: Path) -> float:
    """Size of a file or of a folder's files."""
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def import_seconds(python: Path) -> float:
    """The least CPU time of some imports, with the files in memory."""
    return min(once([str(python), "-P", "-c", "import mprlib"], {}) for _ in range(TIMES))


def main() -> None:
    """Print the table; exit with 1 where a bar is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = wheels.build(folder / "built")
        first, again = (installed(folder / place, wheel) for place in ("first", "again"))
        packages = wheels.site_packages(folder / "again")
        sizes = {path.name: megabytes(path) for path in packages.iterdir()}
        bytecode = sum(path.stat().st_size for path in packages.rglob("*.pyc")) / 1e6
        count = len(list(packages.glob("*.dist-info")))
        rows = [
            ("install, s", first, INSTALL_SECONDS),
            ("install again, s", again, INSTALL_SECONDS),
            (f"{count} packages, MB", sum(sizes.values()), MEGABYTES),
            ("import mprlib, CPU s", import_seconds(folder / "again" / "bin" / "python"), IMPORT_SECONDS),
        ]
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:LARGEST]
    print("MB:", ", ".join(f"{name} {sizes[name]:.0f}" for name in largest), f"; bytecode in all {bytecode:.0f}")
    print(f"{'':<24}{'here':>8}{'bar':>8}")
    for what, value, bar in rows:
        print(f"{what:<24}{value:>8.2f}{bar:>8.2f}")
    sys.exit(int(any(value > bar for _, value, bar in rows)))


if __name__ == "__main__":
    main()
