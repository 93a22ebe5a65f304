"""Receipts: what a finished unit wrote, so that it can be checked later whether it is still there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .places import receipt_file, unit_file

if TYPE_CHECKING:
    from .files import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class FileReceipt:
    """What one committed file holds.

    stamp identifies its last change: the time of modification in nanoseconds on disks, the ETag on
    object stores; None where a store has neither.
    """

    rows: int
    bytes: int
    sha256: str
    schema_sha256: str
    stamp: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A finished unit. `seconds` is its computing time by the wall clock, `cpu_seconds` what its process used.

    reused: vectors that it took from the cache. Without files it is of a unit whose tables were removed once all that
    read them were done.
    """

    stage: str
    key: str
    title: str
    files: Mapping[str, FileReceipt]
    seconds: float
    cpu_seconds: float = 0.0
    reused: int = 0

    @property
    def is_removed(self) -> bool:
        """Whether the unit's tables were removed, as every unit writes some."""
        return not self.files

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Receipt:
        """The receipt of a line that `to_json` wrote."""
        raw = json.loads(text)
        raw["files"] = {name: FileReceipt(**file) for name, file in raw["files"].items()}
        return cls(**raw)

    @classmethod
    def parsed(cls, text: str | bytes) -> Receipt | None:
        """The same; None for what is no receipt."""
        try:
            return cls.from_json(text)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


def read_receipt(store: Store, stage: str, key: str) -> Receipt | None:
    """The unit's receipt; None where there is none, or one that cannot be read."""
    try:
        return Receipt.parsed(store.read(receipt_file(stage, key)))
    except OSError:
        return None


def committed_receipt(store: Store, stage: str, key: str) -> Receipt | None:
    """The unit's receipt if its files are there in their size: nothing is read."""
    receipt = read_receipt(store, stage, key)
    if receipt is None:
        return None
    sizes = ((store.entry(unit_file(stage, key, name)), file.bytes) for name, file in receipt.files.items())
    return receipt if all(entry is not None and entry.bytes == size for entry, size in sizes) else None


def valid_receipt(store: Store, stage: str, key: str) -> Receipt | None:
    """The unit's receipt if it can be read and its files hold the bytes that it states."""
    receipt = read_receipt(store, stage, key)
    if receipt is None or (receipt.stage, receipt.key) != (stage, key):
        return None
    for name, file in receipt.files.items():
        if not store.holds(unit_file(stage, key, name), file.bytes, file.sha256):
            return None
    return receipt
