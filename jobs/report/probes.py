"""The page's section on labels that probes predicted: error rates, by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..analysis.calibration import calibration_text, consequence, shift_text


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
    """One probe: who uses its labels, and its errors. largest_error: the largest share of a level that is missed.
    calibration: what is said of its probabilities, and consequence what follows where they are off; empty where they
    are not used; shifts: what they say of each data set's shares. are_errors_used: whether shares and MPR are corrected
    by its errors."""

    name: str
    attribute: str
    dataset: str
    users: tuple[str, ...]
    accuracy: float
    held_out: int
    largest_error: float
    levels: tuple[ProbeLevel, ...]
    calibration: str
    consequence: str
    shifts: tuple[str, ...]
    are_errors_used: bool


def probe_sections(manifest: Mapping[str, Any]) -> list[ProbeSection]:
    """The probes of a run's manifest; none where all labels were given."""
    settings = manifest.get("settings") or {}
    shifts = manifest.get("prior_shifts") or []
    return [_section(entry, settings, shifts) for entry in manifest.get("probes") or []]


def _section(
    entry: Mapping[str, Any], settings: Mapping[str, Any], shifts: Sequence[Mapping[str, Any]]
) -> ProbeSection:
    levels = tuple(
        _level(name, place, row, entry["levels"])
        for place, (name, row) in enumerate(zip(entry["levels"], entry["confusion"]))
    )
    errors = {one.get("errors") for _, _, one in _attributes(entry["probe"], settings)}
    tested = entry["calibration"] if "probabilities" in errors else None
    return ProbeSection(
        name=entry["probe"],
        attribute=entry["attribute"],
        dataset=entry["dataset"],
        users=tuple(_users(entry["probe"], settings)),
        accuracy=entry["accuracy"],
        held_out=entry["held_out_rows"],
        largest_error=max(1 - level.recall for level in levels),
        levels=levels,
        calibration="" if tested is None else calibration_text(tested),
        consequence="" if tested is None else consequence(tested),
        shifts=tuple(shift_text(one) for one in shifts if one["probe"] == entry["probe"]),
        are_errors_used=bool(errors - {None}),
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
    users = [f"attribute {name} of {dataset}" for dataset, name, _ in _attributes(probe, settings)]
    methods = settings.get("methods", ())
    return users + [f"method {one['name']}" for one in methods if probe in _of_method(one["extras"])]


def _of_method(extras: Mapping[str, Any]) -> list[str]:
    return [*extras.get("probes", ()), *([extras["probe"]] if "probe" in extras else [])]


def _attributes(probe: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Data set, name and settings of the attributes that a probe predicts."""
    blocks = [*settings.get("dataset", ())]
    blocks += [one["dataset"] for one in settings.get("reference", ()) if one.get("dataset")]
    for block in blocks:
        for name, attribute in block["attributes"].items():
            if attribute.get("probe") == probe:
                yield block["name"], name, attribute
