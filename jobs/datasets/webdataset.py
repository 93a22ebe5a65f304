"""WebDataset: tar shards whose members belong together by name, such as 000017.jpg, 000017.json and 000017.txt.

An item is a picture and what is beside it: the values of its json (numbers, texts, true and false, as they are written
there; what is nested is left out) are columns, `txt` and `cls` are columns of those names. Ids are `shard.tar::000017`.
Shards are plain tar files, read in place. Members whose names begin with a point, such as macOS's ._000017.jpg,
are no part of them. Terms are those of whoever packed them.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa

from jobs.datasets import pictures
from jobs.datasets.block import Dataset
from jobs.datasets.encodings import UTF8
from jobs.datasets.json_lines import Pairs, plain_texts
from jobs.datasets.source import Skip, Source
from jobs.datasets.webdataset_samples import Sample, samples
from jobs.errors import UsageError
from jobs.images import ImageError, Reason
from jobs.images.archive import members_of, read_member
from jobs.images.reading import ARCHIVE_SUFFIX, MEMBER
from jobs.words import numbered

ID, IMAGE = "item_id", "image_member"
# Endings of shards that have to be unpacked first.
PACKED_SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
# A label longer than this is no label.
LARGEST_LABEL_BYTES = 1_000_000


class WebDataset(Dataset):
    """WebDataset: pictures in tar shards, with labels beside them."""

    items = "pictures in tar shards"
    terms = "yours"

    kind: Literal["webdataset"] = "webdataset"

    def read(self, folder: Path, columns: Mapping[str, str]) -> Source:
        """The items of a shard, or of all shards below a folder.

        Raises:  UsageError when there is no shard, or no picture in any.
        """
        path = folder / self.path
        rows: list[dict[str, str]] = []
        skipped: list[Skip] = []
        remarks: list[str] = []
        if path.is_file():
            root, shards = path.parent.resolve(), [path.name]
        else:
            root = pictures.folder_of(folder / self.path)
            shards = list(_shards(root, skipped))
        if not shards:
            raise UsageError(f"{root} holds no {ARCHIVE_SUFFIX} files")
        for shard in shards:
            if not (root / shard).resolve().is_relative_to(root):
                skipped.append(Skip(item_id=shard, reason=Reason.OUTSIDE, detail="a link to another folder"))
                continue
            for item in _items(root, shard, columns, remarks):
                if isinstance(item, Skip):
                    skipped.append(item)
                else:
                    rows.append(item)
        if not rows:
            first = f", {skipped[0].item_id}: {skipped[0].reason.value}" if skipped else ""
            raise UsageError(f"no shard of {path} holds a picture{first}")
        names = dict.fromkeys(name for row in rows for name in row)
        table = pa.table({name: pa.array([row.get(name) for row in rows], pa.string()) for name in names})
        return Source(
            table=table,
            files=pictures.fingerprint(self, root, table[IMAGE].to_pylist()),
            id=ID,
            image=IMAGE,
            root=str(root),
            skipped=tuple(skipped),
            remarks=_together(remarks, skipped),
        )


def _shards(root: Path, skipped: list[Skip]) -> Iterator[str]:
    """Shards below a folder, by name; what is hidden is passed over.

    Raises:  UsageError for one that is compressed.
    """
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(folder).relative_to(root)
        for name in folders:
            if (Path(folder) / name).is_symlink():
                skipped.append(
                    Skip(item_id=_shown(str(below / name)), reason=Reason.OUTSIDE, detail="a link to a folder")
                )
        for name in sorted(names):
            if name.lower().endswith(PACKED_SUFFIXES) and not name.startswith("."):
                raise UsageError(f"{Path(folder, name)} is compressed: unpack it")
            if name.endswith(ARCHIVE_SUFFIX) and not name.startswith("."):
                yield (below / name).as_posix()


def _items(root: Path, shard: str, columns: Container[str], remarks: list[str]) -> Iterator[dict[str, str] | Skip]:
    """The shard's items in its order, and what had to be left out; `remarks` gets the pictures that no item is of."""
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
        yield Skip(item_id=shard, reason=Reason.BAD_ARCHIVE, detail=_shown(detail))
    for sample in found:
        item_id = f"{shard}{MEMBER}{sample.key}"
        remarks += [f"{shard}{MEMBER}{name}" for name in sample.beside]
        if not _is_text(sample.key):
            yield Skip(item_id=_shown(item_id), reason=Reason.BAD_NAME, detail="the name is not UTF-8")
        elif sample.image is None:
            yield Skip(item_id=item_id, reason=sample.reason, detail=_shown(sample.detail))
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
                labels |= _flat(plain_texts(text), columns)
            else:
                labels[ending[1:]] = text.strip()
        except (ValueError, RecursionError) as error:
            raise ImageError(Reason.BAD_LABEL, f"{ending}: {error}") from None
    return labels


def _flat(pairs: object, columns: Container[str]) -> dict[str, str]:
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
        if name not in (ID, IMAGE) and isinstance(text, str) and _is_text(name) and _is_text(text):
            flat[name] = text
    return flat


def _together(beside: list[str], skipped: list[Skip]) -> tuple[str, ...]:
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
            f"{len(beside)} pictures are not read, since another one of their item is read, such as {_shown(beside[0])}"
        )
    return tuple(remarks)


def _is_text(value: str) -> bool:
    """Whether it can be written as UTF-8: names of members and escapes of JSON may hold halves of characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()
