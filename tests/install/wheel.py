"""The project's wheel, and virtual environments of their own that it is installed in, without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from tests.sources import ROOT

# What a wheel is built from.
SOURCES = ("mprlib", "jobs", "pyproject.toml", "setup.py", "README.md", "LICENSE")


def build(folder: Path) -> Path:
    """The wheel, built from a copy of the sources, since building leaves files beside them."""
    source, built = folder / "source", folder / "wheel"
    source.mkdir(parents=True)
    for name in SOURCES:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, source / name)
    _run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", built, source)
    [wheel] = built.glob("*.whl")
    return wheel


def environment(folder: Path, wheel: Path) -> Path:
    """A virtual environment with nothing but the wheel, and its Python."""
    _run(sys.executable, "-m", "venv", "--without-pip", folder)
    packages = site_packages(folder)
    _run(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "-q", "--no-deps", wheel)
    assert (packages / "mprlib" / "__init__.py").exists()
    return folder / "bin" / "python"


def site_packages(folder: Path) -> Path:
    """Where a virtual environment keeps its packages."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))


def lend(folder: Path, requirements: Iterable[str]) -> list[str]:
    """Link these packages, and what they require, from the tests' own environment; returns their names."""
    wanted, names = [Requirement(one) for one in requirements], set[str]()
    while wanted:
        requirement = wanted.pop()
        if requirement.name in names or not _applies(requirement):
            continue
        names.add(requirement.name)
        found = metadata.distribution(requirement.name)
        _link(found, site_packages(folder))
        wanted += [Requirement(one) for one in found.requires or []]
    return sorted(names)


def lend_all(folder: Path) -> None:
    """Let the environment find every package of the tests' own; links of editable installs are not followed there."""
    (site_packages(folder) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")


def _applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def _link(found: metadata.Distribution, target: Path) -> None:
    """The top-most folders and files of a distribution."""
    for file in found.files or []:
        first = file.parts[0]
        if first in ("..", "__pycache__") or (target / first).exists():
            continue
        (target / first).symlink_to(Path(str(found.locate_file(first))))


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
