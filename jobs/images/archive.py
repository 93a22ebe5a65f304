"""Members of a tar archive, by name, without unpacking it."""

from __future__ import annotations

import errno
import os
import stat
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from .errors import ImageError, Reason

SCANNED_BYTES = 1_048_576
# Archives whose lists of members a process remembers: neighbouring items are in the same one.
REMEMBERED_ARCHIVES = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """Where a member's bytes are; `fault` says why it must not be read."""

    start: int
    size_bytes: int
    fault: Reason | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Members:
    """Members in the archive's order; `damage` says where reading the list had to stop."""

    by_name: Mapping[str, Member]
    repeated: tuple[str, ...]
    damage: str


def members_of(path: str) -> Members:
    """The members of an uncompressed tar archive, up to the first damage.

    A member that is a link, leads out of the archive, or is no plain file has a fault instead of bytes.
    Raises:  OSError when the archive cannot be opened.
    """
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):  # a pipe would wait for its writer for ever
        raise OSError(errno.EINVAL, "not a regular file")
    return _list(path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=REMEMBERED_ARCHIVES)
def _list(path: str, size_bytes: int, modified_ns: int) -> Members:
    members: dict[str, Member] = {}
    repeated: list[str] = []
    damage = ""
    end = 0
    try:
        with tarfile.open(path, "r:") as archive:
            for info in archive:
                if info.size < 0:
                    raise tarfile.ReadError("a member has a negative size")
                if info.isdir():
                    continue
                name = info.name.removeprefix("./")
                if name in members:
                    repeated.append(name)
                    continue
                members[name] = Member(start=info.offset_data, size_bytes=info.size, fault=_fault(info))
            end = archive.offset
    # What a damaged header makes of the module's own arithmetic, and members that are described by members for ever.
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        damage = str(error) or type(error).__name__
    if not damage and members and size_bytes < max(one.start + one.size_bytes for one in members.values()):
        damage = "the archive ends within a member"
    return Members(
        by_name=MappingProxyType(members), repeated=tuple(repeated), damage=damage or _damage_at_end(path, end)
    )


def _damage_at_end(path: str, end: int) -> str:
    """What is wrong behind the last member, where Python's module ends its list at whatever it cannot read.

    A whole archive ends with blocks of zeros, and zeros follow up to its end.
    """
    with open(path, "rb") as archive:
        archive.seek(end)
        mark = archive.read(tarfile.BLOCKSIZE)
        if len(mark) < tarfile.BLOCKSIZE:
            return "the archive has no mark at its end: it was cut off, perhaps between two members"
        if mark.strip(b"\0"):
            return f"the member after byte {end:,} has a damaged header: it and what follows are lost"
        while block := archive.read(SCANNED_BYTES):
            if block.strip(b"\0"):
                return "more follows the mark of the archive's end, as where archives were joined"
    return ""


def _fault(info: tarfile.TarInfo) -> Reason | None:
    if leads_out(info.name) or ((info.issym() or info.islnk()) and leads_out(info.linkname)):
        return Reason.OUTSIDE
    # Links are never followed; a sparse member's bytes are not in one piece.
    if not info.isreg() or info.sparse is not None:
        return Reason.NOT_REGULAR
    return None


def leads_out(name: str) -> bool:
    """Whether a path is absolute or leaves its folder."""
    return name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/")


def read_member(path: str, name: str, most_bytes: float) -> bytes:
    """The bytes of one member.

    Raises:  ImageError with the reason.
    """
    members = members_of(path)
    member = members.by_name.get(name.removeprefix("./"))
    if member is None:
        raise ImageError(Reason.BAD_ARCHIVE if members.damage else Reason.MISSING, members.damage or "no such member")
    if member.fault is not None:
        raise ImageError(member.fault, "a link or special member of an archive, or one that leads out of it")
    if member.size_bytes > most_bytes:
        raise ImageError(Reason.TOO_LARGE, f"{member.size_bytes:,} bytes")
    with open(path, "rb") as archive:
        archive.seek(member.start)
        data = archive.read(member.size_bytes)
    if len(data) < member.size_bytes:
        raise ImageError(Reason.TRUNCATED, f"the archive ends {member.size_bytes - len(data):,} bytes early")
    return data
