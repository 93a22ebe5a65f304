"""WebDataset: tar shards whose members belong together by name, such as 000017.jpg, 000017.json and 000017.txt.

An item is a picture and what lies beside it: the values of its json (numbers, texts, true and false; what is nested is
left out) are columns, `txt` and `cls` are columns of those names. Ids are `shard.tar::000017`. Shards are plain tar
files, read where they lie. Terms are those of whoever packed them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from jobs.config.datasets import Dataset
from jobs.datasets import pictures
from jobs.datasets.source import Skip, Source
from jobs.errors import UsageError
from jobs.images import ImageError, Reason
from jobs.images.archive import members_of, read_member
from jobs.images.reading import ARCHIVE_SUFFIX, MEMBER

ID, IMAGE = "item_id", "image_member"
TEXTS = (".txt", ".cls")
# A label longer than this is no label.
LARGEST_LABEL_BYTES = 1_000_000


def read(block: Dataset, folder: Path, columns: Mapping[str, str]) -> Source:
    """The items of a shard, or of all shards below a folder.

    Raises:  UsageError when there is no shard, or no picture in any.
    """
    path = folder / block.path
    if path.is_file():
        root, shards = path.parent.resolve(), [path.name]
    else:
        root = pictures.folder_of(block, folder)
        shards = sorted(shard.relative_to(root).as_posix() for shard in root.rglob(f"*{ARCHIVE_SUFFIX}"))
    if not shards:
        raise UsageError(f"dataset {block.name}: {root} holds no {ARCHIVE_SUFFIX} files")
    rows: list[dict[str, str]] = []
    skipped: list[Skip] = []
    for shard in shards:
        if not (root / shard).resolve().is_relative_to(root):
            skipped.append(Skip(item_id=shard, reason=Reason.OUTSIDE, detail="a link to another folder"))
            continue
        for item in _items(root, shard):
            (skipped if isinstance(item, Skip) else rows).append(item)
    if not rows:
        first = f", {skipped[0].item_id}: {skipped[0].reason.value}" if skipped else ""
        raise UsageError(f"dataset {block.name}: no shard of {path} holds a picture{first}")
    names = dict.fromkeys(name for row in rows for name in row)
    table = pa.table({name: pa.array([row.get(name) for row in rows], pa.string()) for name in names})
    return Source(
        table=table,
        files=pictures.fingerprint(block, root, table[IMAGE].to_pylist()),
        id=ID,
        image=IMAGE,
        root=str(root),
        skipped=tuple(skipped),
    )


def _items(root: Path, shard: str) -> Iterator[dict[str, str] | Skip]:
    """The shard's items in its order, and what had to be left out."""
    try:
        members = members_of(str(root / shard))
    except OSError as error:
        yield Skip(item_id=shard, reason=Reason.UNREADABLE, detail=error.strerror or "")
        return
    for name in members.repeated:
        yield Skip(item_id=f"{shard}{MEMBER}{name}", reason=Reason.REPEATED)
    if members.damage:
        yield Skip(item_id=shard, reason=Reason.BAD_ARCHIVE, detail=members.damage)
    together: dict[str, dict[str, str]] = {}
    for name in members.by_name:
        key, ending = _split(name)
        together.setdefault(key, {}).setdefault(ending, name)
    for key, parts in together.items():
        image = next((name for ending, name in parts.items() if ending.endswith(pictures.SUFFIXES)), None)
        item_id = f"{shard}{MEMBER}{key}"
        if not _is_text(key):
            yield Skip(item_id=_shown(item_id), reason=Reason.BAD_NAME, detail="the name is not UTF-8")
        elif image is None:
            yield Skip(item_id=item_id, reason=Reason.NO_IMAGE, detail=f"beside {', '.join(sorted(parts))}"[:200])
        else:
            try:
                labels = _labels(str(root / shard), parts)
            except ImageError as error:
                yield Skip(item_id=item_id, reason=error.reason, detail=error.detail)
                continue
            yield labels | {ID: item_id, IMAGE: f"{shard}{MEMBER}{image}"}


def _split(name: str) -> tuple[str, str]:
    """A member's key and its ending, from the first point of its own name on, in small letters."""
    path = PurePosixPath(name)
    stem, point, ending = path.name.partition(".")
    return (path.parent / stem).as_posix(), f"{point}{ending}".lower()


def _labels(shard: str, parts: dict[str, str]) -> dict[str, str]:
    """What the members beside a picture say.

    Raises:  ImageError for a member that cannot be read, or is not what its name says.
    """
    labels: dict[str, str] = {}
    for ending, name in parts.items():
        if ending not in (*TEXTS, ".json"):
            continue
        try:
            text = read_member(shard, name, LARGEST_LABEL_BYTES).decode("utf-8")
            if ending == ".json":
                labels |= _flat(json.loads(text))
            else:
                labels[ending[1:]] = text.strip()
        except (ValueError, RecursionError, AttributeError) as error:
            raise ImageError(Reason.BAD_LABEL, f"{ending}: {error}") from None
    return labels


def _flat(values: dict[str, Any]) -> dict[str, str]:
    """Values that are no lists, objects or null, as text."""
    plain = {name: value for name, value in values.items() if isinstance(value, (str, int, float, bool))}
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in plain.items()
        if name not in (ID, IMAGE) and _is_text(name) and _is_text(str(value))
    }


def _is_text(value: str) -> bool:
    """Whether it can be written as UTF-8: names of members and escapes of JSON may hold halves of characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()
