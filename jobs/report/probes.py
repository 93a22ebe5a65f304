"""The page's section on labels that probes predicted: error rates, by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeLevel:
    """Held-out items of one level: how many, the share that is recognised, and what the others are taken for."""

    level: str
    items: int
    recall: float
    taken_for: str
    taken_for_share: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeSection:
    """One probe: who uses its labels, and its errors. largest_error: the largest share of a level that is missed."""

    name: str
    attribute: str
    dataset: str
    users: tuple[str, ...]
    accuracy: float
    held_out: int
    largest_error: float
    levels: tuple[ProbeLevel, ...]


def probe_sections(manifest: Mapping[str, Any]) -> list[ProbeSection]:
    """The probes of a run's manifest; none where all labels were given."""
    settings = manifest.get("settings") or {}
    return [_section(entry, settings) for entry in manifest.get("probes") or []]


def _section(entry: Mapping[str, Any], settings: Mapping[str, Any]) -> ProbeSection:
    levels = tuple(
        _level(name, place, row, entry["levels"])
        for place, (name, row) in enumerate(zip(entry["levels"], entry["confusion"]))
    )
    return ProbeSection(
        name=entry["probe"],
        attribute=entry["attribute"],
        dataset=entry["dataset"],
        users=tuple(_users(entry["probe"], settings)),
        accuracy=entry["accuracy"],
        held_out=entry["held_out_rows"],
        largest_error=max(1 - level.recall for level in levels),
        levels=levels,
    )


def _level(name: str, place: int, row: Sequence[int], names: Sequence[str]) -> ProbeLevel:
    items = sum(row)
    other = max((at for at in range(len(row)) if at != place), key=lambda at: row[at])
    return ProbeLevel(
        level=name,
        items=items,
        recall=row[place] / items,
        taken_for=names[other],
        taken_for_share=row[other] / items,
    )


def _users(probe: str, settings: Mapping[str, Any]) -> list[str]:
    """Attributes and methods that read the probe's labels, as a reader names them."""
    blocks = [*settings.get("dataset", ())]
    blocks += [one["dataset"] for one in settings.get("reference", ()) if one.get("dataset")]
    users = [
        f"attribute {name} of {block['name']}"
        for block in blocks
        for name, attribute in block["attributes"].items()
        if attribute.get("probe") == probe
    ]
    methods = settings.get("methods", ())
    return users + [f"method {one['name']}" for one in methods if probe in _of_method(one["extras"])]


def _of_method(extras: Mapping[str, Any]) -> list[str]:
    return [*extras.get("probes", ()), *([extras["probe"]] if "probe" in extras else [])]
