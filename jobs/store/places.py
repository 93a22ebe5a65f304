"""Where everything is kept below a run's root."""

from __future__ import annotations

# Tables whose names end so are mapped, not decoded: uncompressed Arrow files, one record batch each.
MAPPED_SUFFIX = ".arrow"


def units_folder(stage: str) -> str:
    """Where the tables of a stage's units are."""
    return f"units/{stage}"


def unit_of(name: str) -> tuple[str, str] | None:
    """Stage and key of the unit whose table a file is; None for other files."""
    folder, *rest = name.split("/")
    return (rest[0], rest[1]) if folder == "units" and len(rest) > 1 else None


def unit_file(stage: str, key: str, name: str) -> str:
    """Where a unit's table is."""
    return f"{units_folder(stage)}/{key}/{name}{'' if name.endswith(MAPPED_SUFFIX) else '.parquet'}"


def receipt_file(stage: str, key: str) -> str:
    """Where a unit's receipt is."""
    return f"receipts/{stage}/{key}.json"


def failure_file(stage: str, key: str) -> str:
    """Where a unit's failure in the last run is kept."""
    return f"failures/{stage}/{key}.json"


def ticket_file(stage: str, key: str) -> str:
    """Where a worker that ends itself says so, for its run to find."""
    return f"tickets/{stage}/{key}.json"
