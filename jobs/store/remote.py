"""Files of an object store, through fsspec: one PUT per file, whose size is checked afterwards."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import IO, Any

import fsspec

from .disk import Entry

# Options with such words in their names are not sent to workers, which have credentials of their own.
SECRETS = ("key", "secret", "token", "password", "credential", "sas")
# Names that listings give to the last change of a file, by preference.
STAMPS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
# Bytes that are copied at a time.
COPIED_BYTES = 16 * 2**20


def put(files: Any, path: str, data: bytes | memoryview) -> str | None:
    """Write a whole file. Returns its stamp.

    Raises:  OSError where the store then shows another size.
    """
    files.pipe_file(path, bytes(data))
    return _expect_size(files, path, len(data)).stamp


@contextmanager
def putting(files: Any, path: str) -> Iterator[IO[bytes]]:
    """A stream whose content is put at the end; what ends early is put nowhere."""
    # Object stores show a file once it is closed.
    with tempfile.TemporaryFile() as stream:
        yield stream
        size = stream.tell()
        stream.seek(0)
        with files.open(path, "wb") as target:
            shutil.copyfileobj(stream, target, COPIED_BYTES)
    _expect_size(files, path, size)


def create(files: Any, path: str, data: bytes) -> bool:
    """Put a whole file where there is none, by a conditional PUT; False where there is one.

    Where a store knows no condition it is asked first, and two writers at the same moment may both succeed.
    """
    try:
        files.pipe_file(path, data, mode="create")
    except (TypeError, ValueError, NotImplementedError):
        if files.exists(path):
            return False
        files.pipe_file(path, data)
    except OSError:  # each store has its own error for a condition that was not met
        if not files.exists(path):
            raise
        return False
    return True


def entry(files: Any, path: str) -> Entry | None:
    """Size and stamp of a file; None where there is none."""
    try:
        return entry_of(files.info(path))
    except OSError:
        return None


def entries(files: Any, base: str, folder: str) -> dict[str, Entry]:
    """Every file below a folder, by its name below the base, in one listing."""
    try:
        found = files.find(folder, detail=True)
    except FileNotFoundError:  # not even the bucket
        return {}
    # Names come with or without protocol and leading slash; the folder is in all of them.
    base = base.strip("/")
    return {path[path.index(base) + len(base) + 1 :]: entry_of(information) for path, information in found.items()}


def entry_of(information: Mapping[str, Any]) -> Entry:
    """Size and stamp, as a listing has them."""
    stamp = next((information[name] for name in STAMPS if information.get(name) is not None), None)
    if isinstance(stamp, datetime):  # one file's entry and a listing may differ in the form of a time
        stamp = stamp.timestamp()
    return Entry(information["size"] or 0, None if stamp is None else str(stamp).strip('"'))


def configured_options(root: str) -> dict[str, Any]:
    """The file system's options on this machine, without secrets, for workers on other machines."""
    protocol = root.partition("://")[0] if "://" in root else "file"
    options = {
        name: value
        for name, value in fsspec.config.conf.get(protocol, {}).items()
        if not any(word in name.lower() for word in SECRETS)
    }
    address = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if protocol in ("s3", "s3a") and address:
        options.setdefault("endpoint_url", address)
    return options


def _expect_size(files: Any, path: str, size: int) -> Entry:
    found = entry(files, path)
    if found is None or found.bytes != size:
        raise OSError(f"{path} does not hold the {size:,} bytes that were put there")
    return found
