"""Where things lie below a run's root."""

from __future__ import annotations

# Stages whose tables are mapped, not decoded: uncompressed Arrow files, one record batch each.
MAPPED_STAGES = {"embed"}
MAPPED_SUFFIX = ".arrow"


def unit_file(stage: str, key: str, name: str) -> str:
    """Where a unit's table lies."""
    return f"units/{stage}/{key}/{name}{MAPPED_SUFFIX if stage in MAPPED_STAGES else '.parquet'}"


def receipt_file(stage: str, key: str) -> str:
    """Where a unit's receipt lies."""
    return f"receipts/{stage}/{key}.json"


def failure_file(stage: str, key: str) -> str:
    """Where a unit's failure in the last run is kept."""
    return f"failures/{stage}/{key}.json"


def ticket_file(stage: str, key: str) -> str:
    """Where a worker that ends itself says so, for its run to find."""
    return f"tickets/{stage}/{key}.json"
