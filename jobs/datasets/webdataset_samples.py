"""Which members of a shard belong together: WebDataset's rule, and names of pictures that have points of their own.

Members of one sample share the name up to its first point: 000017.jpg, 000017.json, 000017.seg.png. Where people pack
photographs as they are called (img.0.jpg, img.0.json, img.1.jpg, ...) that rule makes one sample of many pictures.
So a sample without a plain picture (000017.jpg) and without plain labels (000017.json) is parted at the last point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from ..images import Reason
from ..images.errors import LONGEST_DETAIL
from .pictures import SUFFIXES

LABELS = (".json", ".txt", ".cls")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A picture and its labels, by members' names; labels by ending.

    Where there is no picture, or nobody can say which one is meant, image is None, and reason and detail say why.
    beside: other pictures of the sample.
    """

    key: str
    image: str | None
    labels: Mapping[str, str]
    beside: tuple[str, ...] = ()
    reason: Reason = Reason.NO_IMAGE
    detail: str = ""


class _Member(NamedTuple):
    """A member's name, and its ending from a point on; `kind` is the ending in small letters."""

    name: str
    ending: str

    @property
    def kind(self) -> str:
        return self.ending.lower()

    @property
    def is_plain(self) -> bool:
        return self.ending.count(".") == 1


def samples(names: Iterable[str]) -> Iterator[Sample]:
    """The samples of an archive's members, in their order; hidden members are none."""
    together: dict[str, list[_Member]] = {}
    for name in names:
        path = PurePosixPath(name)
        if any(part.startswith(".") and part.strip(".") for part in path.parts):
            continue
        stem, point, ending = path.name.partition(".")
        together.setdefault((path.parent / stem).as_posix(), []).append(_Member(name, f"{point}{ending}"))
    for key, members in together.items():
        if _is_many(members):
            yield from _samples_by_last_point(key, members)
        else:
            yield _sample(key, members)


def _is_many(members: Sequence[_Member]) -> bool:
    """Whether the names have points of their own: there are pictures, and neither picture nor label is plain."""
    known = [member for member in members if member.kind.endswith((*SUFFIXES, *LABELS))]
    has_picture = any(member.kind.endswith(SUFFIXES) for member in known)
    return has_picture and not any(member.is_plain for member in known)


def _samples_by_last_point(key: str, members: Iterable[_Member]) -> Iterator[Sample]:
    """A sample for each name up to the last point."""
    by_stem: dict[str, list[_Member]] = {}
    for member in members:
        stem, point, ending = member.ending.rpartition(".")
        by_stem.setdefault(stem, []).append(_Member(member.name, f"{point}{ending}"))
    for stem, own in by_stem.items():
        yield _sample(key + stem, own)


def _sample(key: str, members: Sequence[_Member]) -> Sample:
    labels = {}
    for kind in LABELS:
        found = [member for member in members if member.kind.endswith(kind)]
        plain = [member for member in found if member.is_plain]
        if plain or len(found) == 1:
            labels[kind] = (plain or found)[0].name
    pictures = [member for member in members if member.kind.endswith(SUFFIXES)]
    plain = [member for member in pictures if member.is_plain]
    if not pictures or (len(pictures) > 1 and not plain):
        why = "several pictures, none of them plain:" if pictures else "beside"
        endings = ", ".join(sorted(member.kind for member in pictures or members))
        reason = Reason.BAD_NAME if pictures else Reason.NO_IMAGE
        return Sample(key=key, image=None, labels=labels, reason=reason, detail=f"{why} {endings}"[:LONGEST_DETAIL])
    image = (plain or pictures)[0]
    beside = tuple(member.name for member in pictures if member is not image)
    return Sample(key=key, image=image.name, labels=labels, beside=beside)
