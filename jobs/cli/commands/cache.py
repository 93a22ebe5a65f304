"""`mpr-audit cache`: what runs share, what of it is damaged, and making room."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UsageError
from ...words import bytes_of, duration, numbered
from ..options import AsJson, print_json, with_options

if TYPE_CHECKING:
    from ...cache.upkeep import Holding
    from ...store import Store


class Action(StrEnum):
    """The action on the cache."""

    STATUS = "status"
    CLEAN = "clean"
    VERIFY = "verify"


What = Annotated[
    Action,
    typer.Argument(
        help="status: what the cache holds; clean: make room; verify: read and check all of it.", show_default=False
    ),
]
Address = Annotated[
    str | None, typer.Argument(help="The cache's folder or fsspec URL; default: MPR_AUDIT_CACHE.", show_default=False)
]
OlderThan = Annotated[
    str | None, typer.Option(help="clean: also remove what no run has used for this long, such as 90d, 12w or 36h.")
]
MostBytes = Annotated[
    str | None,
    typer.Option(
        "--max-size", help="clean: also remove what was used longest ago, until the rest fits, such as 500GB."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="clean: print what would be removed, remove nothing.")]
UNITS_OF_TIME = {"h": "hours", "d": "days", "w": "weeks"}
UNITS_OF_SIZE = {"": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of `cache`."""

    action: What
    address: Address = None
    older_than: OlderThan = None
    max_size: MostBytes = None
    dry_run: DryRun = False
    as_json: AsJson = False


@with_options(Options)
def cache(options: Options) -> int:
    """Look after the cache that runs share: show what it holds, find damage, make room."""
    from ...cache.place import VARIABLE, cache_place
    from ...cache.upkeep import expect_cache

    place = cache_place(options.address)
    if place is None:
        raise UsageError(f"no cache: give its folder or URL, or {VARIABLE} in the environment")
    store = place.store()
    if store.is_local and not os.path.isdir(store.root):
        raise UsageError(f"cache {store.root} is no folder")
    store.readable()
    expect_cache(store)
    if options.action is not Action.CLEAN and (options.older_than or options.max_size or options.dry_run):
        raise UsageError(f"--older-than, --max-size and --dry-run go with clean, not with {options.action}")
    match options.action:
        case Action.STATUS:
            return _status(store, options)
        case Action.CLEAN:
            return _clean(store, options)
    return _verify(store, options)


def _status(store: Store, options: Options) -> int:
    from ...cache.upkeep import counted, holdings, pieces

    found = pieces(store)
    held = holdings(store, counted(found))
    whole = sum(one.bytes for one in held)
    spare = sum(piece.bytes for piece in found) - whole
    if options.as_json:
        print_json(
            {"cache": store.root, "bytes": whole, "spare_bytes": spare, "holdings": [asdict(one) for one in held]}
        )
        return 0
    print(f"cache {store.root}: {bytes_of(whole)}" + (f", and {bytes_of(spare)} that clean removes" if spare else ""))
    for one in held:
        print(f"  {_holding(one)}")
    return 0


def _clean(store: Store, options: Options) -> int:
    from ...cache.upkeep import removal, remove_all

    age = None if options.older_than is None else age_of(options.older_than)
    most = None if options.max_size is None else size_of(options.max_size)
    found = removal(store, older_than=age, most_bytes=most)
    if not options.as_json:
        for one in found.losses:
            print(f"lost: {_holding(one)}{_embedding_time(one)}")
        verb = "would free" if options.dry_run else "frees"
        files = numbered(len(found.rest), "file")
        print(f"{verb} {bytes_of(found.bytes)} in {store.root}; {files} among them that no run would miss")
        # Before anything is removed: whoever reads this may still stop it.
        sys.stdout.flush()
    if not options.dry_run:
        remove_all(store, found)
    if options.as_json:
        print_json({"cache": store.root, "is_dry_run": options.dry_run} | found.to_json())
    return 0


def _verify(store: Store, options: Options) -> int:
    from ...cache.damage import faults
    from ...cache.upkeep import counted, pieces

    found = list(faults(store))
    if options.as_json:
        print_json({"cache": store.root, "faults": found})
    else:
        print("\n".join(found) or f"cache {store.root}: {_counted_pieces(counted(pieces(store)))} are what was written")
        if found:
            print("runs compute anew what is damaged; `clean` removes damaged indexes, and merging leaves out the rest")
    return 1 if found else 0


def _counted_pieces(found: Any) -> str:
    return numbered(len(found), "segment and pack", "segments and packs")


def _holding(one: Holding) -> str:
    """A line on what a folder holds."""
    encoder: Mapping[str, Any] = one.about.get("encoder", {})
    names = [str(encoder[name]) for name in ("kind", "model", "pretrained", "precision") if encoder.get(name)]
    of = f" of {one.about['column']}s by {' '.join(names)}" if names else ""
    pieces = numbered(one.pieces, "file")
    return f"{one.count:,} {one.kind}{of}: {bytes_of(one.bytes)} in {pieces}, last used {one.last_used}"


def _embedding_time(one: Holding) -> str:
    """The time to embed lost vectors again."""
    from ...stages.embed import SECONDS_PER_ITEM

    rate = SECONDS_PER_ITEM.get(one.about.get("column", ""))
    return "" if rate is None else f"; to embed them again takes about {duration(one.count * rate)} of one core"


def age_of(text: str) -> timedelta:
    """A time as people write it; days where it has no unit.

    Raises:  UsageError for one that is none.
    """
    found = re.fullmatch(r"(\d{1,6}) ?([hdw]?)", text.strip())
    if not found:
        raise UsageError(f"--older-than {text}: a whole number of hours, days or weeks is expected, such as 90d")
    return timedelta(**{UNITS_OF_TIME[found[2] or "d"]: int(found[1])})


def size_of(text: str) -> float:
    """A number of bytes as people write it.

    Raises:  UsageError for one that is none.
    """
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,3})?) ?(kB|MB|GB|TB|)", text.strip())
    if not found:
        raise UsageError(f"--max-size {text}: a number of bytes is expected, such as 500GB")
    return float(found[1]) * UNITS_OF_SIZE[found[2]]
