"""What installing the library costs: python -m tests.benchmarks.install

Builds the wheel and installs it, with what it requires from the package index, into new virtual environments in three
ways: `pip install`, which compiles every module to bytecode, `pip install --no-compile` and `uv pip install`, which
leave that to the first import of each. For each way: seconds from an empty cache of packages and once it is filled,
megabytes on disk, before and after a first request (`mprlib.rerank`, machine code kept elsewhere), and without the
packages' folders of tests, which nothing imports; the CPU seconds of `import mprlib`, the first time and later.
Bars, for the ways without bytecode: 20 s, 400 MB as installed, 0.25 s. It needs a package index; uv comes from there
too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tests.benchmarks.start_up import once
from tests.install import wheel as wheels

BARS = {"install_seconds": 20.0, "again_seconds": 20.0, "installed_megabytes": 400.0, "import_seconds": 0.25}
TIMES = 5
# So many packages are named beside their sizes.
LARGEST = 6
REQUEST = """
import mprlib

reference = mprlib.Reference.from_shares({"gender": {"woman": 0.5, "man": 0.5}}, size=10_000)
labels = {"gender": ["man", "man", "man", "woman"] * 5}
assert mprlib.rerank([0.9, 0.8, 0.7, 0.6] * 5, labels, reference, k=4, rho=0.4).status == "optimal"
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one way of installing costs; names are rows of the table."""

    install_seconds: float
    again_seconds: float
    installed_megabytes: float
    after_a_request_megabytes: float
    without_tests_megabytes: float
    first_import_seconds: float
    import_seconds: float


def pip(python: Path, cache: Path) -> list[str | Path]:
    """The command that installs into an environment, but for what is installed."""
    named = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--cache-dir", cache, "--python", python]
    return [*named, "install", "--quiet"]


def pip_without_bytecode(python: Path, cache: Path) -> list[str | Path]:
    """As `pip`."""
    return [*pip(python, cache), "--no-compile"]


def uv(python: Path, cache: Path) -> list[str | Path]:
    """As `pip`, by the uv on the PATH, or the one that was installed for this."""
    found = shutil.which("uv") or cache.parent.parent / "tools" / "bin" / "uv"
    return [found, "pip", "install", "--quiet", "--cache-dir", cache, "--python", python]


WAYS: dict[str, Callable[[Path, Path], list[str | Path]]] = {
    "pip": pip,
    "pip --no-compile": pip_without_bytecode,
    "uv": uv,
}


def new_environment(folder: Path) -> Path:
    """The Python of an empty virtual environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


def install_seconds(command: Iterable[str | Path], what: str | Path) -> float:
    """Seconds that a command takes to install something."""
    started = time.perf_counter()
    subprocess.run([*command, what], check=True)
    return time.perf_counter() - started


def megabytes(paths: Iterable[Path]) -> float:
    """Size of files, and of folders' files."""
    files = {file for path in paths for file in ([*path.rglob("*")] if path.is_dir() else [path]) if file.is_file()}
    return sum(file.stat().st_size for file in files) / 1e6


def cost(folder: Path, wheel: Path, command: Callable[[Path, Path], list[str | Path]]) -> tuple[Cost, Path]:
    """What a way of installing costs, and where it has left the packages."""
    cache = folder / "cache"
    first, again = (new_environment(folder / name) for name in ("first", "again"))
    seconds = [install_seconds(command(python, cache), wheel) for python in (first, again)]
    packages = wheels.site_packages(folder / "again")
    size = megabytes([packages])
    imported = [imports(again, "import mprlib", folder) for _ in range(1 + TIMES)]
    imports(again, REQUEST, folder)
    grown, tests = megabytes([packages]), megabytes(packages.rglob("tests"))
    found = Cost(
        install_seconds=seconds[0],
        again_seconds=seconds[1],
        installed_megabytes=size,
        after_a_request_megabytes=grown,
        without_tests_megabytes=grown - tests,
        first_import_seconds=imported[0],
        import_seconds=min(imported[1:]),
    )
    return found, wheels.site_packages(folder / "first")


def imports(python: Path, script: str, folder: Path) -> float:
    """The CPU time of a script that leaves bytecode beside the packages, and machine code in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return once([str(python), "-P", "-c", script], {**kept, "NUMBA_CACHE_DIR": str(folder / "code")})


def main() -> None:
    """Print the table; exit with 1 where a bar is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = wheels.build(folder / "built")
        subprocess.run([*pip(new_environment(folder / "tools"), folder / "cache"), "uv"], check=True)
        found = {way: cost(folder / way, wheel, command) for way, command in WAYS.items()}
        print_packages(found["uv"][1])
    costs = {way: one for way, (one, _) in found.items()}
    print(f"{'':<26}" + "".join(f"{way:>18}" for way in [*costs, "bar"]))
    for row, values in zip(fields(Cost), zip(*(astuple(one) for one in costs.values()))):
        bar = f"{BARS[row.name]:>18.2f}" if row.name in BARS else ""
        print(f"{row.name.replace('_', ' '):<26}" + "".join(f"{value:>18.2f}" for value in values) + bar)
    bars = [getattr(costs[way], row) <= bar for way in ("pip --no-compile", "uv") for row, bar in BARS.items()]
    sys.exit(int(not all(bars)))


def print_packages(packages: Path) -> None:
    """The number of packages, and the largest of them without bytecode."""
    sizes = {path.name: megabytes([path]) for path in packages.iterdir()}
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:LARGEST]
    count = len(list(packages.glob("*.dist-info")))
    print(f"{count} packages; MB without bytecode:", ", ".join(f"{name} {sizes[name]:.0f}" for name in largest))


if __name__ == "__main__":
    main()
