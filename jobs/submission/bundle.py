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

from ..config.entries import MethodEntry
from ..config.file import ConfigFile
from ..datasets.block import Dataset
from ..datasets.reader import Reader
from ..errors import BadSetting, UsageError
from ..methods import file_settings
from ..settings.block import Block
from ..words import bytes_of

Key = tuple[str | int, ...]
# Ray takes no larger working directory.
LARGEST_BYTES = 100 * 1024 * 1024
# Ray puts the working directory on Python's path: below this name no folder can be mistaken for a package.
FOLDER = "audit-files"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """root: the folder that all files are below; config: the configuration, one of the files."""

    root: Path
    config: Path
    files: tuple[Path, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes that travel."""
        return sum(self.sizes_bytes.values())

    @property
    def sizes_bytes(self) -> dict[str, int]:
        """Bytes of each file, by its path below the root."""
        return {file.relative_to(self.root).as_posix(): file.stat().st_size for file in self.files}

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


def bundle_of(config: ConfigFile[Any]) -> Bundle:
    """What must travel.

    Raises:  UsageError for a file that is not here, and for more than Ray takes.
    """
    files = {config.path}
    with config.placing():
        _refuse_what_workers_read(config)
        for path, key in named_files(config).items():
            if not path.exists():
                raise BadSetting(
                    f"{path} is not on this machine, and a relative path travels with the job: name what is on the "
                    "cluster's storage by an absolute path",
                    *key,
                )
            files |= {path} if path.is_file() else set(_visible_files(path))
    bundle = Bundle(
        root=Path(os.path.commonpath([file.parent for file in files])), config=config.path, files=tuple(sorted(files))
    )
    if bundle.size_bytes > LARGEST_BYTES:
        largest = max(bundle.files, key=lambda file: file.stat().st_size)
        raise UsageError(
            f"{bytes_of(bundle.size_bytes)} would travel with the job and Ray takes {bytes_of(LARGEST_BYTES)}: "
            f"put {largest} on storage that the cluster reaches and name it by an absolute path"
        )
    return bundle


def named_files(config: ConfigFile[Any]) -> dict[Path, Key]:
    """Files and folders that the configuration names by relative paths, and the setting of each."""
    # Paths are joined, not resolved: a link's target would change the layout that the configuration names.
    return {Path(os.path.normpath(config.folder / path)): key for key, path in _paths(config.settings)}


def _refuse_what_workers_read(config: ConfigFile[Any]) -> None:
    """Workers need one path on every node; what travels is elsewhere on each."""
    for key, place in _read_by_workers(config):
        if not Path(place).is_absolute():
            raise BadSetting(
                f"{place} is relative, and workers on every node read it: put it on storage that the cluster reaches "
                "and name it by an absolute path",
                *key,
            )


def _read_by_workers(config: ConfigFile[Any]) -> Iterator[tuple[Key, str]]:
    for key, block in _blocks(config.settings):
        if isinstance(block, Dataset):
            path = block.read_by_workers() or _path_of_parts(block, config.folder)
            yield from [] if path is None else [(key, path)]
        for name, mark in block.file_paths().items():
            value = getattr(block, name)
            # A name or a tag is no file.
            if mark.is_for_workers and value and (config.folder / value).exists():
                yield (*key, name), value


def _path_of_parts(block: Dataset, folder: Path) -> str | None:
    """The path of a data set that is there and so large that workers read it in parts."""
    if Path(block.path).is_absolute() or not (folder / block.path).exists():
        return None
    return None if Reader(block=block, folder=folder).listing() is None else block.path


def _blocks(value: Any, key: Key = ()) -> Iterator[tuple[Key, Block]]:
    """Every block of the settings, and the key that leads to it."""
    if isinstance(value, Block):
        yield key, value
        value = {name: getattr(value, name) for name in type(value).model_fields}
    elif isinstance(value, tuple):
        value = dict(enumerate(value))
    for name, one in value.items() if isinstance(value, Mapping) else ():
        yield from _blocks(one, (*key, name))


def _paths(settings: Block) -> Iterator[tuple[Key, str]]:
    """Every relative path of files that the driver reads, and the key of its setting."""
    for key, block in _blocks(settings):
        if isinstance(block, MethodEntry):
            found = [((*key, block.name, name), block.extras.get(name)) for name in file_settings(block.name)]
        else:
            marks = block.file_paths().items()
            found = [((*key, name), getattr(block, name)) for name, mark in marks if not mark.is_for_workers]
        for setting, path in found:
            # A setting that may be a path may also hold what the file would.
            if isinstance(path, str) and "://" not in path and not Path(path).is_absolute():
                yield setting, path


def _visible_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path
