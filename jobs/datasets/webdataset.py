"""WebDataset: tar shards whose members belong together by name, such as 000017.jpg, 000017.json and 000017.txt.

An item is a picture and what is beside it: the values of its json (numbers, texts, true and false, as they are written
there; what is nested is left out) are columns, `txt` and `cls` are columns of those names. Ids are `shard.tar::000017`.
Shards are plain tar files, read in place. Members whose names begin with a point, such as macOS's ._000017.jpg,
are no part of them. Terms are those of whoever packed them.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pyarrow as pa

from ..errors import UsageError
from ..images import ImageError, Reason
from ..images.archive import members_of, read_member
from ..images.reading import ARCHIVE_SUFFIX, MEMBER
from ..words import numbered
from . import pictures
from .block import Dataset
from .encodings import UTF8
from .json_lines import Pairs, plain_texts
from .picture_parts import LOOKS_AT_ONCE
from .source import Listing, Piece, Place, Skip, Source
from .webdataset_samples import Sample, samples

ID, IMAGE = "item_id", "image_member"
# Endings of shards that have to be unpacked first.
PACKED_SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
# Bytes and number of shards that are one part: of pictures of 100 kB, those of 20,000 items; a shard has thousands.
PART_BYTES, PART_SHARDS = 2e9, 8
# Bytes of shards that the driver reads itself.
SMALL_BYTES = 64e6
# A label longer than this is no label.
LARGEST_LABEL_BYTES = 1_000_000


class WebDataset(Dataset):
    """WebDataset: pictures in tar shards, with labels beside them."""

    items = "pictures in tar shards"
    terms = "yours"

    kind: Literal["webdataset"] = "webdataset"

    def listing(self, folder: Path, columns: Mapping[str, str]) -> Listing:
        root, shards = self._shards(folder)
        with ThreadPoolExecutor(LOOKS_AT_ONCE) as threads:
            sizes = list(threads.map(lambda shard: _size_bytes(Path(root, shard)), shards))
        grouped: list[list[Piece]] = []
        size_bytes: list[int] = []
        for shard, size in zip(shards, sizes):
            if not grouped or size_bytes[-1] + size > PART_BYTES or len(grouped[-1]) == PART_SHARDS:
                grouped.append([])
                size_bytes.append(0)
            grouped[-1].append(Piece(path=Path(root, shard)))
            size_bytes[-1] += size
        return Listing(
            places=tuple(
                Place(pieces=tuple(pieces), is_small=size <= SMALL_BYTES) for pieces, size in zip(grouped, size_bytes)
            )
        )

    def read_place(self, folder: Path, columns: Mapping[str, str], place: Place) -> Source:
        root, _ = self._root(folder)
        rows: list[dict[str, str]] = []
        skipped: list[Skip] = []
        remarks: list[str] = []
        for piece in place.pieces:
            for item in _items(root, piece.path.relative_to(root).as_posix(), columns, remarks):
                if isinstance(item, Skip):
                    skipped.append(item)
                else:
                    rows.append(item)
        names = dict.fromkeys([ID, IMAGE, *(name for row in rows for name in row)])
        lacks = tuple(name for name in columns if name not in names)
        table = pa.table({name: pa.array([row.get(name) for row in rows], pa.string()) for name in (*names, *lacks)})
        return Source(
            table=table,
            files=pictures.fingerprint(self, root, table[IMAGE].to_pylist()),
            id=ID,
            image=IMAGE,
            root=str(root),
            skipped=tuple(skipped),
            lacks=lacks,
            remarks=_picture_remarks(remarks, skipped),
        )

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The items of a shard, or of all shards below a folder.

        Raises:  UsageError when there is no shard, or no picture in any.
        """
        root, shards = self._shards(folder)
        source = self.read_place(folder, columns, Place(pieces=tuple(Piece(path=Path(root, one)) for one in shards)))
        if not source.table.num_rows:
            skipped = source.skipped
            first = f", {skipped[0].item_id}: {skipped[0].reason.value}" if skipped else ""
            raise UsageError(f"no shard of {folder / self.path} holds a picture{first}")
        # What no shard has is named as a column that is not there.
        return replace(source, table=source.table.drop_columns(list(source.lacks)), lacks=())

    def _root(self, folder: Path) -> tuple[Path, str | None]:
        """The folder of the shards, and the shard's name where `path` is one."""
        path = folder / self.path
        return (path.parent.resolve(), path.name) if path.is_file() else (pictures.folder_of(path), None)

    def _shards(self, folder: Path) -> tuple[Path, list[str]]:
        """The folder of the shards, and their names and those of links below it, in order.

        Raises:  UsageError where there is no shard.
        """
        root, only = self._root(folder)
        found = list(_shards_below(root)) if only is None else [only]
        if not any(name.endswith(ARCHIVE_SUFFIX) for name in found):
            raise UsageError(f"{root} holds no {ARCHIVE_SUFFIX} files")
        return root, found


def _size_bytes(shard: Path) -> int:
    """The size of a shard; 0 of one that is gone since it was listed, which whoever reads its part skips."""
    try:
        return shard.lstat().st_size
    except OSError:
        return 0


def _shards_below(root: Path) -> Iterator[str]:
    """Shards below a folder, and links to folders, by name; what is hidden is passed over.

    Raises:  UsageError for a shard that is compressed.
    """
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(folder).relative_to(root)
        yield from ((below / name).as_posix() for name in folders if (Path(folder) / name).is_symlink())
        for name in sorted(names):
            if name.lower().endswith(PACKED_SUFFIXES) and not name.startswith("."):
                raise UsageError(f"{Path(folder, name)} is compressed: unpack it")
            if name.endswith(ARCHIVE_SUFFIX) and not name.startswith("."):
                yield (below / name).as_posix()


def _items(root: Path, shard: str, columns: Container[str], remarks: list[str]) -> Iterator[dict[str, str] | Skip]:
    """The shard's items in its order, and what had to be left out; `remarks` gets the pictures that no item is of."""
    path = root / shard
    if path.is_symlink() and path.is_dir():
        yield Skip(item_id=_printable_name(shard), reason=Reason.OUTSIDE, detail="a link to a folder")
        return
    if not path.resolve().is_relative_to(root):
        yield Skip(item_id=shard, reason=Reason.OUTSIDE, detail="a link to another folder")
        return
    try:
        members = members_of(str(root / shard))
    except OSError as error:
        yield Skip(item_id=shard, reason=Reason.UNREADABLE, detail=error.strerror or "")
        return
    for name in members.repeated:
        yield Skip(item_id=f"{shard}{MEMBER}{name}", reason=Reason.REPEATED)
    found = list(samples(members.by_name))
    if members.damage:
        detail = members.damage
        if found and not found[0].labels.keys() <= found[-1].labels.keys():
            # What stood behind the damage is not missing: nobody knows who the last picture shows.
            detail += f"; {found.pop().key} is left out, whose labels are lost"
        yield Skip(item_id=shard, reason=Reason.BAD_ARCHIVE, detail=_printable_name(detail))
    for sample in found:
        item_id = f"{shard}{MEMBER}{sample.key}"
        remarks += [f"{shard}{MEMBER}{name}" for name in sample.beside]
        if not pictures.is_text(sample.key):
            yield Skip(item_id=_printable_name(item_id), reason=Reason.BAD_NAME, detail="the name is not UTF-8")
        elif sample.image is None:
            yield Skip(item_id=item_id, reason=sample.reason, detail=_printable_name(sample.detail))
        else:
            try:
                labels = _labels(str(root / shard), sample, columns)
            except ImageError as error:
                yield Skip(item_id=item_id, reason=error.reason, detail=error.detail)
                continue
            yield labels | {ID: item_id, IMAGE: f"{shard}{MEMBER}{sample.image}"}


def _labels(shard: str, sample: Sample, columns: Container[str]) -> dict[str, str]:
    """What the members beside a picture say.

    Raises:  ImageError for a member that cannot be read, or is not what its name says.
    """
    labels: dict[str, str] = {}
    for ending, name in sample.labels.items():
        try:
            text = read_member(shard, name, LARGEST_LABEL_BYTES).decode(UTF8)
            if ending == ".json":
                labels |= _scalar_texts(plain_texts(text), columns)
            else:
                labels[ending[1:]] = text.strip()
        except (ValueError, RecursionError) as error:
            raise ImageError(Reason.BAD_LABEL, f"{ending}: {error}") from None
    return labels


def _scalar_texts(pairs: object, columns: Container[str]) -> dict[str, str]:
    """Values that are no lists, objects or null, as text.

    Raises:  ValueError for what is no object, and for a column that occurs twice.
    """
    if not isinstance(pairs, Pairs):
        raise ValueError("an object is expected")
    flat: dict[str, str] = {}
    for name, value in pairs:
        if name in flat and name in columns:
            raise ValueError(f"{name!r} occurs twice")
        text = {True: "true", False: "false"}[value] if isinstance(value, bool) else value
        if name not in (ID, IMAGE) and isinstance(text, str) and pictures.is_text(name) and pictures.is_text(text):
            flat[name] = text
    return flat


def _picture_remarks(beside: list[str], skipped: list[Skip]) -> tuple[str, ...]:
    """What the reader of the run should know before it starts."""
    damaged = [skip for skip in skipped if skip.reason == Reason.BAD_ARCHIVE]
    remarks = []
    if damaged:
        remarks.append(
            f"{numbered(len(damaged), 'damaged shard')}, items of which are lost: "
            f"{damaged[0].item_id}: {damaged[0].detail}"
        )
    if beside:
        remarks.append(
            f"{numbered(len(beside), 'picture')} not read, since another one of the same item is: "
            f"{_printable_name(beside[0])}"
        )
    return tuple(remarks)


def _printable_name(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()
