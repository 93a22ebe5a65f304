"""A data set to its catalogue: read whole where it is small, else known part by part."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mprlib.level_names import UNKNOWN, missing_name

from ..errors import UsageError
from ..store.keys import digest
from .assemble import bad_weights
from .block import Dataset
from .catalogue import Catalogue, KnownPart
from .content import id_hashes
from .distinct import holds_any, repeated_hashes
from .known_parts import PartFiles, cache_folder, is_settled, part_key, remove_old
from .labels import expect_renamed, expect_two, in_reading_order, may_mean_missing
from .part import Summary
from .reader import Reader
from .scan import scanned
from .source import Listing


def catalogue_of(reader: Reader) -> Catalogue:
    """The catalogue of a data set.

    Raises:  UsageError for input that cannot be audited.
    """
    listing = reader.listing()
    if listing is None:
        part = reader.read()
        return _catalogue(reader, (KnownPart(summary=reader.summary(part), reader=reader, whole=part),))
    parts = _in_parts(reader, listing)
    return _catalogue(reader, parts, listing.remarks)


def _in_parts(reader: Reader, listing: Listing) -> tuple[KnownPart, ...]:
    with _cache_folder() as folder:
        summaries = _summaries(reader, listing, folder)
        unknown = _called_unknown(reader.block, summaries)
        if unknown:
            reader = replace(reader, called_unknown=unknown)
            summaries = _summaries(reader, listing, folder)
        _expect_distinct(reader, listing, folder)
    # Who reads a part again does not look anything up.
    again = replace(reader, looked_up={})
    return tuple(
        KnownPart(summary=summary, reader=again, place=place) for summary, place in zip(summaries, listing.places)
    )


@contextmanager
def _cache_folder() -> Iterator[Path]:
    """The cache's folder; where it cannot be written, one for now."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)
        return
    remove_old(folder)
    yield folder


def _part_files(reader: Reader, listing: Listing, folder: Path) -> list[PartFiles]:
    settings = reader.settings()
    return [PartFiles(folder=folder, key=part_key(settings, place)) for place in listing.places]


def _summaries(reader: Reader, listing: Listing, folder: Path) -> list[Summary]:
    """What each part holds: known from before, or read now."""
    started = time.time()
    files = _part_files(reader, listing, folder)
    is_kept = listing.is_told_by_files and reader.block.image_fingerprint != "content"
    known = [file.read() if is_kept else None for file in files]
    missing = [number for number, summary in enumerate(known) if summary is None]
    asked = [(listing.places[number], files[number].hashes) for number in missing]
    for number, summary in zip(missing, scanned(reader, asked) if asked else ()):
        known[number] = summary
        if is_kept and is_settled(listing.places[number], started):
            files[number].write(summary)
    return [summary for summary in known if summary is not None]


def _called_unknown(block: Dataset, summaries: Sequence[Summary]) -> tuple[str, ...]:
    """Attributes of which `unknown` is a level in some part, and was taken for a missing value in another."""
    return tuple(
        name
        for name, attribute in block.attributes.items()
        if may_mean_missing(attribute) and 0 < sum(UNKNOWN in one.texts[name] for one in summaries) < len(summaries)
    )


def _expect_distinct(reader: Reader, listing: Listing, folder: Path) -> None:
    """No id is in two parts.

    Raises:  UsageError naming one that is.
    """
    files = _part_files(reader, listing, folder)
    done = folder / f"{digest([file.key for file in files])}.distinct"
    if done.exists():
        return
    for hashes in repeated_hashes([file.hashes for file in files]):
        ids = [
            part_ids.filter(pa.array(np.isin(id_hashes(part_ids), hashes)))
            for place, file in zip(listing.places, files)
            if holds_any(file.hashes, hashes)
            for part_ids in [reader.read(place).ids]
        ]
        counts = pc.value_counts(pa.concat_arrays(ids))
        repeated = counts.filter(pc.greater(counts.field("counts"), 1))
        if len(repeated):
            raise UsageError(
                f"id {repeated[0]['values'].as_py()!r} occurs {repeated[0]['counts'].as_py()} times "
                f"in {reader.block.path}: ids must be distinct"
            )
    if all(file.summary.exists() for file in files):
        done.touch()


def _catalogue(reader: Reader, parts: tuple[KnownPart, ...], remarks: Sequence[str] = ()) -> Catalogue:
    block, summaries = reader.block, [part.summary for part in parts]
    _expect_columns(reader, summaries)
    for name in summaries[0].texts:
        expect_renamed(block, name, {text for one in summaries for text in one.texts[name]})
    missing = missing_name(*(levels for one in summaries for levels in one.levels.values()))
    said = (*remarks, *dict.fromkeys(remark for one in summaries for remark in one.remarks))
    levels = {name: _levels(block, name, summaries, missing, said) for name in summaries[0].levels}
    _expect_weights(block, summaries)
    _expect_items(block, summaries)
    dropped = sum(summary.dropped for summary in summaries)
    return Catalogue(
        name=block.name,
        parts=parts,
        levels=levels,
        missing=missing,
        dropped={"missing attribute value": dropped} if dropped else {},
        root=summaries[0].root,
        looked_up={
            name: dict(one for summary in summaries for one in summary.looked_up[name]) for name in reader.looked_up
        },
        remarks=tuple(f"dataset {block.name}: {remark}" for remark in said),
    )


def _levels(
    block: Dataset, name: str, summaries: Sequence[Summary], missing: str, remarks: Sequence[str]
) -> tuple[str, ...]:
    """The levels that items have, in reading order."""
    present = {missing if level is None else level for one in summaries for level, _ in one.counts[name]}
    order = dict.fromkeys(level for one in summaries for level in one.order[name])
    levels = in_reading_order(present, order, missing)
    expect_two(block, name, levels, remarks)
    return levels


def _expect_columns(reader: Reader, summaries: Sequence[Summary]) -> None:
    """Some part has each of the columns."""
    for name, setting in reader.columns.items():
        if all(name in summary.lacks for summary in summaries):
            raise UsageError(f"{setting} names column {name!r}, which {reader.block.path} lacks")


def _expect_weights(block: Dataset, summaries: Sequence[Summary]) -> None:
    with np.errstate(over="ignore"):
        total = float(np.sum([summary.weight for summary in summaries]))
    if block.weight is not None and not 0 < total < np.inf:
        raise bad_weights(block)


def _expect_items(block: Dataset, summaries: Sequence[Summary]) -> None:
    if not any(summary.rows for summary in summaries):
        raise UsageError(f"{block.path} has no items left to audit")
    widths = {summary.width for summary in summaries if summary.rows}
    if len(widths) > 1:
        raise UsageError(f"{block.path} holds vectors of different lengths: {sorted(map(str, widths))}")
