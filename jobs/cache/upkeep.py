"""What a cache holds, and making room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ..errors import UsageError
from ..store import TEMPORARY, Entry, Store
from ..words import examples
from .merging import GRACE
from .names import ROWS, is_foreign_index, is_index, moment_of
from .packs import FOLDER as UNITS
from .packs import read_pack
from .pictures import FOLDER as PICTURES
from .segment import open_segment
from .space import ABOUT, USED, last_uses
from .vectors import VECTORS

# Only a run's folder has them.
RECEIPTS = "receipts/"
# What a file of rows or units is of, by its folder.
KINDS = {VECTORS: "vectors", PICTURES: "keys of pictures", UNITS: "finished units"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A segment or a pack: its index and data, how many vectors, keys or units it holds, and when it was last used.

    is_whole: whether the index is what was written. is_foreign: it is, by another version of this package, whose form
    is not known here. replaced: others that hold nothing which is not in this one.
    """

    name: str
    folder: str
    data_file: str | None
    count: int
    bytes: int
    last_used: datetime
    is_whole: bool
    is_foreign: bool = False
    replaced: Sequence[str] = ()

    @property
    def kind(self) -> str:
        """What it holds."""
        return KINDS.get(self.folder.partition("/")[0], "files")


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding:
    """What a folder of the cache holds, and of what: `about` says which encoder made it."""

    folder: str
    kind: str
    count: int
    bytes: int
    pieces: int
    last_used: str
    about: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """What a cleaning removes, or would: pieces that nobody used for long or that do not fit, by folder; and what
    nobody would miss."""

    losses: Sequence[Holding]
    pieces: Sequence[Piece]
    rest: Sequence[str]
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {"losses": [asdict(one) for one in self.losses], "files_nobody_misses": len(self.rest)} | {
            "bytes": self.bytes
        }


def pieces(store: Store) -> list[Piece]:
    """Every segment and pack, the one that was used longest ago first."""
    listing = store.entries("")
    uses = last_uses(list(listing))
    found = [_piece_at(store, name, listing, uses.get(name)) for name in listing if is_index(name)]
    return sorted(found, key=lambda piece: (piece.last_used, piece.name))


def _piece_at(store: Store, name: str, listing: Mapping[str, Entry], day: str | None) -> Piece:
    written = moment_of(name)
    used = max(written, _end_of(day) or written)
    folder, count = name.rpartition("/")[0], 0
    data_file: str | None = None
    replaced: Sequence[str] = ()
    if folder == UNITS:
        units = read_pack(store, name)
        is_whole, count = units is not None, len(units or ())
        data_file = units[0].data_file if units else None
    else:
        segment = open_segment(store, name)
        is_whole = segment is not None
        if segment is not None:
            data_file, count, replaced = segment.facts.rows_file, segment.facts.count, tuple(segment.facts.replaces)
    is_foreign = not is_whole and is_foreign_index(store, name)
    size = listing[name].bytes + (listing[data_file].bytes if data_file is not None and data_file in listing else 0)
    return Piece(
        name=name,
        folder=folder,
        data_file=data_file,
        count=count,
        bytes=size,
        # A clock that was ahead would keep it for ever.
        last_used=min(used, datetime.now(UTC)),
        is_whole=is_whole or is_foreign,
        is_foreign=is_foreign,
        replaced=replaced,
    )


def _end_of(day: str | None) -> datetime | None:
    """The end of a day of use; None for none, and for a mark that is none of ours."""
    try:
        return None if day is None else datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def expect_cache(store: Store) -> None:
    """Raises:  UsageError for a folder that holds something else, and no piece of a cache; and for a run's folder."""
    names = list(store.entries(""))
    if any(name.startswith(RECEIPTS) for name in names):
        raise UsageError(f"{store.root} is no cache: it is a run's folder")
    if names and not any(name.partition("/")[0] in KINDS for name in names):
        raise UsageError(f"{store.root} is no cache: it holds {examples(sorted(names))}")


def holdings(store: Store, found: Iterable[Piece]) -> list[Holding]:
    """What pieces hold, by folder, the most bytes first."""
    by_folder: dict[str, list[Piece]] = {}
    for piece in found:
        by_folder.setdefault(piece.folder, []).append(piece)
    held = [
        Holding(
            folder=folder,
            kind=own[0].kind,
            count=sum(piece.count for piece in own),
            bytes=sum(piece.bytes for piece in own),
            pieces=len(own),
            last_used=f"{max(piece.last_used for piece in own) - timedelta(seconds=1):%Y-%m-%d}",
            about=store.read_json(f"{folder}/{ABOUT}") or {},
        )
        for folder, own in by_folder.items()
    ]
    return sorted(held, key=lambda one: (-one.bytes, one.folder))


def counted(found: Sequence[Piece]) -> list[Piece]:
    """Pieces that count: whole ones that no other replaces. Those of another version count for its runs."""
    replaced = {name for piece in found for name in piece.replaced}
    return [piece for piece in found if piece.is_whole and piece.name not in replaced]


def removal(
    store: Store, *, older_than: timedelta | None = None, most_bytes: float | None = None, grace: timedelta = GRACE
) -> Removal:
    """What goes: pieces that nobody has used for so long, then those that were used longest ago until the others fit;
    beside them what is damaged, replaced or half written, older than the grace."""
    found, now = pieces(store), datetime.now(UTC)
    live = counted(found)
    old = [piece for piece in live if older_than is not None and piece.last_used < now - older_than]
    kept = [piece for piece in live if piece not in old]
    size = sum(piece.bytes for piece in kept)
    while most_bytes is not None and kept and size > most_bytes:
        size -= kept[0].bytes
        old.append(kept.pop(0))
    spare = [
        piece
        for piece in found
        if piece not in live and (not piece.is_whole or _was_replaced_before(piece, found, now - grace))
    ]
    listing = store.entries("")
    rest = [*(piece.name for piece in spare), *(piece.data_file for piece in spare if piece.data_file in listing)]
    rest += _left_over(listing, found, now - grace)
    names = {*rest, *(piece.name for piece in old), *(piece.data_file for piece in old)}
    return Removal(
        losses=holdings(store, old),
        pieces=old,
        rest=[name for name in rest if name is not None],
        bytes=sum(listing[name].bytes for name in names if name in listing),
    )


def _was_replaced_before(piece: Piece, found: Sequence[Piece], before: datetime) -> bool:
    return any(piece.name in other.replaced and moment_of(other.name) < before for other in found)


def _left_over(listing: Mapping[str, Entry], found: Sequence[Piece], before: datetime) -> Iterator[str]:
    """Data that no index names and half-written files, of writers that were killed; marks of pieces that are gone."""
    named = {piece.data_file for piece in found}
    # Which data an index of another version names is not known.
    closed = {piece.folder for piece in found if piece.is_foreign}
    for name in listing:
        if name.rpartition("/")[0] in closed:
            continue
        is_data = (name.endswith(ROWS) or TEMPORARY in name) and name not in named
        is_mark = USED in name and name.partition(USED)[0] not in listing
        if is_mark or (is_data and _is_before(name, before)):
            yield name


def _is_before(name: str, before: datetime) -> bool:
    try:
        return moment_of(name) < before
    except ValueError:  # a file without a moment in its name, half written
        return False


def remove_all(store: Store, asked: Removal) -> None:
    """Remove it: indexes first, so that nothing counts whose data are gone."""
    names = [piece.name for piece in asked.pieces]
    names += [piece.data_file for piece in asked.pieces if piece.data_file is not None]
    gone = set(names)
    marks = [name for name in store.entries("") if USED in name and name.partition(USED)[0] in gone]
    for name in (*names, *marks, *asked.rest):
        store.delete(name)
