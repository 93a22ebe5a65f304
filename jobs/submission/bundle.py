"""The files that travel with a job: the configuration and what it names by relative paths, nothing else.

Absolute paths and URLs stay as they are: they are the cluster's storage.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from jobs.config.entries import MethodEntry
from jobs.config.file import ConfigFile
from jobs.datasets.block import Dataset
from jobs.errors import UsageError

# Settings that are paths relative to the configuration file, by their block: the driver reads these files.
PATH_SETTINGS = {"Dataset": ("path", "root"), "Queries": ("file", "vectors")}
# The same among a method's own settings.
METHOD_PATHS = ("phrases", "tokens")
# Such paths that workers read as well.
WORKER_PATHS = {"OpenClipEncoder": ("model", "pretrained")}
# Ray takes no larger working directory.
LARGEST_BYTES = 100 * 1024 * 1024
# Ray puts the working directory on Python's path: below this name no folder can be mistaken for a package.
FOLDER = "audit-files"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """root: the folder that all files lie below; config: the configuration, one of the files."""

    root: Path
    config: Path
    files: tuple[Path, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes that travel."""
        return sum(file.stat().st_size for file in self.files)

    @property
    def config_name(self) -> str:
        """Where the job finds the configuration, from its working directory."""
        return f"{FOLDER}/{self.config.relative_to(self.root).as_posix()}"

    def copy_to(self, folder: Path) -> None:
        """Put the files into a working directory."""
        for file in self.files:
            target = folder / FOLDER / file.relative_to(self.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def bundle_of(config: ConfigFile) -> Bundle:
    """What must travel.

    Raises:  UsageError for a file that is not here, and for more than Ray takes.
    """
    _refuse_what_workers_read(config)
    files = {config.path}
    for path, setting in named_files(config).items():
        if not path.exists():
            raise UsageError(
                f"{setting} {path} is not on this machine, and a relative path travels with the job: "
                "name what lies on the cluster's storage by an absolute path"
            )
        files |= {path} if path.is_file() else set(_visible_files(path))
    bundle = Bundle(
        root=Path(os.path.commonpath([file.parent for file in files])), config=config.path, files=tuple(sorted(files))
    )
    if bundle.size_bytes > LARGEST_BYTES:
        largest = max(bundle.files, key=lambda file: file.stat().st_size)
        raise UsageError(
            f"{bundle.size_bytes / 1e6:,.0f} MB would travel with the job and Ray takes {LARGEST_BYTES / 1e6:,.0f}: "
            f"put {largest} on storage that the cluster reaches and name it by an absolute path"
        )
    return bundle


def named_files(config: ConfigFile) -> dict[Path, str]:
    """Files and folders that the configuration names by relative paths, and the setting of each."""
    # Paths are joined, not resolved: a link's target would change the layout that the configuration names.
    return {Path(os.path.normpath(config.folder / path)): setting for setting, path in _paths(config.settings)}


def _refuse_what_workers_read(config: ConfigFile) -> None:
    """Workers need one path on every node; what travels lies elsewhere on each."""
    for block in _blocks(config.settings):
        places: list[str | None] = []
        if isinstance(block, Dataset) and (block.kind != "table" or block.image):
            # Where vectors exist already, workers read these, not the pictures.
            places = [block.path if block.kind == "clip_retrieval" else block.root or block.path]
        for name in WORKER_PATHS.get(type(block).__name__, ()):
            # A name or a tag is no file.
            value = getattr(block, name)
            places += [value] if value and (config.folder / value).exists() else []
        for place in places:
            if not Path(place).is_absolute():
                raise UsageError(
                    f"{place} is relative, and workers on every node read it: put it on storage that the cluster "
                    "reaches and name it by an absolute path"
                )


def _blocks(value: Any) -> Iterator[BaseModel]:
    """Every block of the settings."""
    if isinstance(value, BaseModel):
        yield value
        value = tuple(getattr(value, name) for name in type(value).model_fields)
    if isinstance(value, Mapping):
        value = tuple(value.values())
    for one in value if isinstance(value, tuple) else ():
        yield from _blocks(one)


def _paths(settings: BaseModel) -> Iterator[tuple[str, str]]:
    """Every relative path that a setting holds, and the setting."""
    for block in _blocks(settings):
        if isinstance(block, MethodEntry):
            found = [(f"method {block.name}: {name}", block.extras.get(name)) for name in METHOD_PATHS]
        else:
            kind = type(block).__name__
            found = [(f"{kind.lower()}.{name}", getattr(block, name)) for name in PATH_SETTINGS.get(kind, ())]
        for setting, path in found:
            if path is not None and "://" not in path and not Path(path).is_absolute():
                yield setting, path


def _visible_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path
